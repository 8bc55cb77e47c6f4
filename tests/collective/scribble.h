// Somebody who scribbles in the memory that ranks share, and ranks that go on calling while it does.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "collective/group.h"

namespace millrace::collective::test {

// What a hostile process of the same user could write: bits of what is there flipped, numbers a little off, small and
// huge ones, words from elsewhere. Mostly where numbers steer something, in the heads of blocks, seldom in data.
class Scribbler {
 public:
  Scribbler(char* segment, const GroupShape& shape, std::uint64_t seed);
  void once();

 private:
  std::size_t somewhere();
  std::uint64_t random(std::uint64_t below) { return engine_() % below; }

  char* segment_;
  GroupShape shape_;
  std::mt19937_64 engine_;
  std::uint64_t places_;  // a bit for each kind of place that is written to: with all of them no call gets far
};

// One collective of any kind with any sizes, made from `number` alike on all ranks, but for some that expect less than
// comes. Buffers are guarded. "" or what is wrong: memory outside the buffers was written; results may be anything.
std::string call_anything(Group& group, std::uint64_t number);

}  // namespace millrace::collective::test
