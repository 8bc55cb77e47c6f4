// What calls did on each communicator: counted per thread without contention, like all calls (record.h).
//
// Communicators with the same name and the same ranks are one here, however often they are made: a program that
// duplicates and frees one in a loop has one more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::record {

// Of a process, and of a report. What comes after them is one that is called others.
inline constexpr std::size_t most_communicators = 128;
inline constexpr std::string_view other_communicators = "others";
inline constexpr std::size_t longest_communicator_text = 63;  // of a name, and of a list of ranks: the rest is cut off

struct CommunicatorIdentity {
  std::string_view name;      // as the program has called it; "" of one without a name
  std::string_view ranks;     // in MPI_COMM_WORLD, to be read: "0-3"
  std::uint64_t members = 0;  // a hash of all of them in their order, since `ranks` may be cut
  std::uint64_t size = 0;     // ranks
};

// A number for add_communicator_call(): the same for what is one here. Thread-safe, takes no memory.
std::uint16_t communicator_number(const CommunicatorIdentity& identity) noexcept;

// `number` from communicator_number(); `ticks` of clock_ticks(). Thread-safe; never throws.
void add_communicator_call(std::uint16_t number, std::uint64_t bytes, std::uint64_t ticks, bool is_taken) noexcept;

struct CommunicatorRecord {
  std::string name;
  std::string ranks;
  std::uint64_t members = 0;
  std::uint64_t size = 0;  // 0 of the others
  std::uint64_t made = 0;  // how many of these the process has used
  std::uint64_t calls = 0;
  std::uint64_t taken = 0;
  std::uint64_t bytes = 0;
  std::uint64_t time_ns = 0;  // summed over threads

  bool operator==(const CommunicatorRecord&) const = default;
};

// Those with calls, in the order of their first use, the others last. Nothing if another thread is stopped inside
// communicator_number() (a signal).
std::vector<CommunicatorRecord> communicators_until_now(double ns_per_tick);

// In reset(): numbers are given anew.
void reset_communicators() noexcept;

}  // namespace millrace::record
