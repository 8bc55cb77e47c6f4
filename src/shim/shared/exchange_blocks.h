// The blocks of one collective call as the exchange in shared memory takes them: each with a peer and a way to its
// bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "collective/exchange.h"
#include "shim/call/exchange_call.h"
#include "shim/call/exchange_neighbors.h"
#include "shim/call/scratch.h"
#include "shim/datatypes/exchange_type.h"
#include "shim/node/communicators.h"
#include "shim/shared/kept_counts.h"
#include "shim/shared/lasting_type.h"

namespace millrace::shim {

// Kept with the communicator, so that calls find memory of the size that they need. One thread at a time.
class ExchangeBlocks : public KeptWithCommunicator {
 public:
  void clear();

  // The datatype, counts and addresses of one side; bytes in packed order. False: the arguments are not valid, and
  // nothing has been moved. Throws std::bad_alloc.
  bool open(const ExchangeCall& call, const ExchangeSide& side, bool outgoing);
  // Block `index` of the side that was opened last.
  bool find(std::size_t index, collective::Data& data);

  // What the host must pack before the blocks are moved, and unpack after. An error of the host, or 0.
  int pack();
  int unpack();

  // The same blocks, sent out of a copy, so that they may be received where they were; after pack(). False: no memory.
  bool copy_sends(collective::Data& own);
  // The same blocks, received into nothing.
  void discard_receives();
  // Whether two ends in this process are the same place in memory.
  static bool same_place(const collective::Data& a, const collective::Data& b);

  std::vector<collective::Message> sends, receives;
  std::vector<collective::Data> gathered;  // by rank
  std::vector<collective::Data> sent;      // for exchange_blocks()
  std::optional<Neighbors> neighbors;      // of the communicator; not cleared
  KeptCounts counts;                       // of MPI_Reduce_scatter; not cleared

 private:
  struct Walk {  // through a layout
    const layout::Layout* layout;
    void* base;
    std::int64_t count;
  };
  struct ByHost {
    ExchangeType type;
    Word address;
    std::int64_t count;
    Scratch packed;
    bool outgoing;
    bool on_device;  // device_memory.h
    std::size_t came_bytes;
    LastingType lasting;  // type.handle
  };
  static void discard(void* nothing, std::size_t first, std::size_t length, void* packed);
  static void note_part(void* block, std::size_t first, std::size_t length, void* packed);
  static void pack_part(void* walk, std::size_t first, std::size_t length, void* packed);
  static void unpack_part(void* walk, std::size_t first, std::size_t length, void* packed);
  bool take_type(std::size_t index);

  const ExchangeCall* call_ = nullptr;
  const ExchangeSide* side_ = nullptr;
  bool outgoing_ = false;
  Word buffer_ = 0;
  std::int64_t count_ = 0;
  const ExchangeType* type_ = nullptr;
  std::deque<ExchangeType> types_;  // deques: those in use stay where they are
  std::deque<Walk> walks_;
  std::deque<ByHost> by_host_;
  Scratch copies_;
};

}  // namespace millrace::shim
