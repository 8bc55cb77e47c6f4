// Large messages between buffers that begin anywhere in their lines, differently on each rank: they lie in shared
// memory as at their sender.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include "collective/collective.h"
#include "collective/exchange.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

constexpr std::size_t sizes[] = {1,      48,     49,         4097,        16384,      32768,         65472,
                                 65536,  65537,  100001,     131072 - 1,  262144 - 1, 262144,        262145,
                                 300001, 500000, 524288 - 1, 524288 + 63, 1 << 20,    (1 << 20) + 17};

char byte_of(unsigned call, std::uint32_t from, std::uint32_t to, std::size_t index) {
  const std::size_t mixed = (index + 977 * call + 7919 * from + 104729 * to) * 0x9e3779b97f4a7c15u;
  return static_cast<char>(mixed >> 56);
}

// A buffer that begins some bytes behind the beginning of a line, and whose surroundings are looked at.
class Placed {
 public:
  Placed(std::size_t bytes, std::size_t phase) : memory_(bytes + 3 * line_bytes, surroundings), bytes_(bytes) {
    first_ = 2 * line_bytes - line_phase(memory_.data()) + phase - (line_phase(memory_.data()) == 0 ? line_bytes : 0);
  }
  char* data() { return memory_.data() + first_; }
  void fill(unsigned call, std::uint32_t from, std::uint32_t to, std::size_t at, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) data()[at + i] = byte_of(call, from, to, i);
  }
  bool holds(unsigned call, std::uint32_t from, std::uint32_t to, std::size_t at, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i)
      if (data()[at + i] != byte_of(call, from, to, i)) return false;
    return true;
  }
  bool surroundings_intact() const {
    const auto is_surroundings = [](char byte) { return byte == surroundings; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(first_);
    return std::all_of(memory_.begin(), begin, is_surroundings) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), is_surroundings);
  }

 private:
  static constexpr char surroundings = 0x5a;
  std::vector<char> memory_;
  std::size_t bytes_, first_;
};

enum class Call { bcast, publish, gather, alltoall, blocks, gather_blocks, scatter_blocks };

Data part(Placed& buffer, std::size_t at, std::size_t bytes) { return {bytes, buffer.data() + at, nullptr, nullptr}; }

// All ranks draw the same numbers, but each its own phases.
std::string one_call(Group& group, unsigned number, std::mt19937& common, std::mt19937& own) {
  const std::uint32_t ranks = group.ranks(), self = group.rank(), root = common() % ranks;
  const std::size_t bytes = sizes[common() % std::size(sizes)];
  const auto call = static_cast<Call>(common() % 7);
  const auto phase = [&]() -> std::size_t { return own() % 2 == 0 ? own() % line_bytes : own() % 5 * 16 % line_bytes; };
  const bool to_all = call == Call::alltoall || call == Call::blocks || call == Call::scatter_blocks;
  Placed sent(bytes * (to_all ? ranks : 1), phase()), received(bytes * ranks, phase());
  for (std::uint32_t to = 0; to < (to_all ? ranks : 1); ++to)
    sent.fill(number, self, to_all ? to : 0, to * bytes, bytes);
  std::vector<Data> to_ranks, from_ranks;
  std::vector<Message> sends, receives;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    to_ranks.push_back(part(sent, to_all ? rank * bytes : 0, bytes));
    from_ranks.push_back(part(received, rank * bytes, bytes));
    if (call == Call::alltoall || (call == Call::gather && rank == root)) sends.push_back({rank, to_ranks.back()});
    if (call == Call::alltoall || (call == Call::gather && self == root)) receives.push_back({rank, from_ranks.back()});
  }
  const std::span<const Data> none, from_root = self == root ? std::span<const Data>(from_ranks) : none;
  const bool gathers = call == Call::gather || call == Call::gather_blocks;
  Result result = Result::ok;
  bool checked = true;
  switch (call) {
    case Call::bcast:
      if (self == root) received.fill(number, root, 0, 0, bytes);
      result = bcast(group, received.data(), bytes, root);
      checked = received.holds(number, root, 0, 0, bytes);
      break;
    case Call::publish: result = publish(group, Kind::allgather, number, to_ranks[0], from_ranks, bytes); break;
    case Call::gather: result = exchange(group, Kind::gather, root, sends, receives, bytes); break;
    case Call::alltoall: result = exchange(group, Kind::alltoall, number, sends, receives, bytes); break;
    case Call::blocks:
      if (!exchanges_blocks(group, Kind::alltoall, bytes)) return "";
      result = exchange_blocks(group, Kind::alltoall, bytes, to_ranks, from_ranks);
      break;
    case Call::gather_blocks:
      if (!exchanges_blocks(group, Kind::gather, bytes)) return "";
      result = exchange_blocks(group, Kind::gather, bytes, {to_ranks.data(), 1}, from_root, root);
      break;
    case Call::scatter_blocks:
      if (!exchanges_blocks(group, Kind::scatter, bytes)) return "";
      result = exchange_blocks(group, Kind::scatter, bytes, self == root ? std::span<const Data>(to_ranks) : none,
                               {from_ranks.data() + root, 1}, root);
      break;
  }
  for (std::uint32_t from = 0; from < ranks; ++from) {
    if (call == Call::bcast || (gathers && self != root) || (call == Call::scatter_blocks && from != root)) continue;
    checked = checked && received.holds(number, from, to_all ? self : 0, from * bytes, bytes);
  }
  if (result == Result::ok && checked && sent.surroundings_intact() && received.surroundings_intact()) return "";
  return fmt::format("call {} (kind {}) of {} bytes, root {}: {}, data {}", number, static_cast<int>(call), bytes, root,
                     result_name(result), checked ? "right" : "wrong");
}

struct Case {
  std::uint32_t ranks;
  bool small, single_copy;
};

class Phases : public ::testing::TestWithParam<Case> {};

TEST_P(Phases, AnyOnAnyRank) {
  constexpr unsigned seed = 20261127;
  RankSetup setup = ranks(GetParam().ranks);
  setup.timeout_seconds = 60;
  setup.selection.single_copy = GetParam().single_copy;
  setup.selection.block_pair_bytes = never;
  if (GetParam().small) {
    setup.shape.slot_bytes = 4096;
    setup.shape.unit_bytes = 256;
  }
  const unsigned calls = std::getenv("MILLRACE_TEST_FULL") ? 2000 : 150;
  EXPECT_EQ(run_all(setup,
                    [&](Group& group) -> std::string {
                      std::mt19937 common(seed), own(seed + 1 + group.rank());
                      for (unsigned call = 0; call < calls; ++call)
                        if (std::string wrong = one_call(group, call, common, own); !wrong.empty()) return wrong;
                      return "";
                    }),
            "")
      << "seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(Each, Phases,
                         ::testing::Values(Case{2, false, false}, Case{2, false, true}, Case{2, true, false},
                                           Case{3, false, false}, Case{3, true, true}, Case{5, false, false}),
                         [](const ::testing::TestParamInfo<Case>& tested) {
                           return fmt::format("{}{}{}", tested.param.ranks, tested.param.small ? "_small" : "",
                                              tested.param.single_copy ? "_one_copy" : "");
                         });

}  // namespace
}  // namespace millrace::collective::test
