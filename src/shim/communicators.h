// What we know of the communicators that collectives were called on. node_agreement.h says how their ranks come to
// use shared memory together.
//
// A communicator is looked at after the host has accepted a call on it, and forgotten when the host deletes its
// attributes (MPI_Comm_free, MPI_Comm_disconnect, MPI_Finalize): MPI's own way to say that a handle is gone.
#pragma once

#include <cstdint>
#include <memory>

#include "record/record.h"
#include "shim/word.h"

namespace millrace::shim {

class NodeGroup;       // node_group.h
class ExchangeBlocks;  // exchange_blocks.h

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
  int calls = 0;  // that all ranks have counted alike
  std::unique_ptr<NodeGroup> group;
  std::unique_ptr<ExchangeBlocks> exchange;  // from its first collective that reduces nothing
};

// Creates the attribute by which we hear of the end of a communicator. After MPI_Init, by one thread. False if the host
// refuses; then nothing can be registered.
bool prepare_communicators();
void forget_communicators();  // before MPI_Finalize

// The communicator behind a handle that has been registered, or nullptr. A few nanoseconds; thread-safe.
Communicator* find_communicator(Word handle);

// Registers a handle that the host has just accepted in a collective. Local, thread-safe. nullptr if memory or the host
// refuses.
Communicator* register_communicator(Word handle) noexcept;

}  // namespace millrace::shim
