#include "layout/worth.h"

namespace millrace::layout {
namespace {

// Blocks of this length are copied by everybody's memcpy at the same speed.
constexpr std::int64_t giant_block_bytes = 8192;

}  // namespace

bool worth(const Plan& plan, std::int64_t count) {
  if (count <= 0 || plan.root.is_empty()) return false;
  if (plan.root.is_block() && (count == 1 || plan.is_contiguous_repeated)) return false;
  return plan.mean_block_bytes < giant_block_bytes;
}

}  // namespace millrace::layout
