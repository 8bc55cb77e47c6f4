// How the ranks of a communicator that are on several nodes agree to do its collectives over nodes from some call on.
// They share no memory, so they write letters, which come in some time. All of them are known to run Millrace.
//
//   members                                  rank 0, the coordinator
//   joined, after a few calls           ->   when all have joined: picks a call that none has come to yet. Meant is the
//   ... sees it in time: promise        <-   proposal: first call from there on that waits for all ranks by its nature
//   ... or too late: says where it is   ->
//   at that call: here, and waits       ->   at that call: all are here: shared. Some has not promised, after a bounded
//   shared, or host: goes on            <-   wait, or has lost count: host
//
// Only such a call is waited in that no rank can leave before all have come (MPI_Barrier, MPI_Allreduce ...): to wait
// for a rank there is what the call does anyway. The one exception are ranks that saw the proposal too late: they are
// in that call with the host, which waits for those that wait here; hence the bounded wait.
#pragma once

#include <cstdint>
#include <vector>

#include "node/agreement_record.h"

namespace millrace::node {

struct NodesLetter {
  enum class Kind : std::uint32_t { joined, spoilt, proposal, promise, late, here, shared, host };
  Identity communicator;
  Kind kind = Kind::joined;
  std::uint32_t from = 0;     // rank in the communicator
  std::uint32_t attempt = 0;  // of a proposal
  std::uint32_t unused = 0;
  std::uint64_t call = 0;     // that is proposed; of here: this one; of joined, late: how many it has made
  std::uint64_t history = 0;  // of joined: what they were
};

// What the agreement needs of others. Functions do not wait; they may throw std::bad_alloc.
class NodesPost {
 public:
  // To a member, by its rank in the communicator.
  virtual void post(std::uint32_t member, const NodesLetter& letter) = 0;
  virtual std::vector<NodesLetter> collect() = 0;
  virtual std::uint64_t now_ns() = 0;
  // Between two looks, while this rank waits.
  virtual void pass_time(std::uint32_t round) = 0;

 protected:
  ~NodesPost() = default;
};

class NodesAgreement {
 public:
  enum class State : std::uint8_t { undecided, shared, host };
  // The coordinator waits so long for promises at the call itself: whether a call is the first over nodes shall not
  // hang on small delays, for with it the order of additions changes.
  static constexpr std::uint64_t wait_for_promises_ns = 20'000'000;

  // `calls`, `history`: of this rank so far.
  NodesAgreement(const Identity& communicator, std::uint32_t rank, std::uint32_t ranks, NodesPost& post,
                 std::uint64_t calls, std::uint64_t history);

  // Before a call, after `calls` of them. `synchronises`: no rank can leave it before all have come, as all ranks know.
  // shared: this one is the first over nodes, on all ranks, and all are in it.
  State enter(std::uint64_t calls, bool synchronises);
  // This rank has made an error, so that its number of calls may be another than the others': never again. The last
  // call of this object.
  void spoil();

 private:
  bool may_look(std::uint64_t next_call, bool synchronises);
  void read(const NodesLetter& letter, std::uint64_t next_call);
  void read_all(std::uint64_t next_call);
  void propose(std::uint64_t next_call);
  void conclude(NodesLetter::Kind kind);
  void tell_all(NodesLetter letter);
  void tell_coordinator(NodesLetter::Kind kind, std::uint64_t call);
  void join_member(const NodesLetter& letter);
  void wait_for_members(std::uint64_t next_call);
  void wait_for_answer(std::uint64_t next_call);
  bool coordinates() const { return rank_ == 0; }
  bool all_are_here() const { return here_ + 1 == ranks_; }

  Identity communicator_;
  std::uint32_t rank_, ranks_;
  NodesPost& post_;
  State state_ = State::undecided;
  std::uint64_t next_look_ = 0;  // the call
  std::uint64_t call_ = 0;       // proposed (coordinator), or promised (member); 0: none
  std::uint32_t attempt_ = 0;    // of that
  bool is_shared_ = false;       // all are there
  // Of the coordinator.
  std::uint32_t joined_ = 0, promised_ = 0, here_ = 0;
  bool spoilt_ = false;
  std::uint64_t first_calls_ = 0, first_history_ = 0;
  std::uint64_t furthest_ = 0;  // calls that some member is known to have made
  std::uint64_t at_call_ = 0;   // where a member waits; 0: none does
  bool is_late_ = false;        // some member has passed the proposed call, or waits at another one
};

}  // namespace millrace::node
