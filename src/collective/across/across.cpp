#include "collective/across/across.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/hash.h"

namespace millrace::collective {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t least_piece_bytes = 64;

}  // namespace

Across::Limits Across::limits_of(const GroupShape& here) { return {here.slot_bytes / here.ranks, here.letters != 0}; }

bool Across::open(NodeMap&& map, std::uint32_t rank, Here* here, Wire& wire, const Limits& limits) {
  map_ = std::move(map);
  rank_ = rank;
  here_ = here;
  wire_ = &wire;
  limits_ = limits;
  memory_.reset(new (std::nothrow) char[rooms_.size() * room_bytes + alignment]);
  node_bytes_.reset(new (std::nothrow) std::size_t[map_.nodes()]);
  counts_.reset(new (std::nothrow) std::size_t[std::size_t{2} * map_.most_places()]);
  sends_.reset(new (std::nothrow) Message[map_.most_places()]);
  receives_.reset(new (std::nothrow) Message[map_.most_places()]);
  parts_.reset(new (std::nothrow) Data[map_.most_places()]);
  row_data_.reset(new (std::nothrow) Data[std::size_t{2} * map_.ranks()]);
  data_parts_.reset(new (std::nothrow) DataPart[map_.most_places()]);
  columns_.reset(new (std::nothrow) char*[map_.nodes()]);
  row_inputs_.reset(new (std::nothrow) const void*[map_.ranks()]);
  if (!memory_ || !node_bytes_ || !counts_ || !sends_ || !receives_ || !parts_ || !row_data_ || !data_parts_ ||
      !columns_ || !row_inputs_)
    return false;
  char* first = memory_.get();
  first += alignment - reinterpret_cast<std::uintptr_t>(first) % alignment;
  for (char*& room : rooms_) room = std::exchange(first, first + room_bytes);
  return true;
}

bool Across::reduces(Kind kind, const Reducer& reducer) const {
  // Some elements of every rank's block have room.
  const std::size_t most_bytes = std::min(limits_.most_element_bytes, room_bytes / std::max(map_.ranks(), 64u));
  if (reducer.element_bytes == 0 || reducer.element_bytes > most_bytes) return false;
  if (folds_rows(kind, reducer) && reducer.element_bytes > piece_bytes(Kind::alltoall)) return false;
  const bool has_blocks = kind == Kind::reduce_scatter || folds_rows(kind, reducer);
  return limits_.exchanges && (!has_blocks || map_.ranks() <= most_ranks_of_blocks);
}

bool Across::folds_rows(Kind kind, const Reducer& reducer) const {
  const bool ordered = kind == Kind::scan || kind == Kind::exscan || !reducer.commutative;
  return reducer.in_rank_order || (ordered && !map_.is_in_order());
}

bool Across::moves(Kind kind, std::size_t block_bytes) const {
  if (kind == Kind::barrier || kind == Kind::bcast) return true;
  if (block_bytes == 0 || !limits_.exchanges || map_.ranks() > most_ranks_of_blocks) return false;
  if (kind == Kind::alltoall) return piece_bytes(kind) >= least_piece_bytes;
  return kind == Kind::gather || kind == Kind::scatter || kind == Kind::allgather;
}

void Across::fail(Result result) {
  if (broken_ != Result::ok) return;
  broken_ = result;
  if (result == Result::mismatch) wire_->refuse();
  if (here_) here_->fail(result);
}

Result Across::begin(Kind kind, std::uint64_t what, std::uint32_t root) {
  if (broken_ != Result::ok) return broken_;
  history_ = spread((history_ ^ what) + (std::uint64_t{root} << 8 | static_cast<std::uint64_t>(kind)));
  history_ ^= history_ >> 32;
  wire_->begin(history_);
  return Result::ok;
}

Result Across::stepped(Result result) {
  if (result == Result::truncated) result = Result::mismatch;  // all sizes follow from those of the call
  if (result != Result::ok && result != Result::not_supported) fail(result);
  return broken_ != Result::ok ? broken_ : result;
}

Result Across::here_barrier() { return here_ ? stepped(here_->barrier()) : Result::ok; }

Result Across::here_bcast(void* data, std::size_t bytes, std::uint32_t place) {
  return here_ && bytes != 0 ? stepped(here_->bcast(data, bytes, place)) : Result::ok;
}

Result Across::here_reduce(const void* in, void* out, std::size_t elements, const Reducer& reducer,
                           std::uint32_t place) {
  if (here_) return stepped(here_->reduce(in, out, elements, reducer, place));
  if (in != out) std::memcpy(out, in, elements * reducer.element_bytes);
  return Result::ok;
}

Result Across::here_exchange(std::size_t sends, std::size_t receives) {
  if (!here_) return Result::ok;
  // enter() of the group keeps so many bits.
  return stepped(here_->exchange(history_ >> 24, {sends_.get(), sends}, {receives_.get(), receives}));
}

Result Across::here_pass(std::uint32_t from, std::uint32_t to, void* data, std::size_t bytes) {
  if (from == to) return Result::ok;
  const bool sends = place() == from, receives = place() == to;
  sends_[0] = to_or_from(to, static_cast<char*>(data), bytes);
  receives_[0] = to_or_from(from, static_cast<char*>(data), bytes);
  return here_exchange(sends ? 1 : 0, receives ? 1 : 0);
}

std::span<const std::size_t> Across::node_bytes(std::size_t block_bytes) {
  for (std::uint32_t node = 0; node < map_.nodes(); ++node) node_bytes_[node] = map_.places(node) * block_bytes;
  return {node_bytes_.get(), map_.nodes()};
}

Result Across::barrier() {
  // Nobody goes to the other nodes before all of this one have come, and nobody goes on before all have.
  if (const Result result = begin(Kind::barrier, 0, 0); result != Result::ok) return result;
  if (const Result came = here_barrier(); came != Result::ok) return came;
  if (leads())
    if (const Result result = stepped(wire_->barrier(Line::leaders)); result != Result::ok) return result;
  return here_barrier();
}

}  // namespace millrace::collective
