// Blocks of equal size: MPI_Allgather, MPI_Gather, MPI_Scatter, MPI_Alltoall.
#include <algorithm>
#include <cstring>

#include "collective/across/across.h"
#include "collective/data.h"

namespace millrace::collective {
namespace {

// As far as that end has room.
void pack_part(const Data& from, std::size_t first, std::size_t length, char* to) {
  if (first < from.bytes) pack(from, first, std::min(length, from.bytes - first), to);
}
void unpack_part(const Data& to, std::size_t first, std::size_t length, const char* from) {
  if ((to.row || to.move) && first < to.bytes) unpack(to, first, std::min(length, to.bytes - first), from);
}

}  // namespace

Result Across::exchange_blocks(Kind kind, std::size_t bytes, std::span<const Data> sent, std::span<const Data> received,
                               std::uint32_t root) {
  if (broken_ != Result::ok) return broken_;
  const Data* const own_sent = sent.empty() ? nullptr : sent.data();
  const Data* const own_received = received.empty() ? nullptr : received.data();
  const std::size_t piece = room_bytes / map_.ranks();  // so much of every block at a time
  for (std::size_t first = 0; first < bytes; first += piece) {
    const std::size_t length = std::min(piece, bytes - first);
    Result result = Result::not_supported;
    switch (kind) {
      case Kind::allgather: result = allgather_piece(*own_sent, received, first, length); break;
      case Kind::alltoall: result = alltoall_piece(sent, received, first, length); break;
      case Kind::gather: result = gather_piece(own_sent, received, root, first, length); break;
      case Kind::scatter: result = scatter_piece(sent, own_received, root, first, length); break;
      default: break;
    }
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

Result Across::allgather_piece(const Data& own, std::span<const Data> received, std::size_t first, std::size_t length) {
  const std::uint32_t nodes = map_.nodes();
  if (map_.is_even() && here_ && length > gathered_by_one_bytes) {
    // Each rank gathers the blocks of its place, and all of a node show each other what they have.
    const std::size_t column = nodes * length;
    pack_part(own, first, length, room(1) + node() * length);
    std::fill_n(node_bytes_.get(), nodes, length);
    const bool gathered = wire_->allgather(Line::places, room(1), {node_bytes_.get(), nodes});
    if (const Result result = crossed(gathered); result != Result::ok) return result;
    for (std::uint32_t at = 0; at < places(); ++at) parts_[at] = {column, room(0) + at * column, nullptr, nullptr};
    const Data mine{column, room(1), nullptr, nullptr};
    const Result result = publish(*here_, Kind::allgather, length, mine, {parts_.get(), places()}, column);
    if (result != Result::ok) return result;
    for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank)
      unpack_part(received[rank], first, length, room(0) + map_.place_of(rank) * column + map_.node_of(rank) * length);
    return Result::ok;
  }
  char* const node_row = room(0) + map_.first(node()) * length;
  pack_part(own, first, length, node_row + place() * length);
  std::size_t receives = 0;
  for (std::uint32_t at = 1; leads() && at < places(); ++at)
    receives_[receives++] = to_or_from(at, node_row + at * length, length);
  sends_[0] = to_or_from(0, node_row + place() * length, length);
  if (const Result result = here_exchange(leads() ? 0 : 1, receives); result != Result::ok) return result;
  if (leads()) {
    const bool gathered = wire_->allgather(Line::leaders, room(0), node_bytes(length));
    if (const Result result = crossed(gathered); result != Result::ok) return result;
  }
  if (const Result result = here_bcast(room(0), map_.ranks() * length, 0); result != Result::ok) return result;
  for (std::uint32_t i = 0; i < map_.ranks(); ++i)
    unpack_part(received[map_.in_node_order(i)], first, length, room(0) + i * length);
  return Result::ok;
}

Result Across::gather_piece(const Data* own, std::span<const Data> received, std::uint32_t root, std::size_t first,
                            std::size_t length) {
  const std::uint32_t root_node = map_.node_of(root), root_place = map_.place_of(root);
  const std::uint32_t crosser = map_.is_even() ? root_place : 0;
  const Line line = map_.is_even() ? Line::places : Line::leaders;
  char* const node_row = room(0) + map_.first(node()) * length;
  char* const own_row = node_row + place() * length;
  if (own) pack_part(*own, first, length, own_row);
  std::size_t receives = 0;
  for (std::uint32_t at = 0; place() == crosser && at < places(); ++at)
    if (at != crosser) receives_[receives++] = to_or_from(at, node_row + at * length, length);
  sends_[0] = to_or_from(crosser, own_row, length);
  if (const Result result = here_exchange(place() == crosser ? 0 : 1, receives); result != Result::ok) return result;
  if (place() == crosser) {
    const bool gathered = wire_->gather(line, room(0), node_bytes(length), root_node);
    if (const Result result = crossed(gathered); result != Result::ok) return result;
  }
  if (node() == root_node)
    if (const Result result = here_pass(crosser, root_place, room(0), map_.ranks() * length); result != Result::ok)
      return result;
  for (std::uint32_t i = 0; rank_ == root && i < map_.ranks(); ++i) {
    const std::uint32_t rank = map_.in_node_order(i);
    if (rank != root || own) unpack_part(received[rank], first, length, room(0) + i * length);
  }
  return Result::ok;
}

Result Across::scatter_piece(std::span<const Data> sent, const Data* own, std::uint32_t root, std::size_t first,
                             std::size_t length) {
  const std::uint32_t root_node = map_.node_of(root), root_place = map_.place_of(root);
  const std::uint32_t crosser = map_.is_even() ? root_place : 0;
  const Line line = map_.is_even() ? Line::places : Line::leaders;
  for (std::uint32_t i = 0; rank_ == root && i < map_.ranks(); ++i)
    pack_part(sent[map_.in_node_order(i)], first, length, room(0) + i * length);
  if (node() == root_node)
    if (const Result result = here_pass(root_place, crosser, room(0), map_.ranks() * length); result != Result::ok)
      return result;
  char* const node_row = room(0) + map_.first(node()) * length;
  char* const own_row = node_row + place() * length;
  if (place() == crosser) {
    const bool scattered = wire_->scatter(line, room(0), node_bytes(length), root_node);
    if (const Result result = crossed(scattered); result != Result::ok) return result;
  }
  std::size_t sends = 0;
  for (std::uint32_t at = 0; place() == crosser && at < places(); ++at)
    if (at != crosser) sends_[sends++] = to_or_from(at, node_row + at * length, length);
  receives_[0] = to_or_from(crosser, own_row, length);
  if (const Result result = here_exchange(sends, place() == crosser ? 0 : 1); result != Result::ok) return result;
  if (own) unpack_part(*own, first, length, own_row);
  return Result::ok;
}

// What this node's ranks have for the ranks at a place, on all nodes, goes to who has that place here, who swaps it
// with those at the same place elsewhere.
Result Across::alltoall_piece(std::span<const Data> sent, std::span<const Data> received, std::size_t first,
                              std::size_t length) {
  const std::uint32_t nodes = map_.nodes(), here = places();
  const std::size_t column = nodes * length, row = here * length;
  for (std::uint32_t at = 0; at < here; ++at)
    for (std::uint32_t of = 0; of < nodes; ++of)
      pack_part(sent[map_.rank_at(of, at)], first, length, room(0) + at * column + of * length);
  std::size_t messages = 0;
  for (std::uint32_t at = 0; at < here; ++at) {
    if (at == place()) continue;
    sends_[messages] = to_or_from(at, room(0) + at * column, column);
    receives_[messages++] = to_or_from(at, room(1) + at * column, column);
  }
  if (const Result result = here_exchange(messages, messages); result != Result::ok) return result;
  std::memcpy(room(1) + place() * column, room(0) + place() * column, column);
  for (std::uint32_t of = 0; of < nodes; ++of)
    for (std::uint32_t at = 0; at < here; ++at)
      std::memcpy(room(2) + of * row + at * length, room(1) + at * column + of * length, length);
  if (const Result result = crossed(wire_->alltoall(Line::places, room(2), room(0), row)); result != Result::ok)
    return result;
  for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank)
    unpack_part(received[rank], first, length, room(0) + map_.node_of(rank) * row + map_.place_of(rank) * length);
  return Result::ok;
}

}  // namespace millrace::collective
