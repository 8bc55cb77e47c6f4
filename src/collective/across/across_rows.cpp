// Reductions whose result is the left fold in rank order wherever ranks lie: a row of each rank goes to where it is
// folded. Of few bytes that is every rank, one step over the wire; of more each rank folds a block, and they swap what
// they have folded: two steps, in which the bytes of a rank leave its node about twice.
#include <algorithm>
#include <cstring>

#include "collective/across/across.h"

namespace millrace::collective {
namespace {

Data row_of(char* row, std::size_t bytes) { return {bytes, row, nullptr, nullptr}; }

}  // namespace

Across::RowPiece Across::row_piece(std::size_t left, const Reducer& reducer) const {
  // room(3) holds so many elements of every rank.
  const std::size_t most = room_bytes / map_.ranks() / reducer.element_bytes;
  if (left * reducer.element_bytes <= folded_by_all_bytes || left < map_.ranks()) return {std::min(left, most), true};
  return {std::min(left / map_.ranks(), most) * map_.ranks(), false};
}

Result Across::rows_to_all(const char* in, std::size_t bytes) {
  row_sends()[0] = row_of(const_cast<char*>(in), bytes);
  for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank)
    row_receives()[rank] = row_of(room(3) + rank * bytes, bytes);
  return exchange_blocks(Kind::allgather, bytes, row_sends().first(1), row_receives(), 0);
}

Result Across::rows_to_root(const char* in, std::size_t bytes, std::uint32_t root) {
  row_sends()[0] = row_of(const_cast<char*>(in), bytes);
  for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank)
    row_receives()[rank] = row_of(room(3) + rank * bytes, bytes);
  return exchange_blocks(Kind::gather, bytes, row_sends().first(1), row_receives(), root);
}

Result Across::blocks_to_rows(const char* in, std::size_t block_bytes) {
  for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank) {
    row_sends()[rank] = row_of(const_cast<char*>(in) + rank * block_bytes, block_bytes);
    row_receives()[rank] = row_of(room(3) + rank * block_bytes, block_bytes);
  }
  return exchange_blocks(Kind::alltoall, block_bytes, row_sends(), row_receives(), 0);
}

void Across::fold_rows(std::size_t rows, std::size_t elements, const Reducer& reducer, char* out) {
  for (std::size_t row = 0; row < rows; ++row) row_inputs_[row] = room(3) + row * elements * reducer.element_bytes;
  fold(reducer, row_inputs_.get(), rows, out, elements, room(2));
}

