#include "model/nodes.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace millrace::model {

using collective::Kind;
using collective::Line;
using collective::Reducer;
using collective::Result;

WireTime wire_time(Kind kind, std::uint32_t nodes, std::size_t bytes, const WireCosts& costs,
                   double fold_bytes_per_ns) {
  const double rounds = std::bit_width(nodes - 1);
  const double whole_ns = static_cast<double>(bytes) / costs.bytes_per_ns;
  const double fold_ns = static_cast<double>(bytes) / fold_bytes_per_ns;
  // All parts but one's own.
  const double others = (nodes - 1.0) / nodes;
  const auto sooner = [](const WireTime& a, const WireTime& b) { return a.total_ns <= b.total_ns ? a : b; };
  switch (kind) {
    case Kind::barrier: return {rounds * costs.latency_ns, 0};
    case Kind::bcast:
      return sooner({rounds * (costs.latency_ns + whole_ns), whole_ns},
                    {(rounds + nodes - 1) * costs.latency_ns + 2 * others * whole_ns, 2 * others * whole_ns});
    default:  // Reduce and Allreduce
      return sooner({rounds * (costs.latency_ns + whole_ns + fold_ns), rounds * whole_ns},
                    {2 * rounds * costs.latency_ns + 2 * others * whole_ns + others * fold_ns, 2 * others * whole_ns});
  }
}

void ModelWire::cross(Kind kind, std::size_t bytes) {
  const WireTime time = wire_time(kind, nodes_, bytes, costs_, fold_bytes_per_ns_);
  clockwork_.crossed(time.total_ns, time.wire_ns);
}

Result ModelWire::barrier(Line) {
  cross(Kind::barrier, 0);
  return Result::ok;
}

Result ModelWire::bcast(Line, void* data, std::size_t bytes, std::uint32_t) {
  cross(Kind::bcast, bytes);
  fill_(Kind::bcast, data, bytes);
  return Result::ok;
}

Result ModelWire::allreduce(Line, void* in_out, std::size_t elements, const Reducer& reducer, std::span<char>) {
  const std::size_t bytes = elements * reducer.element_bytes;
  cross(Kind::allreduce, bytes);
  fill_(Kind::allreduce, in_out, bytes);
  return Result::ok;
}

Result ModelWire::reduce(Line, const void* in, void* out, std::size_t elements, const Reducer& reducer, std::uint32_t) {
  const std::size_t bytes = elements * reducer.element_bytes;
  cross(Kind::reduce, bytes);
  std::memcpy(out, in, bytes);
  fill_(Kind::reduce, out, bytes);
  return Result::ok;
}

Result ModelHere::barrier() { return here_.barrier(); }

Result ModelHere::bcast(void* data, std::size_t bytes, std::uint32_t root) { return here_.bcast(data, bytes, root); }

Result ModelHere::reduce(const void* in, void* out, std::size_t elements, const Reducer& reducer, std::uint32_t root) {
  return here_.reduce(in, out, elements, reducer, root);
}

Result ModelHere::reduce_scatter(const void* in, void* out, const collective::Blocking& blocks,
                                 const Reducer& reducer) {
  return here_.reduce_scatter(in, out, blocks, reducer);
}

Result ModelHere::scan(const void* in, void* out, std::size_t elements, const Reducer& reducer, bool inclusive) {
  return here_.scan(in, out, elements, reducer, inclusive);
}

Result ModelHere::exchange(std::uint64_t label, std::span<const collective::Message> sends,
                           std::span<const collective::Message> receives) {
  return here_.exchange(label, sends, receives);
}

void ModelHere::fail(Result result) { here_.fail(result); }

Result ModelHere::publish(std::uint64_t label, const collective::Data& own, std::span<const collective::Data> receives,
                          std::size_t block_bytes) {
  const Result result = here_.publish(label, own, receives, block_bytes);
  double bytes = 0;
  for (const collective::Data& each : receives) bytes += static_cast<double>(each.bytes);
  const double line = costs_.line_ns[static_cast<std::size_t>(Distance::package)];
  const double rate = std::min(
      {costs_.copy_bytes_per_ns, costs_.lines_at_once * 64 / line, costs_.package_bytes_per_ns / group_.ranks()});
  clockwork_.spend(bytes / rate);
  return result;
}

}  // namespace millrace::model
