#include "layout/worth.h"

#include "kernel/copy/tuning.h"

namespace millrace::layout {
namespace {

// docs/results/layouts.md. Blocks of this length and more are copied by everybody's memcpy at the same speed.
constexpr std::int64_t long_block_bytes = 1024;
// Below this, hosts are done before a gain pays for taking the call over. A call that packs has nothing else to do: of
// 64 bytes hosts take 20 to 90 ns, ours 10 to 14.
constexpr std::int64_t least_message_bytes = 256, least_packed_bytes = 64;

}  // namespace

WorthAbove worth_above(const Plan& plan) {
  constexpr WorthAbove never{INT64_MAX, INT64_MAX};
  if (plan.root.is_empty() || plan.is_contiguous_repeated || plan.mean_block_bytes >= long_block_bytes) return never;
  const std::int64_t bytes_of_one = bytes_of(plan.root);
  const bool is_list = plan.root.node && plan.root.node->shape != Shape::loop;
  // Long lists of small blocks wait for memory, whoever follows them.
  if (is_list && static_cast<std::size_t>(bytes_of_one) > kernel::copy_tuning().listed_to_bytes) return never;
  const auto below = [&](std::int64_t least_bytes) { return (least_bytes - 1) / bytes_of_one; };
  const std::int64_t too_few = below(least_message_bytes);
  // One block is a message of bytes as it lies.
  return {plan.root.is_block() && too_few < 1 ? 1 : too_few, below(least_packed_bytes)};
}

}  // namespace millrace::layout