Result Across::allreduce_rows(const char* in, char* out, std::size_t elements, const Reducer& reducer) {
  for (std::size_t first = 0; first < elements;) {
    const RowPiece piece = row_piece(elements - first, reducer);
    const char* const from = in + first * reducer.element_bytes;
    char* const to = out + first * reducer.element_bytes;
    first += piece.length;
    if (piece.all_fold) {
      const Result result = rows_to_all(from, piece.length * reducer.element_bytes);
      if (result != Result::ok) return result;
      fold_rows(map_.ranks(), piece.length, reducer, to);
      continue;
    }
    const std::size_t block = piece.length / map_.ranks(), block_bytes = block * reducer.element_bytes;
    if (const Result result = blocks_to_rows(from, block_bytes); result != Result::ok) return result;
    char* const own = to + rank_ * block_bytes;
    fold_rows(map_.ranks(), block, reducer, own);
    row_sends()[0] = row_of(own, block_bytes);
    for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank)
      row_receives()[rank] = row_of(to + rank * block_bytes, block_bytes);
    const Result result = exchange_blocks(Kind::allgather, block_bytes, row_sends().first(1), row_receives(), 0);
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

Result Across::reduce_rows(const char* in, char* out, std::size_t elements, const Reducer& reducer,
                           std::uint32_t root) {
  for (std::size_t first = 0; first < elements;) {
    const RowPiece piece = row_piece(elements - first, reducer);
    const std::size_t offset = first * reducer.element_bytes;
    first += piece.length;
    if (piece.all_fold) {
      const Result result = rows_to_root(in + offset, piece.length * reducer.element_bytes, root);
      if (result != Result::ok) return result;
      if (rank_ == root) fold_rows(map_.ranks(), piece.length, reducer, out + offset);
      continue;
    }
    const std::size_t block = piece.length / map_.ranks(), block_bytes = block * reducer.element_bytes;
    if (const Result result = blocks_to_rows(in + offset, block_bytes); result != Result::ok) return result;
    fold_rows(map_.ranks(), block, reducer, room(1));  // a gather does not need it
    row_sends()[0] = row_of(room(1), block_bytes);
    for (std::uint32_t rank = 0; rank_ == root && rank < map_.ranks(); ++rank)
      row_receives()[rank] = row_of(out + offset + rank * block_bytes, block_bytes);
    const Result result = exchange_blocks(Kind::gather, block_bytes, row_sends().first(1), row_receives(), root);
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

Result Across::reduce_scatter_rows(const char* in, char* out, const Blocking& blocks, const Reducer& reducer) {
  const std::size_t element_bytes = reducer.element_bytes;
  const std::size_t most = room_bytes / map_.ranks() / element_bytes;
  for (std::size_t first = 0; first < blocks.most(); first += most) {
    const std::size_t length = std::min(most, blocks.most() - first);
    const auto count_of = [&](std::uint32_t rank) {
      return blocks.count(rank) <= first ? 0 : std::min(length, blocks.count(rank) - first);
    };
    const std::size_t own = count_of(rank_);
    for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank) {
      char* const from = const_cast<char*>(in) + (blocks.begin(rank) + first) * element_bytes;
      row_sends()[rank] = row_of(from, count_of(rank) * element_bytes);
      row_receives()[rank] = row_of(room(3) + rank * own * element_bytes, own * element_bytes);
    }
    const Result result = exchange_blocks(Kind::alltoall, length * element_bytes, row_sends(), row_receives(), 0);
    if (result != Result::ok) return result;
    if (own != 0) fold_rows(map_.ranks(), own, reducer, out + first * element_bytes);
  }
  return Result::ok;
}

// Who folds a block knows what it comes to for every rank, and tells it.
Result Across::scan_rows(const char* in, char* out, std::size_t elements, const Reducer& reducer, bool inclusive) {
  const std::uint32_t folded = rank_ + (inclusive ? 1 : 0);
  for (std::size_t first = 0; first < elements;) {
    const RowPiece piece = row_piece(elements - first, reducer);
    const char* const from = in + first * reducer.element_bytes;
    char* const to = folded != 0 ? out + first * reducer.element_bytes : nullptr;
    first += piece.length;
    if (piece.all_fold) {
      const Result result = rows_to_all(from, piece.length * reducer.element_bytes);
      if (result != Result::ok) return result;
      if (folded != 0) fold_rows(folded, piece.length, reducer, to);
      continue;
    }
    const std::size_t block = piece.length / map_.ranks(), block_bytes = block * reducer.element_bytes;
    if (const Result result = blocks_to_rows(from, block_bytes); result != Result::ok) return result;
    for (std::uint32_t rank = 1; rank < map_.ranks(); ++rank) {
      char* const row = room(3) + rank * block_bytes;
      const void* const both[] = {row - block_bytes, row};
      fold(reducer, both, 2, row, block, room(2));
    }
    for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank) {
      // Without its own the first has nothing to get.
      const std::uint32_t row = inclusive || rank == 0 ? rank : rank - 1;
      row_sends()[rank] = row_of(room(3) + row * block_bytes, block_bytes);
      row_receives()[rank] = row_of(to ? to + rank * block_bytes : nullptr, block_bytes);
    }
    const Result result = exchange_blocks(Kind::alltoall, block_bytes, row_sends(), row_receives(), 0);
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

}  // namespace millrace::collective
