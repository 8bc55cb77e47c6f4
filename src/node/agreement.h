// How the members of one communicator come to one answer about the collective call from which they share memory:
// without a message, without a collective of the host, and without waiting for anybody who has not said that it comes.
// docs/collectives.md tells it in words, tests/node/model/agreement.pml is its model.
//
// Every member counts the collective calls on the communicator. MPI orders them, so the same number is the same call,
// but for members that had an error in one: those do not know any more, say so, and then nothing is ever shared here.
//
//   proposal   one member names a call that none has begun, at least two calls ahead of the furthest
//   promise    a member has come out of the call before that one, well, and has its part of the memory ready: whatever
//              it calls next on this communicator is the proposed call
//   promised   all have
//   active     the first member has come to the call: from here on nobody can go back, and nobody has anything between
//   aborted    a member came to the call before all had promised and would not wait any longer, or one cannot take
//   part.
//              Tried again later
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "node/agreement_record.h"

namespace millrace::node {

// What the agreement asks of the one who uses it. None may throw.
struct AgreementUser {
  // Prepares this member's part of the memory that all will share: false if that cannot be. Called again if a proposal
  // failed. With the board's lock not held.
  bool (*prepare)(void* user);
  // For proposers: makes sure that there is memory to share, and returns its number, or 0. Likewise.
  std::uint32_t (*find_memory)(void* user);
  // Lets the host do its work; a little time passes.
  void (*pass_time)(void* user, std::uint32_t round);
  std::uint64_t (*now_ns)();
  // Only one member of all at a time is between these two; false: it could not be had, do without.
  bool (*lock)(void* user);
  void (*unlock)(void* user);
  void* user = nullptr;
};

class Agreement {
 public:
  // Says that this member takes part. `calls`: done on the communicator so far, `history` what they were.
  Agreement(AgreementRecord& record, std::uint32_t member, std::uint32_t members, const AgreementUser& user,
            std::uint64_t calls, std::uint64_t history);

  enum class State : std::uint8_t {
    undecided,
    shared,  // the call that enter() was asked about, and all after it
    host     // this communicator stays with the host
  };
  State state() const { return state_; }

  // This member does not know how many calls there were: nothing will be shared, but its place in the record is taken.
  void spoil();
  // Before a call, while undecided: may change the state to `shared`.
  State enter();
  // After the host has done it. `kind`: the same number on all members for the same call, not 0. `synchronised`: nobody
  // can come out of such a call before all have entered it.
  State leave(std::uint64_t kind, bool succeeded, bool synchronised);
  // This member leaves the communicator: true if it was the last of all, and the record can be given back.
  bool end();

  // What calls came to: history of the next is history_after(history, kind).
  static std::uint64_t history_after(std::uint64_t history, std::uint64_t kind) {
    return spread(history ^ kind) ^ history >> 29;
  }

 private:
  Decision look() const { return Decision::from(record_.decision.load(std::memory_order_seq_cst)); }
  bool change(const Decision& from, Stand to);
  void abort(const Decision& seen);
  void promise(const Decision& proposal);
  enum class Near : std::uint8_t { no, inside, all };
  Near find_near(const Decision& proposal) const;
  void wait_for_promises(const Decision& proposal);
  bool may_propose(const Decision& decision) const;
  void propose();
  void give_up();
  bool all_have_entered() const;

  AgreementRecord& record_;
  AgreementMember* members_;
  AgreementMember& self_;
  AgreementUser user_;
  std::uint32_t count_;
  State state_ = State::undecided;
  bool inside_ = false;         // between enter() and leave()
  std::uint32_t promised_ = 0;  // the attempt
  std::uint64_t calls_;
  std::uint64_t next_proposal_;
  std::uint64_t began_ns_;
  std::uint64_t waited_ns_ = 0;  // in vain
  std::uint64_t history_;
};

}  // namespace millrace::node
