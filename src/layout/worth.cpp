#include "layout/worth.h"

namespace millrace::layout {
namespace {

// docs/results/layouts.md. Blocks of this length and more are copied by everybody's memcpy at the same speed.
constexpr std::int64_t long_block_bytes = 1024;
// Below this, hosts are done before a gain pays for taking the call over.
constexpr std::int64_t least_bytes = 256;
// Above this, lists of small blocks wait for memory, whoever follows them.
constexpr std::int64_t most_listed_bytes = 4 << 20;

}  // namespace

bool worth(const Plan& plan, std::int64_t count) {
  if (count <= 0 || plan.root.is_empty()) return false;
  if (plan.root.is_block() && (count == 1 || plan.is_contiguous_repeated)) return false;
  if (plan.mean_block_bytes >= long_block_bytes) return false;
  const std::int64_t bytes_of_one = bytes_of(plan.root);
  if (bytes_of_one < least_bytes && bytes_of_one * (count < least_bytes ? count : least_bytes) < least_bytes)
    return false;
  const bool is_list = plan.root.node && plan.root.node->shape != Shape::loop;
  return !is_list || bytes_of_one <= most_listed_bytes;
}

}  // namespace millrace::layout
