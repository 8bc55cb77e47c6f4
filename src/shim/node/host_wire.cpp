#include "shim/node/host_wire.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "abi.h"
#include "collective/across/across.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"
#include "shim/host/library_version.h"

namespace millrace::shim {

using collective::Line;
using collective::Reducer;
using collective::Result;

namespace {

Word word(std::size_t number) { return static_cast<Word>(number); }

// Parts that lie so are aligned as functions of the user may want it.
std::size_t padded(std::size_t bytes) { return (bytes + 63) & ~std::size_t{63}; }

std::size_t most_of(std::span<const std::size_t> sizes) { return *std::max_element(sizes.begin(), sizes.end()); }

}  // namespace

template <Symbol symbol, class... Words>
Result HostWire::call_host(Words... words) {
  if (const Result met = trips_.meet(); met != Result::ok) return met;
  announce_traffic();
  const InsideHost inside;
  return host<symbol>(words...) == 0 ? Result::ok : Result::rank_failed;
}

void HostWire::open(Word line, std::uint32_t nodes) {
  lengths_.resize(nodes);
  places_.resize(nodes);
  inputs_.resize(nodes);
  swapped_.resize(nodes);
  line_ = line;
  nodes_ = nodes;
  int own = 0;
  if (line != 0) host<Symbol::MPI_Comm_rank>(line, as_word(&own));
  node_ = static_cast<std::uint32_t>(own);
  if (line != 0) trips_.open(line, node_, nodes, host_facts().sent_at_once_bytes);
}

bool HostWire::lay_out(std::span<const std::size_t> sizes) {
  bool alike = true;
  std::size_t first = 0;
  for (std::size_t node = 0; node < sizes.size(); first += sizes[node++]) {
    lengths_[node] = static_cast<int>(sizes[node]);
    places_[node] = static_cast<int>(first);
    alike = alike && sizes[node] == sizes[0];
  }
  return alike;
}

void HostWire::fold_nodes(std::uint32_t nodes, const void* own, void* out, std::size_t elements,
                          const Reducer& reducer) {
  for (std::uint32_t node = 0; node < nodes; ++node) inputs_[node] = node == node_ ? own : trips_.data_of(node);
  collective::fold(reducer, inputs_.data(), nodes, out, elements, trips_.scratch());
}

Result HostWire::barrier(Line) { return trips_.meet(); }

Result HostWire::bcast(Line, void* data, std::size_t bytes, std::uint32_t root) {
  if (trips_.takes_down(bytes)) return trips_.down(data, bytes, root);
  return call_host<Symbol::MPI_Bcast>(as_word(data), word(bytes), abi::byte_type(), word(root), line_);
}

Result HostWire::bcast_pieces(Line line, char* data, std::size_t bytes, std::size_t piece_bytes, std::uint32_t root,
                              const collective::PieceSteps& steps) {
  if (trips_.takes_along(bytes, piece_bytes))
    return trips_.along({data, bytes, collective::Across::bcast_given_bytes}, piece_bytes, root, steps);
  return Wire::bcast_pieces(line, data, bytes, piece_bytes, root, steps);
}

bool HostWire::takes_parts(std::size_t part_bytes, std::span<char> spare) const {
  return trips_.takes_parts() && padded(part_bytes) * (nodes_ + 1) <= spare.size();
}

char* HostWire::part_place(std::span<char> spare, std::size_t part_bytes, std::uint32_t index) {
  return spare.data() + padded(part_bytes) * index;
}

template <class PartOf>
Result HostWire::reduce_parts(PartOf part_of, void* out, std::size_t most_bytes, const Reducer& reducer,
                              std::span<char> spare) {
  const LineTrips::Part own = part_of(node_);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    const LineTrips::Part part = part_of(node);
    char* const place = part_place(spare, most_bytes, node);
    swapped_[node] = {part.data, part.bytes, place, own.bytes};
    inputs_[node] = node == node_ ? own.data : place;
  }
  if (const Result met = trips_.meet(); met != Result::ok) return met;
  if (const Result result = trips_.swap_parts(swapped_); result != Result::ok) return result;
  if (own.bytes != 0)
    collective::fold(reducer, inputs_.data(), nodes_, out, own.bytes / reducer.element_bytes,
                     part_place(spare, most_bytes, nodes_));
  return Result::ok;
}

