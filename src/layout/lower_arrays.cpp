// MPI_Type_create_subarray and MPI_Type_create_darray (MPI-5.0, 5.1.3 and 5.1.4): one dimension after the other, the
// one whose elements are neighbours first.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "layout/checked.h"
#include "layout/lower.h"

namespace millrace::layout {
namespace {

std::int64_t round_up_quotient(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

// Calls step(dimension, stride_bytes) from the fastest dimension to the slowest; returns the bytes of the whole array.
template <class Step>
std::int64_t for_dimensions(const Description& description, std::int64_t element_bytes, const Step& step) {
  const std::size_t dimensions = description.sizes.size();
  std::int64_t stride = element_bytes;
  for (std::size_t k = 0; k < dimensions; ++k) {
    const std::size_t d = description.order == Order::fortran ? k : dimensions - 1 - k;
    step(d, stride);
    stride = times(stride, description.sizes[d]);
  }
  return stride;
}

Meaning whole_array(const Meaning& child, Item item, std::int64_t array_bytes) {
  Meaning result;
  result.item = std::move(item);
  result.has_bounds = result.is_marked = true;
  result.ub = array_bytes;
  result.alignment = child.alignment;
  return result;
}

// What one process has of one dimension.
struct Share {
  std::int64_t size;       // of the dimension, in elements
  std::int64_t block;      // elements that go to one process at a time
  std::int64_t processes;  // along the dimension
  std::int64_t place;      // of this process among them
};

Share share_of(const Description& description, std::size_t d, std::int64_t place) {
  const std::int64_t size = description.sizes[d], processes = description.process_sizes[d];
  const std::int64_t argument = description.distribution_arguments[d];
  const bool is_default = argument == default_distribution_argument;
  require(is_default || argument > 0);
  switch (description.distributions[d]) {
    case Distribution::none: require(processes == 1); return {size, std::max<std::int64_t>(size, 1), 1, 0};
    case Distribution::block: {
      const std::int64_t block = is_default ? std::max<std::int64_t>(round_up_quotient(size, processes), 1) : argument;
      require(is_default || times(block, processes) >= size);
      return {size, block, processes, place};
    }
    case Distribution::cyclic: return {size, is_default ? 1 : argument, processes, place};
  }
  throw Failure{Status::bad_argument};
}

// Whole blocks at a constant distance, then perhaps a shorter one.
Item distribute(const Share& share, const Item& element, std::int64_t stride_bytes) {
  const std::int64_t first = times(share.place, share.block), round = times(share.processes, share.block);
  if (first >= share.size) return {};
  const std::int64_t available = share.size - first;
  const std::int64_t whole = available < share.block ? 0 : (available - share.block) / round + 1;
  // Of the round after the whole blocks, what is left of the array.
  const std::int64_t rest_at = times(whole, round);
  const std::int64_t rest = rest_at < available ? std::min(available - rest_at, share.block) : 0;
  std::vector<Item> items;
  items.push_back(make_loop(whole, times(round, stride_bytes), make_loop(share.block, stride_bytes, element)));
  items.push_back(moved(make_loop(rest, stride_bytes, element), times(rest_at, stride_bytes)));
  return moved(join(std::move(items)), times(first, stride_bytes));
}

}  // namespace

Meaning lower_subarray(const Description& description, const Meaning& child) {
  const auto &sizes = description.sizes, &subsizes = description.subsizes, &starts = description.starts;
  require(!sizes.empty() && subsizes.size() == sizes.size() && starts.size() == sizes.size());
  Item item = child.item;
  const std::int64_t array_bytes = for_dimensions(description, child.extent(), [&](std::size_t d, std::int64_t stride) {
    require(sizes[d] >= 0 && subsizes[d] >= 0 && starts[d] >= 0 && subsizes[d] <= sizes[d] &&
            starts[d] <= sizes[d] - subsizes[d]);
    item = moved(make_loop(subsizes[d], stride, item), times(starts[d], stride));
  });
  return whole_array(child, std::move(item), array_bytes);
}

Meaning lower_darray(const Description& description, const Meaning& child) {
  const std::size_t dimensions = description.sizes.size();
  require(dimensions > 0 && description.distributions.size() == dimensions &&
          description.distribution_arguments.size() == dimensions && description.process_sizes.size() == dimensions);
  std::int64_t processes = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    require(description.sizes[d] >= 0 && description.process_sizes[d] > 0);
    processes = times(processes, description.process_sizes[d]);
  }
  require(processes == description.processes && description.rank >= 0 && description.rank < processes);
  // The grid of processes is in row-major order, whatever the order of the array.
  std::vector<std::int64_t> places(dimensions);
  std::int64_t left = description.rank;
  for (std::size_t d = dimensions; d-- > 0;) {
    places[d] = left % description.process_sizes[d];
    left /= description.process_sizes[d];
  }
  Item item = child.item;
  const std::int64_t array_bytes = for_dimensions(description, child.extent(), [&](std::size_t d, std::int64_t stride) {
    item = distribute(share_of(description, d, places[d]), item, stride);
  });
  return whole_array(child, std::move(item), array_bytes);
}

}  // namespace millrace::layout
