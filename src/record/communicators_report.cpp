#include "record/communicators_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "record/rank_record.h"

namespace millrace::record {
namespace {

using nlohmann::ordered_json;

void add(CommunicatorRecord& sum, const CommunicatorRecord& more) {
  sum.made = std::max(sum.made, more.made);
  sum.calls += more.calls;
  sum.taken += more.taken;
  sum.bytes += more.bytes;
  sum.time_ns += more.time_ns;
}

void note_longest(CommunicatorReport& report, std::uint64_t time_ns, std::int32_t rank) {
  if (report.ranks != 0 && (time_ns < report.most_ns || (time_ns == report.most_ns && rank >= report.most_rank)))
    return;
  report.most_ns = time_ns;
  report.most_rank = rank;
}

// Of several, how many ranks called on any is not known: of one, the most.
void put_into_others(CommunicatorReport& others, const CommunicatorReport& more) {
  add(others.sum, more.sum);
  note_longest(others, more.most_ns, more.most_rank);
  others.ranks = std::max(others.ranks, more.ranks);
}

}  // namespace

std::vector<CommunicatorReport> merge_communicators(std::span<const RankRecord> records) {
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, CommunicatorReport> all;
  for (const RankRecord& record : records)
    for (const CommunicatorRecord& communicator : record.communicators) {
      CommunicatorReport& sum = all[{communicator.name, communicator.size, communicator.members}];
      if (sum.ranks == 0) {
        sum.sum.name = communicator.name;
        sum.sum.ranks = communicator.ranks;
        sum.sum.size = communicator.size;
        sum.sum.members = communicator.members;
      }
      add(sum.sum, communicator);
      note_longest(sum, communicator.time_ns, record.identity.rank);
      sum.ranks += 1;
    }
  CommunicatorReport others;
  others.sum.name = other_communicators;
  std::vector<CommunicatorReport> report;
  for (auto& [key, communicator] : all) {
    if (communicator.sum.size == 0)
      others = std::move(communicator);
    else
      report.push_back(std::move(communicator));
  }
  std::stable_sort(report.begin(), report.end(),
                   [](const auto& left, const auto& right) { return left.sum.time_ns > right.sum.time_ns; });
  for (std::size_t index = most_communicators; index < report.size(); ++index) put_into_others(others, report[index]);
  report.resize(std::min(report.size(), most_communicators));
  if (others.sum.calls > 0) report.push_back(std::move(others));
  return report;
}

ordered_json communicator_values(std::span<const CommunicatorReport> communicators) {
  ordered_json values = ordered_json::array();
  for (const CommunicatorReport& communicator : communicators)
    values.push_back({{"name", communicator.sum.name},
                      {"ranks", communicator.sum.ranks},
                      {"size", communicator.sum.size},
                      {"made", communicator.sum.made},
                      {"callers", communicator.ranks},
                      {"calls", communicator.sum.calls},
                      {"taken", communicator.sum.taken},
                      {"bytes", communicator.sum.bytes},
                      {"time_ns", communicator.sum.time_ns},
                      {"longest", {{"time_ns", communicator.most_ns}, {"rank", communicator.most_rank}}}});
  return values;
}

std::string in_words(const CommunicatorRecord& communicator) {
  if (communicator.ranks.empty()) return communicator.name.empty() ? "without a name" : communicator.name;
  const std::string ranks = fmt::format("ranks {}", communicator.ranks);
  return communicator.name.empty() ? ranks : fmt::format("{} ({})", communicator.name, ranks);
}

std::string in_words(const CommunicatorRecord& communicator, std::size_t columns) {
  const auto cut = [](const std::string& text, std::size_t width) {
    return text.size() <= width ? text : text.substr(0, width - 2) + "..";
  };
  std::string whole = in_words(communicator);
  if (whole.size() <= columns || communicator.name.empty() || communicator.ranks.empty()) return cut(whole, columns);
  constexpr std::size_t around_ranks = 3;
  const std::size_t most_of_ranks =
      std::max(columns / 2, columns - std::min(columns, communicator.name.size())) - around_ranks;
  const std::string ranks = cut(communicator.ranks, most_of_ranks);
  return fmt::format("{} ({})", cut(communicator.name, columns - around_ranks - ranks.size()), ranks);
}

}  // namespace millrace::record