Result HostWire::allreduce_parts(char* in_out, std::size_t elements, const Reducer& reducer, std::size_t most_bytes,
                                 std::span<char> spare) {
  const auto begin = [&](std::uint32_t node) { return elements * node / nodes_ * reducer.element_bytes; };
  const auto part_of = [&](std::uint32_t node) {
    return LineTrips::Part{in_out + begin(node), begin(node + 1) - begin(node)};
  };
  // Not to where the part is: it is one of what is folded.
  char* const reduced = part_place(spare, most_bytes, node_);
  if (const Result result = reduce_parts(part_of, reduced, most_bytes, reducer, spare); result != Result::ok)
    return result;
  const LineTrips::Part own = part_of(node_);
  for (std::uint32_t node = 0; node < nodes_; ++node)
    swapped_[node] = {reduced, own.bytes, in_out + begin(node), part_of(node).bytes};
  if (own.bytes != 0) std::memcpy(in_out + begin(node_), reduced, own.bytes);
  return trips_.swap_parts(swapped_);
}

Result HostWire::allreduce(Line, void* in_out, std::size_t elements, const Reducer& reducer, std::span<char> spare) {
  const std::size_t bytes = elements * reducer.element_bytes;
  const std::size_t most_part_bytes = (elements + nodes_ - 1) / nodes_ * reducer.element_bytes;
  if (!trips_.takes_all(bytes) && takes_parts(most_part_bytes, spare))
    return allreduce_parts(static_cast<char*>(in_out), elements, reducer, most_part_bytes, spare);
  if (!trips_.takes_all(bytes))
    return call_host<Symbol::MPI_Allreduce>(abi::in_place, as_word(in_out), word(elements), reducer.host_type,
                                            reducer.host_op, line_);
  std::memcpy(trips_.own_data(), in_out, bytes);
  if (const Result result = trips_.all_to_all(bytes); result != Result::ok) return result;
  fold_nodes(nodes_, trips_.own_data(), in_out, elements, reducer);
  return Result::ok;
}

Result HostWire::reduce(Line, const void* in, void* out, std::size_t elements, const Reducer& reducer,
                        std::uint32_t root) {
  const std::size_t bytes = elements * reducer.element_bytes;
  if (!trips_.takes_each(bytes))
    return call_host<Symbol::MPI_Reduce>(as_word(in), as_word(out), word(elements), reducer.host_type, reducer.host_op,
                                         word(root), line_);
  if (const Result result = trips_.up(in, bytes, root); result != Result::ok) return result;
  if (node_ == root) fold_nodes(nodes_, in, out, elements, reducer);
  return Result::ok;
}

Result HostWire::reduce_scatter(Line, const void* in, void* out, std::span<const std::size_t> counts,
                                const Reducer& reducer, std::span<char> spare) {
  const bool alike = lay_out(counts);
  const char* const from = static_cast<const char*>(in);
  const auto part_of = [&](std::uint32_t node) {
    return LineTrips::Part{from + static_cast<std::size_t>(places_[node]) * reducer.element_bytes,
                           counts[node] * reducer.element_bytes};
  };
  const std::size_t most = most_of(counts) * reducer.element_bytes;
  if (trips_.takes_each(most)) {
    if (const Result result = trips_.swap(most, part_of); result != Result::ok) return result;
    if (counts[node_] != 0) fold_nodes(nodes_, part_of(node_).data, out, counts[node_], reducer);
    return Result::ok;
  }
  if (takes_parts(most, spare)) return reduce_parts(part_of, out, most, reducer, spare);
  if (alike)
    return call_host<Symbol::MPI_Reduce_scatter_block>(as_word(in), as_word(out), word(counts[0]), reducer.host_type,
                                                       reducer.host_op, line_);
  return call_host<Symbol::MPI_Reduce_scatter>(as_word(in), as_word(out), as_word(lengths_.data()), reducer.host_type,
                                               reducer.host_op, line_);
}

Result HostWire::exscan(Line, void* in_out, std::size_t elements, const Reducer& reducer) {
  const std::size_t bytes = elements * reducer.element_bytes;
  if (!trips_.takes_all(bytes))
    return call_host<Symbol::MPI_Exscan>(abi::in_place, as_word(in_out), word(elements), reducer.host_type,
                                         reducer.host_op, line_);
  std::memcpy(trips_.own_data(), in_out, bytes);
  if (const Result result = trips_.all_to_all(bytes); result != Result::ok) return result;
  if (node_ != 0) fold_nodes(node_, nullptr, in_out, elements, reducer);
  return Result::ok;
}

Result HostWire::allgather(Line, char* all, std::span<const std::size_t> bytes) {
  const bool alike = lay_out(bytes);
  if (const std::size_t most = most_of(bytes); trips_.takes_all(most)) {
    std::memcpy(trips_.own_data(), all + places_[node_], bytes[node_]);
    if (const Result result = trips_.all_to_all(most); result != Result::ok) return result;
    for (std::uint32_t node = 0; node < nodes_; ++node)
      if (node != node_) std::memcpy(all + places_[node], trips_.data_of(node), bytes[node]);
    return Result::ok;
  }
  const Word type = abi::byte_type();
  if (alike) return call_host<Symbol::MPI_Allgather>(abi::in_place, 0, type, as_word(all), word(bytes[0]), type, line_);
  return call_host<Symbol::MPI_Allgatherv>(abi::in_place, 0, type, as_word(all), as_word(lengths_.data()),
                                           as_word(places_.data()), type, line_);
}

