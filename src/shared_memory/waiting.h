// How a rank waits for another.
#pragma once

#include <cstdint>

namespace millrace::shared_memory {

enum class Waiting : std::uint8_t {
  automatic,  // spin if every rank has a core of its own, else sleep
  spin,       // polls for tens of microseconds, then gives way now and then
  yield,      // polls a little, then sched_yield between polls
  sleep,      // as yield, then a futex: for ranks that outnumber the cores
};

const char* waiting_name(Waiting waiting);  // "auto", "spin", "yield", "sleep", as in MILLRACE_WAIT

// What a waiting rank does for the host MPI. Called from inside collectives only, after a bounded spin, again and again
// while the wait lasts, with nothing locked. Returns false when the host knows that a peer is gone or has itself
// failed; the collective then ends with Result::peer_died.
struct Host {
  bool (*progress)(void* context) = nullptr;  // may be null: nothing to drive
  void* context = nullptr;
};

}  // namespace millrace::shared_memory
