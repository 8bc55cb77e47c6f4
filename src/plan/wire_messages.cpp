#include "plan/wire_messages.h"

#include <algorithm>
#include <bit>

namespace millrace::plan {
namespace {

using collective::Kind;

std::uint64_t bytes_of(const WireCall& call, std::uint32_t block) {
  return call.bytes.size() == 1 ? call.bytes[0] : call.bytes[block % call.ranks];
}
// Of `count` blocks from `first` on, around the end.
std::uint64_t bytes_of_row(const WireCall& call, std::uint32_t first, std::uint32_t count) {
  if (call.bytes.size() == 1) return call.bytes[0] * count;
  std::uint64_t sum = 0;
  for (std::uint32_t block = first; block < first + count; ++block) sum += bytes_of(call, block);
  return sum;
}
// Of what all have, the part that one of them deals with.
std::uint64_t part_bytes(const WireCall& call, std::uint32_t part) {
  const std::uint64_t whole = call.bytes[0], before = part % call.ranks;
  return whole * (before + 1) / call.ranks - whole * before / call.ranks;
}

// Rank `distance` further, around the end.
std::uint32_t behind(const WireCall& call, std::uint32_t rank, std::uint32_t distance) {
  return (rank + distance) % call.ranks;
}
std::uint32_t from_root(const WireCall& call, std::uint32_t position) { return behind(call, call.root, position); }
// In a binomial tree, by positions counted from the root.
std::uint32_t parent_of(std::uint32_t position) { return position & (position - 1); }

void dissemination(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t distance = 1; distance < call.ranks; distance *= 2)
    for (std::uint32_t rank = 0; rank < call.ranks; ++rank) message(rank, behind(call, rank, distance), 0);
}

void bcast_tree(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t position = 1; position < call.ranks; ++position)
    message(from_root(call, parent_of(position)), from_root(call, position), call.bytes[0]);
}
void bcast_chain(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t position = 1; position < call.ranks; ++position)
    message(from_root(call, position - 1), from_root(call, position), call.bytes[0]);
}
void reduce_tree(const WireCall& call, const WireMessage& message) {
  bcast_tree(call, [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) { message(to, from, bytes); });
}
void reduce_chain(const WireCall& call, const WireMessage& message) {
  bcast_chain(call, [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) { message(to, from, bytes); });
}

// Who is beyond a power of two hands over to a neighbour before, and gets the result from it afterwards.
void allreduce_doubling(const WireCall& call, const WireMessage& message) {
  const std::uint32_t power = std::bit_floor(call.ranks), beyond = call.ranks - power;
  const auto rank_of = [&](std::uint32_t place) { return place < beyond ? 2 * place + 1 : place + beyond; };
  for (std::uint32_t pair = 0; pair < beyond; ++pair) {
    message(2 * pair, 2 * pair + 1, call.bytes[0]);
    message(2 * pair + 1, 2 * pair, call.bytes[0]);
  }
  for (std::uint32_t distance = 1; distance < power; distance *= 2)
    for (std::uint32_t place = 0; place < power; ++place)
      message(rank_of(place), rank_of(place ^ distance), call.bytes[0]);
}
// Parts go around once to be reduced and once to be told.
void allreduce_ring(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t step = 0; step < 2 * (call.ranks - 1); ++step)
    for (std::uint32_t rank = 0; rank < call.ranks; ++rank)
      message(rank, behind(call, rank, 1), part_bytes(call, rank + 2 * call.ranks - step));
}

void gather_linear(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank)
    if (rank != call.root) message(rank, call.root, bytes_of(call, rank));
}
void gather_tree(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t position = 1; position < call.ranks; ++position) {
    const std::uint32_t below = std::min(position & -position, call.ranks - position);
    const std::uint32_t rank = from_root(call, position);
    message(rank, from_root(call, parent_of(position)), bytes_of_row(call, rank, below));
  }
}
void scatter_linear(const WireCall& call, const WireMessage& message) {
  gather_linear(call, [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) { message(to, from, bytes); });
}
void scatter_tree(const WireCall& call, const WireMessage& message) {
  gather_tree(call, [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) { message(to, from, bytes); });
}

void allgather_ring(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t step = 0; step + 1 < call.ranks; ++step)
    for (std::uint32_t rank = 0; rank < call.ranks; ++rank)
      message(rank, behind(call, rank, 1), bytes_of(call, rank + call.ranks - step));
}
void allgather_doubling(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t distance = 1; distance < call.ranks; distance *= 2)
    for (std::uint32_t rank = 0; rank < call.ranks; ++rank)
      message(rank, behind(call, rank, call.ranks - distance),
              bytes_of_row(call, rank, std::min(distance, call.ranks - distance)));
}

