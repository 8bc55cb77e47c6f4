// Barrier of two ranks, and the meeting in one line that small Allreduce uses too.
#include <cstring>

#include "collective/pair.h"

namespace millrace::collective {

Result meet(Group& group, const Call& call, const void* own, void* other, std::size_t bytes) {
  const std::uint64_t number = ++group.meetings;
  const std::uint64_t label = call.label >> 48;
  PairLine::Side& mine = group.pair_line().sides[group.rank()];
  PairLine::Side& theirs = group.pair_line().sides[1 - group.rank()];
  // What was here is of two meetings ago, and the other has read it: it came to the last one.
  if (bytes != 0) std::memcpy(mine.data[number % 2], own, bytes);
  group.publish(mine.mark, number << 16 | label);
  std::uint64_t mark = 0;
  if (const Result result = group.wait_politely(theirs.mark, number << 16, mark); result != Result::ok) return result;
  if (bytes != 0) std::memcpy(other, theirs.data[number % 2], bytes);
  // The other may be at the next meeting already; labels depend on all calls before, so that one will tell.
  return mark >> 16 == number && (mark & 0xffff) != label ? group.fail(Result::mismatch) : Result::ok;
}

Result barrier_pair(Group& group, const Call& call) {
  const Result result = meet(group, call, nullptr, nullptr, 0);
  group.all_heard(call);
  return result;
}

}  // namespace millrace::collective
