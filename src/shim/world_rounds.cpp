// How ranks that ask at different times whether all are there come to one answer, although nobody may wait for a rank
// that could be missing for ever.
//
// A rank whose round comes
//   1. lets `looking` answer,
//   2. looks whether every rank has announced itself,
//   3. if one has not: lets `missing` answer, and its own answer is no. Both names stay until the process ends.
//      If all have: silences `looking`, and asks for the names of each other rank:
//   4. `looking` answers, and then `missing`: no. Only `looking`: it is between 1 and 3 and soon says one or the other.
//   5. `looking` does not answer: it has not come to 1, and then will find all that we have found; or it has found all;
//      or it has ended, and then is not present any more: no.
// If any rank finds somebody missing, it looked before the last one had announced itself, so it had let `looking`
// answer before any rank could find all: each of those sees it, there or gone. Otherwise all find all.
// tests/shim/world_rounds_test.cpp runs it with ranks that come and go at random times.
#include <sched.h>
#include <unistd.h>

#include "shim/presence.h"

namespace millrace::shim {
namespace {

constexpr const char* looking_names[Presence::rounds] = {"looking/0", "looking/1", "looking/2", "looking/3"};
constexpr const char* missing_names[Presence::rounds] = {"missing/0", "missing/1", "missing/2", "missing/3"};

}  // namespace

bool Presence::announce(const std::string& job, int rank, int ranks, bool threads_may_call) {
  if (present_.is_reserved()) return true;
  job_ = job;
  rank_ = rank;
  ranks_ = ranks;
  bool reserved = prepare_asking() && present_.reserve(job, rank, present_name);
  // Before anybody finds this rank, so that all find the same.
  if (threads_may_call)
    reserved = reserved && threads_.reserve(job, rank, threads_name) && threads_.answer();
  else
    for (std::size_t i = 0; i < rounds; ++i)
      reserved = reserved && looking_[i].reserve(job, rank, looking_names[i]) &&
                 missing_[i].reserve(job, rank, missing_names[i]);
  if (reserved && present_.answer()) return true;
  present_.release();
  threads_.release();
  end_rounds();
  end_asking();
  return false;
}

void Presence::withdraw() {
  present_.silence();
  present_.release();
  end_asking();
}

void Presence::end_rounds() {
  for (std::size_t i = 0; i < rounds; ++i) {
    looking_[i].release();
    missing_[i].release();
  }
}

bool Presence::all_announced() {
  for (int rank = 0; rank < ranks_; ++rank)
    if (!finds(rank) || finds_threads(rank)) return false;
  return true;
}

bool Presence::ranks_are_there(int round) {
  const auto which = static_cast<std::size_t>(round);
  if (!looking_[which].answer()) return false;
  if (!all_announced()) {
    missing_[which].answer();
    return false;
  }
  looking_[which].silence();
  for (int other = 0; other < ranks_; ++other) {
    if (other == rank_) continue;
    for (int tries = 0; answers(job_, other, looking_names[which]); ++tries) {
      if (answers(job_, other, missing_names[which])) return false;
      tries < 100 ? (void)sched_yield() : (void)usleep(100);
    }
    if (!finds(other)) return false;
  }
  return true;
}

}  // namespace millrace::shim
