#include "shim/node/host_wire.h"

#include "abi.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"

namespace millrace::shim {
namespace {

using collective::Line;
using collective::Reducer;

// One call of the host, said to the others of the node that may sleep.
template <Symbol symbol, class... Words>
bool call_host(Words... words) {
  announce_traffic();
  const InsideHost inside;
  return host<symbol>(words...) == 0;
}

Word word(std::size_t number) { return static_cast<Word>(number); }

}  // namespace

void HostWire::open(Word line, std::uint32_t nodes) {
  lengths_.resize(nodes);
  places_.resize(nodes);
  line_ = line;
  int own = 0;
  if (line != 0) host<Symbol::MPI_Comm_rank>(line, as_word(&own));
  node_ = static_cast<std::uint32_t>(own);
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

bool HostWire::barrier(Line) { return call_host<Symbol::MPI_Barrier>(line_); }

bool HostWire::bcast(Line, void* data, std::size_t bytes, std::uint32_t root) {
  return call_host<Symbol::MPI_Bcast>(as_word(data), word(bytes), abi::byte_type(), word(root), line_);
}

bool HostWire::allreduce(Line, void* in_out, std::size_t elements, const Reducer& reducer) {
  return call_host<Symbol::MPI_Allreduce>(abi::in_place, as_word(in_out), word(elements), reducer.host_type,
                                          reducer.host_op, line_);
}

bool HostWire::reduce(Line, const void* in, void* out, std::size_t elements, const Reducer& reducer,
                      std::uint32_t root) {
  return call_host<Symbol::MPI_Reduce>(as_word(in), as_word(out), word(elements), reducer.host_type, reducer.host_op,
                                       word(root), line_);
}

bool HostWire::reduce_scatter(Line, const void* in, void* out, std::span<const std::size_t> counts,
                              const Reducer& reducer) {
  if (lay_out(counts))
    return call_host<Symbol::MPI_Reduce_scatter_block>(as_word(in), as_word(out), word(counts[0]), reducer.host_type,
                                                       reducer.host_op, line_);
  return call_host<Symbol::MPI_Reduce_scatter>(as_word(in), as_word(out), as_word(lengths_.data()), reducer.host_type,
                                               reducer.host_op, line_);
}

bool HostWire::exscan(Line, void* in_out, std::size_t elements, const Reducer& reducer) {
  return call_host<Symbol::MPI_Exscan>(abi::in_place, as_word(in_out), word(elements), reducer.host_type,
                                       reducer.host_op, line_);
}

bool HostWire::allgather(Line, char* all, std::span<const std::size_t> bytes) {
  const Word type = abi::byte_type();
  if (lay_out(bytes))
    return call_host<Symbol::MPI_Allgather>(abi::in_place, 0, type, as_word(all), word(bytes[0]), type, line_);
  return call_host<Symbol::MPI_Allgatherv>(abi::in_place, 0, type, as_word(all), as_word(lengths_.data()),
                                           as_word(places_.data()), type, line_);
}

bool HostWire::gather(Line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) {
  const bool alike = lay_out(bytes), receives = node_ == root;
  const Word type = abi::byte_type(), own_length = word(bytes[node_]);
  const Word own = receives ? abi::in_place : as_word(all + places_[node_]), to = receives ? as_word(all) : 0;
  if (alike) return call_host<Symbol::MPI_Gather>(own, own_length, type, to, own_length, type, word(root), line_);
  return call_host<Symbol::MPI_Gatherv>(own, own_length, type, to, as_word(lengths_.data()), as_word(places_.data()),
                                        type, word(root), line_);
}

bool HostWire::scatter(Line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) {
  const bool alike = lay_out(bytes), sends = node_ == root;
  const Word type = abi::byte_type(), own_length = word(bytes[node_]);
  const Word own = sends ? abi::in_place : as_word(all + places_[node_]), from = sends ? as_word(all) : 0;
  if (alike) return call_host<Symbol::MPI_Scatter>(from, own_length, type, own, own_length, type, word(root), line_);
  return call_host<Symbol::MPI_Scatterv>(from, as_word(lengths_.data()), as_word(places_.data()), type, own, own_length,
                                         type, word(root), line_);
}

bool HostWire::alltoall(Line, const char* in, char* out, std::span<const std::size_t> bytes) {
  const Word type = abi::byte_type(), from = as_word(in), to = as_word(out);
  if (lay_out(bytes))
    return call_host<Symbol::MPI_Alltoall>(from, word(bytes[0]), type, to, word(bytes[0]), type, line_);
  const Word lengths = as_word(lengths_.data()), begins = as_word(places_.data());
  return call_host<Symbol::MPI_Alltoallv>(from, lengths, begins, type, to, lengths, begins, type, line_);
}

}  // namespace millrace::shim
