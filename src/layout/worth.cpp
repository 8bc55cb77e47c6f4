#include "layout/worth.h"

#include "kernel/copy/tuning.h"

namespace millrace::layout {
namespace {

// docs/results/layouts.md. Blocks of this length and more are copied by everybody's memcpy at the same speed.
constexpr std::int64_t long_block_bytes = 1024;
// Below this, hosts are done before a gain pays for taking the call over.
constexpr std::int64_t least_bytes = 256;

}  // namespace

std::int64_t worth_above(const Plan& plan) {
  constexpr std::int64_t never = INT64_MAX;
  if (plan.root.is_empty() || plan.is_contiguous_repeated || plan.mean_block_bytes >= long_block_bytes) return never;
  const std::int64_t bytes_of_one = bytes_of(plan.root);
  const bool is_list = plan.root.node && plan.root.node->shape != Shape::loop;
  // Long lists of small blocks wait for memory, whoever follows them.
  if (is_list && static_cast<std::size_t>(bytes_of_one) > kernel::copy_tuning().listed_to_bytes) return never;
  const std::int64_t too_few = (least_bytes - 1) / bytes_of_one;
  return plan.root.is_block() && too_few < 1 ? 1 : too_few;
}

}  // namespace millrace::layout
