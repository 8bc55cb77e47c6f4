// What we know of the communicators that collectives are called on. node_agreement.h says how their ranks come to use
// shared memory together.
//
// A communicator is looked at after the host has made it, or has accepted a call on it, and forgotten when the host
// deletes its attributes (MPI_Comm_free, MPI_Comm_disconnect, MPI_Finalize): MPI's own way to say that a handle is
// gone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "node/agreement_record.h"
#include "record/record.h"
#include "shim/bind/word.h"

namespace millrace::shim {

class NodeGroup;    // node_group.h
class NodeAccord;   // node_accord.h
class NodesAccord;  // nodes_accord.h

// What others keep with a communicator, and which ends with it.
struct KeptWithCommunicator {
  virtual ~KeptWithCommunicator() = default;
};

struct Communicator {
  enum class Stage : std::uint8_t {
    undecided,  // calls go to the host until the ranks have come to an agreement
    active,     // `group` is ready
    host        // `reason` says why it stays with the host
  };

  Communicator();
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // Collectives on one communicator come one after the other, ordered by the program if several threads make them: so
  // nothing here needs an atomic.
  Word handle = 0;
  int rank = 0;
  int ranks = 0;
  Stage stage = Stage::undecided;
  record::Reason reason = record::Reason::not_agreed;
  bool between = false;                    // an intercommunicator
  bool has_identity = false;               // without one it stays with the host
  bool lost_count = false;                 // a call failed here: `calls` may not be what the others have
  bool is_background = false;              // of nonblocking calls (shared/background_channel.h)
  bool is_persistent = false;              // of the starts of one persistent collective (likewise)
  bool lost_children = false;              // the same of constructors
  node::Identity identity;                 // of the communicator, before its members are mixed into it
  std::uint64_t serial = 0;                // unlike that of any other of this process, also of one with the same handle
  std::uint64_t calls = 0;                 // collectives that have succeeded
  std::uint64_t history = 0;               // what they were, while undecided
  std::uint64_t worth = 0;                 // of them, while undecided: in calls of a few bytes (node_agreement.h)
  bool is_apart = false;                   // its ranks are on several nodes; known from its first try to agree
  std::array<std::uint32_t, 8> host_ns{};  // of the last calls while undecided: how long the host kept this rank
  std::uint64_t host_calls = 0;            // of those
  std::uint64_t persistent_calls = 0;      // persistent collectives that were prepared on it
  std::uint64_t children = 0;              // made of it by constructors that all its ranks call
  std::unordered_map<std::uint64_t, std::uint64_t> groups;  // the same by members and tag, for MPI_Comm_create_group
  std::vector<int> seats;               // of its ranks in MPI_COMM_WORLD, once somebody asked (targets.cpp)
  std::atomic<bool> has_seats = false;  // they are there
  std::unique_ptr<NodeAccord> accord;
  std::unique_ptr<NodesAccord> nodes_accord;    // instead, where its ranks are on several nodes
  std::unique_ptr<KeptWithCommunicator> nodes;  // NodesGroup, once they have agreed
  std::unique_ptr<NodeGroup> group;
  std::unique_ptr<KeptWithCommunicator> exchange;    // ExchangeBlocks, from its first collective that reduces nothing
  std::shared_ptr<KeptWithCommunicator> background;  // BackgroundChannel, from its first nonblocking collective on
  std::unique_ptr<KeptWithCommunicator> late_ranks;  // LateRanks, likewise, where a report is asked for
  std::unique_ptr<KeptWithCommunicator> measured;    // MeasuredCalls, from its first collective in shared memory
};

// Creates the attribute by which we hear of the end of a communicator. After MPI_Init, by one thread. False if the host
// refuses; then nothing can be registered.
bool prepare_communicators();
void forget_communicators();  // before MPI_Finalize

// Counts forgotten communicators. A thread's remembered answers hold while it stands still: the thread that may use a
// handle again has synchronised with the one that freed it, by MPI's rules, so it sees the number that followed.
extern constinit std::atomic<std::uint64_t> communicator_generation;

// The communicator behind a handle that has been registered, or nullptr. A few nanoseconds; thread-safe.
Communicator* find_communicator(Word handle);

// Registers a handle that the host has just made, or accepted in a collective. Local, thread-safe. `identity`: null if
// its members cannot name it. nullptr if memory or the host refuses.
Communicator* register_communicator(Word handle, const node::Identity* identity) noexcept;

}  // namespace millrace::shim