void reduce_scatter_pairwise(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t distance = 1; distance < call.ranks; ++distance)
    for (std::uint32_t rank = 0; rank < call.ranks; ++rank)
      message(rank, behind(call, rank, distance), bytes_of(call, behind(call, rank, distance)));
}
// What the blocks of an alltoall come to is known of one rank; two swap as many as both of them have with that one.
std::uint64_t swapped_bytes(const WireCall& call, std::uint32_t one, std::uint32_t other) {
  if (call.bytes.size() == 1) return call.bytes[0];
  const std::uint64_t of_root = call.bytes[call.root];
  return of_root == 0 ? 0 : std::uint64_t{call.bytes[one]} * call.bytes[other] / of_root;
}
void alltoall_pairwise(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t distance = 1; distance < call.ranks; ++distance)
    for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
      const std::uint32_t other = behind(call, rank, distance);
      message(rank, other, swapped_bytes(call, rank, other));
    }
}
// A block goes on by each power of two that is in the way it has to go.
void alltoall_doubling(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t distance = 1; distance < call.ranks; distance *= 2) {
    const auto bytes_at = [&](std::uint32_t rank) {
      std::uint64_t bytes = 0;
      for (std::uint32_t way = distance; way < call.ranks; way = (way + 1) | distance) {
        const std::uint32_t from = behind(call, rank, call.ranks - (way & (distance - 1)));
        bytes += swapped_bytes(call, from, behind(call, from, way));
      }
      return bytes;
    };
    const std::uint64_t first_bytes = bytes_at(0);
    for (std::uint32_t rank = 0; rank < call.ranks; ++rank)
      message(rank, behind(call, rank, distance), call.bytes.size() == 1 ? first_bytes : bytes_at(rank));
  }
}

void reduce_scatter_ring(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t step = 1; step < call.ranks; ++step)
    for (std::uint32_t rank = 0; rank < call.ranks; ++rank)
      message(rank, behind(call, rank, 1), bytes_of(call, rank + call.ranks - step));
}

// Who is beyond a power of two hands all over to a neighbour before, and gets its block afterwards; the others send the
// half that is not theirs, then half of that.
void reduce_scatter_halving(const WireCall& call, const WireMessage& message) {
  const std::uint32_t power = std::bit_floor(call.ranks), beyond = call.ranks - power;
  const auto first_of = [&](std::uint32_t place) { return place < beyond ? 2 * place : place + beyond; };
  const auto rank_of = [&](std::uint32_t place) { return place < beyond ? 2 * place + 1 : place + beyond; };
  const std::uint64_t all = bytes_of_row(call, 0, call.ranks);
  for (std::uint32_t pair = 0; pair < beyond; ++pair) {
    message(2 * pair, 2 * pair + 1, all);
    message(2 * pair + 1, 2 * pair, bytes_of(call, 2 * pair));
  }
  for (std::uint32_t distance = power / 2; distance > 0; distance /= 2)
    for (std::uint32_t place = 0; place < power; ++place) {
      const std::uint32_t begin = (place ^ distance) / distance * distance, end = begin + distance;
      const std::uint32_t first = first_of(begin), last = end == power ? call.ranks : first_of(end);
      message(rank_of(place), rank_of(place ^ distance), bytes_of_row(call, first, last - first));
    }
}

void scan_linear(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t rank = 1; rank < call.ranks; ++rank) message(rank - 1, rank, call.bytes[0]);
}
void scan_doubling(const WireCall& call, const WireMessage& message) {
  for (std::uint32_t distance = 1; distance < call.ranks; distance *= 2)
    for (std::uint32_t rank = distance; rank < call.ranks; ++rank) message(rank - distance, rank, call.bytes[0]);
}

constexpr WireAlgorithm table[] = {
    {Kind::barrier, "dissemination", dissemination},
    {Kind::bcast, "binomial tree", bcast_tree},
    {Kind::bcast, "chain", bcast_chain},
    {Kind::reduce, "binomial tree", reduce_tree},
    {Kind::reduce, "chain", reduce_chain},
    {Kind::allreduce, "recursive doubling", allreduce_doubling},
    {Kind::allreduce, "ring", allreduce_ring},
    {Kind::gather, "linear", gather_linear},
    {Kind::gather, "binomial tree", gather_tree},
    {Kind::scatter, "linear", scatter_linear},
    {Kind::scatter, "binomial tree", scatter_tree},
    {Kind::allgather, "ring", allgather_ring},
    {Kind::allgather, "doubling", allgather_doubling},
    {Kind::alltoall, "pairwise", alltoall_pairwise},
    {Kind::alltoall, "doubling", alltoall_doubling},
    {Kind::reduce_scatter, "pairwise", reduce_scatter_pairwise},
    {Kind::reduce_scatter, "ring", reduce_scatter_ring},
    {Kind::reduce_scatter, "recursive halving", reduce_scatter_halving},
    {Kind::scan, "linear", scan_linear},
    {Kind::scan, "doubling", scan_doubling},
    {Kind::exscan, "linear", scan_linear},
    {Kind::exscan, "doubling", scan_doubling},
};

}  // namespace

std::span<const WireAlgorithm> wire_algorithms() { return table; }

void add_traffic(const WireAlgorithm& algorithm, const WireCall& call, std::uint64_t times,
                 std::span<const std::uint32_t> node_of, std::span<NodeTraffic> nodes) {
  algorithm.list(call, [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    if (node_of[from] == node_of[to]) return;
    nodes[node_of[from]].messages_out += times;
    nodes[node_of[from]].bytes_out += times * bytes;
    nodes[node_of[to]].bytes_in += times * bytes;
  });
}

}  // namespace millrace::plan
