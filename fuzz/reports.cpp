// Records of ranks as they come from other processes: read, merged, written. The first byte of an input says what the
// rest is:
//
//   even: a record as it travels (CBOR)
//   odd:  the number of a random record, then changes to its bytes: place (2 bytes), what is changed there
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "../tests/record/random_record.h"
#include "record/rank_record.h"
#include "record/report.h"

namespace {

using namespace millrace;
using namespace millrace::record;
using Bytes = std::vector<std::byte>;

constexpr std::size_t most_columns = 100;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

Bytes changed_record(std::span<const std::uint8_t> input) {
  RandomRecord random(input[0]);
  Bytes bytes = pack(random(input[0] % 5, 5, UINT64_MAX));
  for (std::size_t at = 1; at + 2 < input.size(); at += 3)
    bytes[(input[at] | input[at + 1] << 8) % bytes.size()] ^= static_cast<std::byte>(input[at + 2]);
  return bytes;
}

void check(const Bytes& bytes) {
  RankRecord record;
  std::string error;
  const Status status = unpack(bytes, record, error);
  if (status != Status::ok) {
    if (error.empty() && status == Status::bad_argument) fail("refused without a word");
    return;
  }
  const Bytes again = pack(record);
  RankRecord second;
  if (unpack(again, second, error) != Status::ok || pack(second) != again) fail("does not come back");
  RandomRecord random(1);
  const RankRecord records[] = {record, random(0, 3, UINT64_MAX), second};
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
    const Report report = merge(std::span(records, count));
    if (to_json(report).empty()) fail("no JSON");
    const std::string table = to_table(report);
    for (std::size_t begin = 0, end = 0; (end = table.find('\n', begin)) != std::string::npos; begin = end + 1)
      if (end - begin > most_columns) fail("a line is too long");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto* rest = reinterpret_cast<const std::byte*>(data + 1);
  check(data[0] % 2 == 0 ? Bytes(rest, rest + size - 1) : changed_record({data + 1, size - 1}));
  return 0;
}
