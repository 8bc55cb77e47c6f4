// Packing with shuffles whose lanes are known when this is compiled: how a vector of packed lanes is made of a few
// loads.
//
//   one int of every two, 8 lanes; 'a' to 'h' are the blocks
//   load at lane 0   |a.b.c.d.|
//   load at lane 7   |.e.f.g.h|        the last lane of a gap first, so that the blocks fall between the others
//   blended          |aebfcgdh|
//   permuted         |abcdefgh|
//
// Loads that lie in each other's gaps are blended, which any port does, and one permute brings all into order; if each
// load already puts its lanes where they belong, there is none. Where no loads fit that way, a vector holds fewer lanes
// of blocks than it has, and the next store overwrites the rest.
#pragma once

namespace millrace::kernel {
namespace {

template <int Lanes>
struct LanePlan {
  int blocks = 0, loads = 0;   // blocks of one vector; 0: there is no such plan
  int first_lane[Lanes] = {};  // of each load, counted from the first block
  unsigned taken[Lanes] = {};  // the lanes of each load that are blocks
  int index[Lanes] = {};       // lane i of the packed vector is this lane of the blended loads
  bool in_order = true;

  constexpr int reach() const {
    int lanes = 0;
    for (int i = 0; i < loads; ++i) lanes = first_lane[i] + Lanes > lanes ? first_lane[i] + Lanes : lanes;
    return lanes;
  }
  // For comparisons: a store is worth three halves of a load, a load two blends.
  constexpr int cost() const { return 2 * loads + (loads - 1) + (in_order ? 0 : 2) + 3; }
};

// Each load takes as many of the next blocks as fit between those already there.
template <int Lanes>
constexpr LanePlan<Lanes> lane_plan_of(int block, int stride, int blocks) {
  LanePlan<Lanes> plan;
  unsigned used = 0;
  for (int next = 0; next < blocks;) {
    int most = 0, at = 0;
    unsigned lanes = 0;
    // Nothing before the first block may be read.
    for (int shift = 0; shift + block <= Lanes && shift <= next * stride; ++shift) {
      int count = 0;
      unsigned these = 0;
      while (next + count < blocks && shift + count * stride + block <= Lanes) {
        const unsigned lanes_of_block = ((1u << block) - 1) << (shift + count * stride);
        if (lanes_of_block & used) break;
        these |= lanes_of_block;
        ++count;
      }
      if (count > most || (count == most && shift == next * block)) most = count, at = shift, lanes = these;
    }
    if (most == 0) return {};
    plan.first_lane[plan.loads] = next * stride - at;
    plan.taken[plan.loads++] = lanes;
    used |= lanes;
    for (int i = 0; i < most * block; ++i) {
      plan.index[next * block + i] = at + i / block * stride + i % block;
      plan.in_order = plan.in_order && plan.index[next * block + i] == next * block + i;
    }
    next += most;
  }
  plan.blocks = blocks;
  return plan;
}

// The cheapest for each block.
template <int Lanes>
constexpr LanePlan<Lanes> best_lane_plan(int block, int stride) {
  LanePlan<Lanes> best;
  for (int blocks = 1; blocks * block <= Lanes; ++blocks) {
    const LanePlan<Lanes> plan = lane_plan_of<Lanes>(block, stride, blocks);
    if (plan.blocks && (!best.blocks || plan.cost() * best.blocks <= best.cost() * plan.blocks)) best = plan;
  }
  return best;
}

}  // namespace
}  // namespace millrace::kernel
