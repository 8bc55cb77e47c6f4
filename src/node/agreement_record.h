// What the members of one communicator write down for each other while they come to share memory (agreement.h).
//
//   AgreementRecord | AgreementMember[members]
//
// Lies in the memory of the board, zeroed at first. Anybody of the same user may scribble here: whatever is read is
// checked before it is an index or an address.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace millrace::node {

// Names a communicator: equal on its members, unlike that of any other communicator of the job. Never all zero.
struct Identity {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Identity&) const = default;
};

enum class Stand : std::uint8_t {
  none,      // nobody has proposed yet
  open,      // a call is proposed; members may promise
  promised,  // all have promised; nobody has come to the call yet
  active,    // somebody has come to it: from this call on all use shared memory
  aborted    // the call stays with the host; another may be proposed
};

// In one word, so that whoever changes it knows all of it.
struct Decision {
  std::uint32_t attempt = 0;  // Promise::attempt_bits
  std::uint64_t call = 0;     // 48 bits; the first one in shared memory
  Stand stand = Stand::none;

  static constexpr std::uint64_t most_calls = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint32_t most_attempts = (1u << 13) - 1;

  static Decision from(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 51), word >> 3 & most_calls, static_cast<Stand>(word & 7)};
  }
  std::uint64_t word() const { return std::uint64_t{attempt} << 51 | call << 3 | static_cast<std::uint64_t>(stand); }
  Decision with(Stand next) const { return {attempt, call, next}; }
};

struct AgreementMember {
  std::atomic<std::uint64_t> entered;   // the counted call that it has begun last; partner: find_near() of the others
  std::atomic<std::uint64_t> promised;  // a Promise; partner: promise() of the others
  std::atomic<std::uint32_t> left;
};

// A member's promise: the attempt, and what it has called so far, which must be the same for all.
struct Promise {
  static constexpr int attempt_bits = 13;
  static std::uint64_t word(std::uint32_t attempt, std::uint64_t history) { return history << attempt_bits | attempt; }
  static std::uint32_t attempt(std::uint64_t word) {
    return static_cast<std::uint32_t>(word & ((1u << attempt_bits) - 1));
  }
};

struct alignas(64) AgreementRecord {
  Identity identity;
  std::uint32_t members;
  std::atomic<std::uint32_t> joined, left;  // how many
  std::atomic<std::uint32_t> spoilt;        // not 0: some member does not know its number of calls; never again
  std::atomic<std::uint32_t> memory;        // number of the region that they will share, 0: none yet
  std::atomic<std::uint32_t> arrivals;      // the same of that in which they say when they came (arrivals.h)
  std::atomic<std::uint64_t> decision;      // a Decision; all changes are sequentially consistent
};

inline AgreementMember* members_of(AgreementRecord& record) { return reinterpret_cast<AgreementMember*>(&record + 1); }
constexpr std::size_t record_bytes(std::size_t members) {
  return sizeof(AgreementRecord) + members * sizeof(AgreementMember);
}

}  // namespace millrace::node
