// Prints the JSON report of random records for the schema's test: sample_report SEED RANKS
#include <cstdlib>
#include <iostream>

#include "random_record.h"
#include "record/report.h"

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return 2;
  millrace::record::RandomRecord random(std::strtoull(arguments[1], nullptr, 10));
  const auto ranks = static_cast<std::int32_t>(std::strtol(arguments[2], nullptr, 10));
  std::vector<millrace::record::RankRecord> records;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    records.push_back(random(rank, ranks, std::uint64_t{1} << 40));
    records.back().identity.settings = {{"MILLRACE_ISA", random.text()}};
  }
  std::cout << to_json(merge(records));
}
