// Counters of every intercepted call, kept per thread without contention and read once, at finalisation.
//
// Hot path: add_call(). One thread writes only its own block (allocated at its first call, kept for the life of the
// process), with relaxed atomic stores so that a reader in another thread sees whole values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::record {

// Why a call that Millrace knows how to do was handed to the host MPI.
enum class Reason : std::uint8_t {
  none,              // taken
  not_accelerated,   // no algorithm of ours exists for this call
  disabled,          // MILLRACE_DISABLE
  inactive,          // before initialisation or after finalisation
  type_not_covered,  // a datatype without a kernel
  op_not_covered,    // an op without a kernel
  invalid_argument,  // the host's own error is the right answer
  buffers_overlap,   // same or overlapping buffers
  host_is_faster,    // measured: the host wins here
  host_was_faster,   // measured in this job
  tried,             // for that: done by the host this time
  large_count,       // beyond what the algorithm handles
  first_use,         // a datatype that the host has not accepted yet
  no_buffer,         // MILLRACE_BUFFERS is used up
  not_agreed,        // ranks without Millrace or on other nodes, or the first calls on a communicator
  settings_differ,   // between the ranks of the communicator
  no_shared_memory,  // the system has none for this communicator
  intercommunicator,
  device_memory,       // that the processor cannot touch
  fault_tolerance,     // the host was told to survive ranks that fail
  unseen_completion,   // the call that completes it may not be seen
  repeated_neighbors,  // whose messages hosts order differently
  unseen_calls,        // collectives of this rank may reach the host behind us
  not_over_nodes,      // no algorithm of ours does it for ranks on several nodes
  count_of_reasons
};
inline constexpr std::size_t reason_count = static_cast<std::size_t>(Reason::count_of_reasons);
const char* reason_name(Reason reason);  // "type_not_covered"
const char* reason_text(Reason reason);  // one short phrase for the table

// An entry is an index into the table of MPI entry points; an algorithm an index into the names of kernels.
inline constexpr std::size_t max_entries = 1024;
inline constexpr std::size_t max_algorithms = 2048;
inline constexpr std::uint16_t no_algorithm = 0xffff;

// Records one call: `bytes` as posted by the caller, `ticks` of clock_ticks() inside it. Exactly one of
// `algorithm` (taken) and `reason` (forwarded) says what became of it: reason is none iff algorithm is not
// no_algorithm. Thread-safe; never throws; if memory for a new thread's block cannot be had the call is counted as
// lost.
// `end_ticks`, when it ended: 0 where nobody asks when.
void add_call(std::uint16_t entry, std::uint64_t bytes, std::uint64_t ticks, std::uint16_t algorithm, Reason reason,
              std::uint64_t end_ticks = 0);

// Forgets everything recorded so far, in all threads; no other thread may be inside add_call() (tests). A child of
// fork() starts clean by itself.
void reset();

}  // namespace millrace::record
