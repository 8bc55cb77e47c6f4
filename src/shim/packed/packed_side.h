// One side of a collective (what is sent, or what is received) whose blocks lie packed in a buffer of ours.
//
//   the program's   |##..##..|##..##..|        blocks of `count` elements of its datatype, gaps between their data
//   ours            |####|####|                as many elements of a datatype of the same size without gaps
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "shim/call/exchange_call.h"
#include "shim/packed/buffer_pool.h"
#include "shim/packed/host_call.h"
#include "shim/packed/packed_types.h"
#include "shim/packed/policy.h"

namespace millrace::shim {

// What this rank does with a block.
struct BlockRole {
  bool outgoing = false;
  bool incoming = false;
};

constexpr Traffic traffic_of(const ExchangeShape& shape) {
  return shape.is_neighbor() || shape.kind == ExchangeKind::bcast ? Traffic::spread : Traffic::exchange;
}

// Not moved while the host may read it: it holds arrays that are the call's arguments.
class PackedSide {
 public:
  // Looks at a side that is significant on this rank and has data (not MPI_IN_PLACE), one role for each of its blocks;
  // gets a buffer if it is ours. `types_at_once`: a datatype that the host has not accepted in a call before may be
  // ours. Throws std::bad_alloc.
  void open(const ExchangeCall& call, const ExchangeSide& side, std::span<const BlockRole> roles, Goes goes,
            bool types_at_once);

  bool is_ours() const { return static_cast<bool>(buffer_); }
  bool receives() const { return receives_; }
  record::Reason reason() const { return reason_; }              // why it is not ours
  const std::vector<Word>& unknown() const { return unknown_; }  // datatypes to be remembered if the call succeeds

  void pack() const;
  void unpack() const;
  // The packed blocks instead of the program's. Counts stay the program's own, which MPI keeps until completion.
  void put_into(HostCall& call);

 private:
  struct Type {
    Word handle = 0;
    std::shared_ptr<const layout::Layout> layout;  // null: bytes in a row
    std::int64_t size_bytes = 0;
    std::int64_t extent_bytes = 0;
    bool is_mixed = false;
  };
  struct Block {
    std::shared_ptr<const layout::Layout> layout;
    Word address;
    std::int64_t count, bytes;
    std::int64_t offset_bytes;  // packed
    BlockRole role;
  };

  bool find_type(Word handle, bool types_at_once, Type& type);
  record::Reason list(const ExchangeCall& call, std::span<const BlockRole> roles, Goes goes, bool types_at_once);
  void add(const Type& type, Word address, std::int64_t count, BlockRole role);
  record::Reason make_arguments(const ExchangeCall& call, std::size_t blocks);

  const ExchangeSide* side_ = nullptr;
  record::Reason reason_ = record::Reason::not_accelerated;
  std::vector<Word> unknown_;
  std::vector<Block> blocks_;
  std::int64_t bytes_ = 0;
  bool receives_ = false;
  Buffer buffer_;

  // By block, where the side has such.
  struct Place {
    std::int64_t first_bytes = 0;  // packed
    std::int64_t size_bytes = 0;   // of an element
  };
  std::vector<Place> places_;
  HostType type_;  // of all
  std::vector<std::int64_t> wide_displacements_;
  std::vector<int> displacements_;
  std::vector<abi::HandleStorage> types_;
  std::vector<int> fortran_types_;
  bool wide_ = false;
};

}  // namespace millrace::shim
