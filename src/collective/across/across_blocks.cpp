// Blocks of equal size: MPI_Allgather, MPI_Gather, MPI_Scatter, MPI_Alltoall; and MPI_Allgatherv, of which all ranks
// know each block's size.
#include <algorithm>
#include <cstring>

#include "base/hash.h"
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

// A leader whose nodes are of different size has the blocks of all of its node at a time.
std::size_t Across::piece_bytes(Kind kind) const {
  const std::size_t rows = kind == Kind::alltoall && !map_.is_even() ? map_.most_places() : 1;
  return room_bytes / (rows * map_.ranks());
}

Result Across::exchange_blocks(Kind kind, std::size_t bytes, std::span<const Data> sent, std::span<const Data> received,
                               std::uint32_t root) {
  if (const Result result = begin(kind, bytes, root); result != Result::ok) return result;
  const Data* const own_sent = sent.empty() ? nullptr : sent.data();
  const Data* const own_received = received.empty() ? nullptr : received.data();
  const bool shown = is_shown(kind, bytes);
  const std::size_t piece =
      shown ? std::min(shown_piece_bytes, rooms_.size() * room_bytes / map_.nodes()) : piece_bytes(kind);
  for (std::size_t first = 0; first < bytes; first += piece) {
    const std::size_t length = std::min(piece, bytes - first);
    Result result = Result::not_supported;
    switch (kind) {
      case Kind::allgather:
        result = shown ? allgather_shown(*own_sent, received, first, length)
                       : allgather_piece(*own_sent, received, first, length);
        break;
      case Kind::alltoall:
        result = map_.is_even() ? alltoall_piece(sent, received, first, length)
                                : alltoall_led(sent, received, first, length);
        break;
      case Kind::gather: result = gather_piece(own_sent, received, root, first, length); break;
      case Kind::scatter: result = scatter_piece(sent, own_received, root, first, length); break;
      default: break;
    }
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

Result Across::allgather_piece(const Data& own, std::span<const Data> received, std::size_t first, std::size_t length) {
  char* const node_row = room(0) + map_.first(node()) * length;
  pack_part(own, first, length, node_row + place() * length);
  std::size_t receives = 0;
  for (std::uint32_t at = 1; leads() && at < places(); ++at)
    receives_[receives++] = to_or_from(at, node_row + at * length, length);
  sends_[0] = to_or_from(0, node_row + place() * length, length);
  if (const Result result = here_exchange(leads() ? 0 : 1, receives); result != Result::ok) return result;
  if (leads()) {
    const Result gathered = wire_->allgather(Line::leaders, room(0), node_bytes(length));
    if (const Result result = stepped(gathered); result != Result::ok) return result;
  }
  if (const Result result = here_bcast(room(0), map_.ranks() * length, 0); result != Result::ok) return result;
  for (std::uint32_t i = 0; i < map_.ranks(); ++i)
    unpack_part(received[map_.in_node_order(i)], first, length, room(0) + i * length);
  return Result::ok;
}

// By what all ranks know: whether each gathers the blocks of its place.
bool Across::is_shown(Kind kind, std::size_t bytes) const {
  return kind == Kind::allgather && map_.is_even() && map_.most_places() > 1 && bytes > gathered_by_one_bytes;
}

// What comes over the wire, and what the others of this node show, is copied once: to where the program wants it. Only
// what is not to lie in a row goes through the rooms.
Result Across::allgather_shown(const Data& own, std::span<const Data> received, std::size_t first, std::size_t length) {
  const std::uint32_t nodes = map_.nodes();
  const auto row_of = [&](const Data& to) {
    return to.row && to.bytes >= first + length ? static_cast<char*>(to.row) + first : nullptr;
  };
  bool in_place = true;
  for (std::uint32_t of = 0; of < nodes; ++of) {
    columns_[of] = row_of(received[map_.rank_at(of, place())]);
    in_place = in_place && columns_[of];
  }
  const auto columns = std::span(columns_.get(), nodes);
  in_place = in_place && wire_->reaches({columns.data(), nodes}, length);
  for (std::uint32_t of = 0; !in_place && of < nodes; ++of) columns[of] = room(0) + of * length;
  char* const mine = columns[node()];
  if (!own.row || static_cast<char*>(own.row) + first != mine) pack_part(own, first, length, mine);
  const Result gathered = wire_->allgather_rows(Line::places, {columns.data(), nodes}, length);
  if (const Result result = stepped(gathered); result != Result::ok) return result;
  for (std::uint32_t of = 0; of < nodes; ++of) {
    for (std::uint32_t at = 0; at < places(); ++at)
      parts_[at] = at == place() ? Data{length, nullptr, nullptr, nullptr}
                                 : part_of(received[map_.rank_at(of, at)], first, length, data_parts_[at]);
    const Data shown{length, columns[of], nullptr, nullptr};
    const Result result = stepped(here_->publish(history_ >> 24, shown, {parts_.get(), places()}, length));
    if (result != Result::ok) return result;
  }
  for (std::uint32_t of = 0; !in_place && of < nodes; ++of)
    unpack_part(received[map_.rank_at(of, place())], first, length, columns[of]);
  return Result::ok;
}

Result Across::publish(const Data& own, std::span<const Data> received) {
  std::size_t most = 0;
  std::uint64_t sizes = 0;
  for (const Data& block : received) {
    most = std::max(most, block.bytes);
    sizes = spread(sizes ^ block.bytes) + 1;
  }
  if (const Result result = begin(Kind::allgather, sizes, 0); result != Result::ok) return result;
  const std::size_t piece = piece_bytes(Kind::allgather);
  for (std::size_t first = 0; first < most; first += piece)
    if (const Result result = publish_piece(own, received, first, std::min(piece, most - first)); result != Result::ok)
      return result;
  return own.bytes > received[rank_].bytes ? Result::truncated : Result::ok;
}

Result Across::publish_piece(const Data& own, std::span<const Data> received, std::size_t first, std::size_t length) {
  const auto part_of = [&](std::uint32_t rank) {
    return received[rank].bytes <= first ? 0 : std::min(length, received[rank].bytes - first);
  };
  std::size_t all = 0, node_begin = 0;
  for (std::uint32_t of = 0; of < map_.nodes(); ++of) {
    if (of == node()) node_begin = all;
    node_bytes_[of] = 0;
    for (std::uint32_t at = 0; at < map_.places(of); ++at) node_bytes_[of] += part_of(map_.rank_at(of, at));
    all += node_bytes_[of];
  }
  std::size_t receives = 0, sends = 0, begin = node_begin;
  for (std::uint32_t at = 0; at < places(); ++at) {
    const std::size_t part = part_of(map_.rank_at(node(), at));
    if (at == place()) pack_part(own, first, part, room(0) + begin);
    if (leads() && at != 0 && part != 0) receives_[receives++] = to_or_from(at, room(0) + begin, part);
    if (!leads() && at == place() && part != 0) sends_[sends++] = to_or_from(0, room(0) + begin, part);
    begin += part;
  }
  if (const Result result = here_exchange(sends, receives); result != Result::ok) return result;
  if (leads()) {
    const Result gathered = wire_->allgather(Line::leaders, room(0), {node_bytes_.get(), map_.nodes()});
    if (const Result result = stepped(gathered); result != Result::ok) return result;
  }
  if (const Result result = here_bcast(room(0), all, 0); result != Result::ok) return result;
  begin = 0;
  for (std::uint32_t i = 0; i < map_.ranks(); ++i) {
    const std::uint32_t rank = map_.in_node_order(i);
    unpack_part(received[rank], first, part_of(rank), room(0) + begin);
    begin += part_of(rank);
  }
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
    const Result gathered = wire_->gather(line, room(0), node_bytes(length), root_node);
    if (const Result result = stepped(gathered); result != Result::ok) return result;
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
    const Result scattered = wire_->scatter(line, room(0), node_bytes(length), root_node);
    if (const Result result = stepped(scattered); result != Result::ok) return result;
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
  std::fill_n(node_bytes_.get(), nodes, row);
  const Result swapped = wire_->alltoall(Line::places, room(2), room(0), {node_bytes_.get(), nodes}, row);
  if (const Result result = stepped(swapped); result != Result::ok) return result;
  for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank)
    unpack_part(received[rank], first, length, room(0) + map_.node_of(rank) * row + map_.place_of(rank) * length);
  return Result::ok;
}

// The same where nodes have not as many ranks: all of a node send by their leader, who gets what is for all of them.
Result Across::alltoall_led(std::span<const Data> sent, std::span<const Data> received, std::size_t first,
                            std::size_t length) {
  const std::size_t row = map_.ranks() * length, here = places();
  for (std::uint32_t i = 0; i < map_.ranks(); ++i)
    pack_part(sent[map_.in_node_order(i)], first, length, room(0) + i * length);
  std::size_t messages = 0;
  for (std::uint32_t at = 1; leads() && at < here; ++at)
    receives_[messages++] = to_or_from(at, room(1) + at * row, row);
  sends_[0] = to_or_from(0, room(0), row);
  if (const Result result = here_exchange(leads() ? 0 : 1, messages); result != Result::ok) return result;
  if (leads()) {
    std::memcpy(room(1), room(0), row);
    char* to = room(2);
    for (std::uint32_t of = 0; of < map_.nodes(); ++of) {
      const std::size_t part = map_.places(of) * length;
      for (std::size_t from = 0; from < here; ++from, to += part)
        std::memcpy(to, room(1) + from * row + map_.first(of) * length, part);
    }
    std::size_t most_places = 0;
    for (std::uint32_t of = 0; of < map_.nodes(); ++of)
      most_places = std::max<std::size_t>(most_places, map_.places(of));
    const Result swapped =
        wire_->alltoall(Line::leaders, room(2), room(0), node_bytes(here * length), most_places * most_places * length);
    if (const Result result = stepped(swapped); result != Result::ok) return result;
    // Now in node order of who sent: a block for each rank of this node.
    for (std::size_t i = 0; i < map_.ranks(); ++i)
      for (std::size_t at = 0; at < here; ++at)
        std::memcpy(room(1) + at * row + i * length, room(0) + (i * here + at) * length, length);
  }
  messages = 0;
  for (std::uint32_t at = 1; leads() && at < here; ++at) sends_[messages++] = to_or_from(at, room(1) + at * row, row);
  receives_[0] = to_or_from(0, room(1), row);
  if (const Result result = here_exchange(messages, leads() ? 0 : 1); result != Result::ok) return result;
  for (std::uint32_t i = 0; i < map_.ranks(); ++i)
    unpack_part(received[map_.in_node_order(i)], first, length, room(1) + i * length);
  return Result::ok;
}

}  // namespace millrace::collective
