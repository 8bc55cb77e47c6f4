#include "group_wire.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "collective/collective.h"

namespace millrace::collective::test {
namespace {

GroupShape shape_of(std::uint32_t ranks) {
  GroupShape shape;
  shape.ranks = ranks;
  return shape;
}

std::string open_group(Group& group, char* memory, std::uint32_t rank, std::uint32_t ranks) {
  if (group.join(memory, shape_of(ranks), rank, {}) != Status::ok) return "join failed";
  const Result result = group.start();
  return result == Result::ok ? "" : fmt::format("start: {}", result_name(result));
}

Message row(std::uint32_t peer, const char* data, std::size_t bytes) {
  return {peer, {bytes, const_cast<char*>(data), nullptr, nullptr}};
}

// Each node's row of some that lie one behind the other.
std::vector<Message> rows(char* all, std::span<const std::size_t> bytes, std::uint32_t without) {
  std::vector<Message> found;
  for (std::uint32_t node = 0; node < bytes.size(); all += bytes[node++])
    if (node != without) found.push_back(row(node, all, bytes[node]));
  return found;
}
char* own_row(char* all, std::span<const std::size_t> bytes, std::uint32_t node) {
  for (std::uint32_t before = 0; before < node; ++before) all += bytes[before];
  return all;
}

// As a wire that puts what it likes there.
void spoil(std::span<char> spare) { std::ranges::fill(spare, '\xa5'); }

}  // namespace

PretendedNodes::PretendedNodes(std::vector<std::uint32_t> node_names) : names_(std::move(node_names)) {
  segment_bytes_ = millrace::collective::segment_bytes(shape_of(ranks()));
  bytes_ = segment_bytes_ * (2 * names_.size() + 1);
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  base_ = static_cast<char*>(memory);
}
PretendedNodes::~PretendedNodes() { munmap(base_, bytes_); }

std::string PretendedRank::join(const PretendedNodes& nodes, std::uint32_t rank) {
  NodeMap map;
  if (!map.build(nodes.names())) return "no map";
  const std::uint32_t node = map.node_of(rank), place = map.place_of(rank), places = map.places(node);
  std::string wrong;
  if (places > 1) wrong = open_group(here_, nodes.segment(node), place, places);
  if (wrong.empty() && place == 0) wrong = open_group(wire_.leaders, nodes.segment(nodes.ranks()), node, map.nodes());
  if (wrong.empty() && map.is_even())
    wrong = open_group(wire_.places, nodes.segment(nodes.ranks() + 1 + place), node, map.nodes());
  if (!wrong.empty()) return wrong;
  Across::Limits limits;
  for (std::uint32_t each = 0; each < map.nodes(); ++each)
    limits.most_element_bytes = std::min<std::size_t>(limits.most_element_bytes, (64 << 10) / map.places(each));
  if (!across_.open(std::move(map), rank, places > 1 ? &steps_here_ : nullptr, wire_, limits)) return "no memory";
  group_.span(across_, standard_selection());
  return "";
}

void PretendedRank::give_up() {
  across_.fail(Result::peer_died);
  wire_.refuse();
}

void PretendedRank::GroupWire::refuse() {
  for (Group* const group : {&leaders, &places})
    if (group->ranks() != 0) group->fail(Result::mismatch);
}

Result PretendedRank::GroupWire::barrier(Line line) { return collective::barrier(of(line)); }

Result PretendedRank::GroupWire::bcast(Line line, void* data, std::size_t bytes, std::uint32_t root) {
  return collective::bcast(of(line), data, bytes, root);
}

Result PretendedRank::GroupWire::allreduce(Line line, void* in_out, std::size_t elements, const Reducer& reducer,
                                           std::span<char> spare) {
  spoil(spare);
  return collective::allreduce(of(line), in_out, in_out, elements, reducer);
}

Result PretendedRank::GroupWire::reduce(Line line, const void* in, void* out, std::size_t elements,
                                        const Reducer& reducer, std::uint32_t root) {
  return collective::reduce(of(line), in, out, elements, reducer, root);
}

Result PretendedRank::GroupWire::reduce_scatter(Line line, const void* in, void* out,
                                                std::span<const std::size_t> counts, const Reducer& reducer,
                                                std::span<char> spare) {
  spoil(spare);
  std::vector<std::size_t> begins(counts.size());
  return collective::reduce_scatter(of(line), in, out, Blocking(counts, begins), reducer);
}

Result PretendedRank::GroupWire::exscan(Line line, void* in_out, std::size_t elements, const Reducer& reducer) {
  return collective::exscan(of(line), in_out, of(line).rank() == 0 ? nullptr : in_out, elements, reducer);
}

Result PretendedRank::GroupWire::allgather(Line line, char* all, std::span<const std::size_t> bytes) {
  Group& group = of(line);
  std::vector<Data> receives(bytes.size());
  for (const Message& each : rows(all, bytes, group.rank())) receives[each.peer] = each.data;
  const Data own{bytes[group.rank()], own_row(all, bytes, group.rank()), nullptr, nullptr};
  receives[group.rank()].bytes = own.bytes;
  return publish(group, Kind::allgather, 0, own, receives);
}

bool PretendedRank::GroupWire::reaches(std::span<char* const> blocks, std::size_t bytes) const {
  const auto [first, last] = std::ranges::minmax(blocks);
  return static_cast<std::size_t>(last - first) + bytes <= std::size_t{std::numeric_limits<int>::max()};
}

Result PretendedRank::GroupWire::allgather_rows(Line line, std::span<char* const> blocks, std::size_t bytes) {
  Group& group = of(line);
  std::vector<Data> receives;
  for (std::uint32_t node = 0; node < blocks.size(); ++node)
    receives.push_back({bytes, node == group.rank() ? nullptr : blocks[node], nullptr, nullptr});
  return publish(group, Kind::allgather, 0, {bytes, blocks[group.rank()], nullptr, nullptr}, receives);
}

Result PretendedRank::GroupWire::gather(Line line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) {
  Group& group = of(line);
  if (group.rank() == root) return exchange(group, Kind::gather, root, {}, rows(all, bytes, root));
  const Message own = row(root, own_row(all, bytes, group.rank()), bytes[group.rank()]);
  return exchange(group, Kind::gather, root, {&own, 1}, {});
}

Result PretendedRank::GroupWire::scatter(Line line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) {
  Group& group = of(line);
  if (group.rank() == root) return exchange(group, Kind::scatter, root, rows(all, bytes, root), {});
  const Message own = row(root, own_row(all, bytes, group.rank()), bytes[group.rank()]);
  return exchange(group, Kind::scatter, root, {}, {&own, 1});
}

Result PretendedRank::GroupWire::alltoall(Line line, const char* in, char* out, std::span<const std::size_t> bytes,
                                          std::size_t most_bytes) {
  Group& group = of(line);
  std::vector<Message> sends, receives;
  for (std::uint32_t node = 0; node < group.ranks(); ++node) {
    if (node != group.rank() && bytes[node] > most_bytes) return Result::truncated;
    sends.push_back(row(node, in, bytes[node]));
    receives.push_back(row(node, out, bytes[node]));
    in += bytes[node];
    out += bytes[node];
  }
  // By the label of the call, all have to give the same.
  return exchange(group, Kind::alltoall, static_cast<std::uint32_t>(most_bytes), sends, receives);
}

}  // namespace millrace::collective::test
