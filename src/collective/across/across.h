// The collectives of ranks on several nodes: a step in the memory of each node, the host MPI between the nodes, a step
// in each node. What leaves a node does so once: a node's ranks send together what each would send alone. Reductions of
// a node by a leader, with the host's collective between leaders, are those of Jain et al., SC18; of large data each
// rank of a node leads a part.
//
// A Group whose span() is one of these has no memory of its own: its collectives come here. Results are the same bits
// on all ranks if the wire's are. Everything that a call needs of memory is there before: no rank can run out of it
// while others wait.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "collective/across/here.h"
#include "collective/across/node_map.h"
#include "collective/across/wire.h"
#include "collective/blocking.h"
#include "collective/data.h"
#include "collective/exchange.h"
#include "collective/group.h"

namespace millrace::collective {

class Across {
 public:
  // Room for data on their way; each rank has four times as much.
  static constexpr std::size_t room_bytes = std::size_t{1} << 20;
  // Of more ranks so little of each block has room at a time that the host is left to do what has a block for each.
  static constexpr std::uint32_t most_ranks_of_blocks = 4096;
  // Pieces in which a broadcast crosses, and those in which it is given to the ranks of a node, while the next one
  // crosses: each is a time at which these ranks wait for each other.
  static constexpr std::size_t bcast_piece_bytes = std::size_t{256} << 10;
  static constexpr std::size_t bcast_given_bytes = std::size_t{1} << 20;
  // Blocks of up to so many bytes are gathered by a leader for its whole node.
  static constexpr std::size_t gathered_by_one_bytes = std::size_t{4} << 10;
  // Of larger ones, where each rank gathers those of its place and all of a node show them to each other, so much of
  // each at a time: they lie where the program wants them, if that is in rows.
  static constexpr std::size_t shown_piece_bytes = std::size_t{1} << 20;
  // Up to so many bytes are reduced by a leader for its whole node; of more each rank leads a part.
  static constexpr std::size_t led_by_one_bytes = std::size_t{16} << 10;
  // Of up to so many bytes in rank order each rank gets everybody's, and folds all of them.
  static constexpr std::size_t folded_by_all_bytes = std::size_t{1} << 10;

  // What all nodes' memory allows: the least of all.
  struct Limits {
    std::size_t most_element_bytes = ~std::size_t{0};
    bool exchanges = true;
  };
  static Limits limits_of(const GroupShape& here);

  // `here`: of the ranks of this node, in rank order; null: this rank is alone on it. All must outlive this. False: no
  // memory.
  bool open(NodeMap&& map, std::uint32_t rank, Here* here, Wire& wire, const Limits& limits);

  const NodeMap& map() const { return map_; }
  std::uint32_t rank() const { return rank_; }

  // Whether all ranks can do a call this way, by what all of them know: else it is the host's, and is not to be called.
  bool reduces(Kind kind, const Reducer& reducer) const;
  bool moves(Kind kind, std::size_t block_bytes) const;
  bool publishes() const { return moves(Kind::allgather, 1); }
  // Whether a reduction takes a row of each rank to where it is folded, because a node cannot be folded by itself.
  bool folds_rows(Kind kind, const Reducer& reducer) const;

  // As those of collective.h and exchange.h.
  Result barrier();
  Result bcast(void* buffer, std::size_t bytes, std::uint32_t root);
  Result reduce(const void* in, void* out, std::size_t elements, const Reducer& reducer, std::uint32_t root);
  Result allreduce(const void* in, void* out, std::size_t elements, const Reducer& reducer);
  Result reduce_scatter(const void* in, void* out, const Blocking& blocks, const Reducer& reducer);
  Result scan(const void* in, void* out, std::size_t elements, const Reducer& reducer, bool inclusive);
  Result exchange_blocks(Kind kind, std::size_t bytes, std::span<const Data> sent, std::span<const Data> received,
                         std::uint32_t root);
  // MPI_Allgatherv: everybody's block to everybody, each as long as all ranks expect it.
  Result publish(const Data& own, std::span<const Data> received);

  // For this rank's node. Of a mismatch those on its line hear, too; of all else from their host.
  void fail(Result result);
  Result broken() const { return broken_; }

 private:
  class BcastSteps;

  std::uint32_t node() const { return map_.node_of(rank_); }
  std::uint32_t place() const { return map_.place_of(rank_); }
  std::uint32_t places() const { return map_.places(node()); }
  bool leads() const { return place() == 0; }
  char* room(std::size_t index) const { return rooms_[index]; }
  std::span<char> rooms_from(std::size_t index) const { return {rooms_[index], (rooms_.size() - index) * room_bytes}; }
  std::size_t piece_elements(const Reducer& reducer) const { return room_bytes / reducer.element_bytes; }
  // A call begins. `what`: bytes, or whatever else its ranks must agree in.
  Result begin(Kind kind, std::uint64_t what, std::uint32_t root);
  // What a step came to. If it failed, those who wait for this rank are told, as far as they can be.
  Result stepped(Result result);