// Places are numbers of bytes in an int.
bool HostWire::reaches(std::span<char* const> blocks, std::size_t bytes) const {
  const auto [first, last] = std::ranges::minmax(blocks);
  return static_cast<std::size_t>(last - first) + bytes <= std::size_t{std::numeric_limits<int>::max()};
}

Result HostWire::allgather_rows(Line, std::span<char* const> blocks, std::size_t bytes) {
  if (trips_.takes_all(bytes)) {
    std::memcpy(trips_.own_data(), blocks[node_], bytes);
    if (const Result result = trips_.all_to_all(bytes); result != Result::ok) return result;
    for (std::uint32_t node = 0; node < nodes_; ++node)
      if (node != node_) std::memcpy(blocks[node], trips_.data_of(node), bytes);
    return Result::ok;
  }
  // The same call on all members, however their blocks lie.
  char* const first = *std::ranges::min_element(blocks);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    lengths_[node] = static_cast<int>(bytes);
    places_[node] = static_cast<int>(blocks[node] - first);
  }
  const Word type = abi::byte_type();
  return call_host<Symbol::MPI_Allgatherv>(abi::in_place, 0, type, as_word(first), as_word(lengths_.data()),
                                           as_word(places_.data()), type, line_);
}

Result HostWire::gather(Line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) {
  const bool alike = lay_out(bytes), receives = node_ == root;
  if (const std::size_t most = most_of(bytes); trips_.takes_each(most)) {
    if (const Result result = trips_.up(all + places_[node_], most, root); result != Result::ok) return result;
    for (std::uint32_t node = 0; receives && node < nodes_; ++node)
      if (node != node_) std::memcpy(all + places_[node], trips_.data_of(node), bytes[node]);
    return Result::ok;
  }
  const Word type = abi::byte_type(), own_length = word(bytes[node_]);
  const Word own = receives ? abi::in_place : as_word(all + places_[node_]), to = receives ? as_word(all) : 0;
  if (alike) return call_host<Symbol::MPI_Gather>(own, own_length, type, to, own_length, type, word(root), line_);
  return call_host<Symbol::MPI_Gatherv>(own, own_length, type, to, as_word(lengths_.data()), as_word(places_.data()),
                                        type, word(root), line_);
}

Result HostWire::scatter(Line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) {
  const bool alike = lay_out(bytes), sends = node_ == root;
  const auto part_of = [&](std::uint32_t node) { return LineTrips::Part{all + places_[node], bytes[node]}; };
  if (trips_.takes_each(most_of(bytes))) return trips_.apart(all + places_[node_], bytes[node_], root, part_of);
  const Word type = abi::byte_type(), own_length = word(bytes[node_]);
  const Word own = sends ? abi::in_place : as_word(all + places_[node_]), from = sends ? as_word(all) : 0;
  if (alike) return call_host<Symbol::MPI_Scatter>(from, own_length, type, own, own_length, type, word(root), line_);
  return call_host<Symbol::MPI_Scatterv>(from, as_word(lengths_.data()), as_word(places_.data()), type, own, own_length,
                                         type, word(root), line_);
}

Result HostWire::alltoall(Line, const char* in, char* out, std::span<const std::size_t> bytes, std::size_t most_bytes) {
  const bool alike = lay_out(bytes);
  const auto part_of = [&](std::uint32_t node) { return LineTrips::Part{in + places_[node], bytes[node]}; };
  if (trips_.takes_each(most_bytes)) {
    if (const Result result = trips_.swap(most_bytes, part_of); result != Result::ok) return result;
    for (std::uint32_t node = 0; node < nodes_; ++node)
      std::memcpy(out + places_[node], node == node_ ? part_of(node).data : trips_.data_of(node), bytes[node]);
    return Result::ok;
  }
  const Word type = abi::byte_type(), from = as_word(in), to = as_word(out);
  if (alike) return call_host<Symbol::MPI_Alltoall>(from, word(bytes[0]), type, to, word(bytes[0]), type, line_);
  const Word lengths = as_word(lengths_.data()), begins = as_word(places_.data());
  return call_host<Symbol::MPI_Alltoallv>(from, lengths, begins, type, to, lengths, begins, type, line_);
}

}  // namespace millrace::shim