  // In this node; of one rank alone: copies.
  Result here_barrier();
  Result here_bcast(void* data, std::size_t bytes, std::uint32_t place);
  Result here_reduce(const void* in, void* out, std::size_t elements, const Reducer& reducer, std::uint32_t place);
  // Bytes in a row from one place to another of this node; others have nothing to do with it.
  Result here_pass(std::uint32_t from, std::uint32_t to, void* data, std::size_t bytes);
  Result here_exchange(std::size_t sends, std::size_t receives);  // that are in sends_ and receives_
  static Message to_or_from(std::uint32_t place, char* row, std::size_t bytes) {
    return {place, {bytes, row, nullptr, nullptr}};
  }

  Result allreduce_led(const void* in, void* out, std::size_t elements, const Reducer& reducer);
  Result allreduce_parts(const void* in, void* out, std::size_t elements, const Reducer& reducer);
  Result reduce_piece(const void* in, void* out, std::size_t elements, const Reducer& reducer, std::uint32_t root);
  Result scan_piece(const void* in, void* out, std::size_t elements, const Reducer& reducer, bool inclusive);
  Result scatter_reduced(const char* in, char* out, const Blocking& blocks, const Reducer& reducer, std::size_t first,
                         std::size_t length);
  Result allgather_piece(const Data& own, std::span<const Data> received, std::size_t first, std::size_t length);
  Result allgather_shown(const Data& own, std::span<const Data> received, std::size_t first, std::size_t length);
  bool is_shown(Kind kind, std::size_t bytes) const;
  Result publish_piece(const Data& own, std::span<const Data> received, std::size_t first, std::size_t length);
  Result alltoall_piece(std::span<const Data> sent, std::span<const Data> received, std::size_t first,
                        std::size_t length);
  Result alltoall_led(std::span<const Data> sent, std::span<const Data> received, std::size_t first,
                      std::size_t length);
  Result gather_piece(const Data* own, std::span<const Data> received, std::uint32_t root, std::size_t first,
                      std::size_t length);
  Result scatter_piece(std::span<const Data> sent, const Data* own, std::uint32_t root, std::size_t first,
                       std::size_t length);
  // So much of every block at a time.
  std::size_t piece_bytes(Kind kind) const;

  // Left folds in rank order (across_rows.cpp).
  Result allreduce_rows(const char* in, char* out, std::size_t elements, const Reducer& reducer);
  Result reduce_rows(const char* in, char* out, std::size_t elements, const Reducer& reducer, std::uint32_t root);
  Result reduce_scatter_rows(const char* in, char* out, const Blocking& blocks, const Reducer& reducer);
  Result scan_rows(const char* in, char* out, std::size_t elements, const Reducer& reducer, bool inclusive);
  // Takes the piece at `first` of so many elements: sets its length, and `all_fold`: each rank is to fold all of it,
  // else each rank folds its block of it.
  struct RowPiece {
    std::size_t length;
    bool all_fold;
  };
  RowPiece row_piece(std::size_t left, const Reducer& reducer) const;
  // What each rank has at `in` becomes a row of `bytes` in room(3), in rank order: on all ranks, or at the root.
  Result rows_to_all(const char* in, std::size_t bytes);
  Result rows_to_root(const char* in, std::size_t bytes, std::uint32_t root);
  // Likewise of what each rank has in its block of this rank.
  Result blocks_to_rows(const char* in, std::size_t block_bytes);
  void fold_rows(std::size_t rows, std::size_t elements, const Reducer& reducer, char* out);
  // Lists of a message from and to each rank.
  std::span<Data> row_sends() { return {row_data_.get(), map_.ranks()}; }
  std::span<Data> row_receives() { return {row_data_.get() + map_.ranks(), map_.ranks()}; }

  // Bytes of each node's blocks.
  std::span<const std::size_t> node_bytes(std::size_t block_bytes);

  NodeMap map_;
  std::uint32_t rank_ = 0;
  Here* here_ = nullptr;
  Limits limits_;
  Wire* wire_ = nullptr;
  std::unique_ptr<char[]> memory_;
  std::array<char*, 4> rooms_{};
  std::unique_ptr<std::size_t[]> node_bytes_;
  std::unique_ptr<std::size_t[]> counts_;  // for blocks of the places of a node, twice
  std::unique_ptr<Message[]> sends_, receives_;
  std::unique_ptr<Data[]> parts_, row_data_;
  std::unique_ptr<DataPart[]> data_parts_;
  std::unique_ptr<char*[]> columns_;  // a block of each node
  std::unique_ptr<const void*[]> row_inputs_;
  Result broken_ = Result::ok;
  std::uint64_t history_ = 0;  // made of this call and all before: the same on all ranks, or the program is wrong
};

}  // namespace millrace::collective
