#include "random_description.h"

#include <algorithm>
#include <utility>

#include "layout/notation.h"

namespace millrace::layout::test {
namespace {

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}
bool one_in(Random& random, unsigned n) { return random() % n == 0; }

// Small, often 1 or 0, seldom dozens.
std::int64_t count_of(Random& random) {
  if (one_in(random, 30)) return 0;
  return one_in(random, 8) ? between(random, 1, 40) : between(random, 1, 5);
}

// Displacements as programs have them: scattered, ascending with gaps or without, at a stride, in repeating groups.
std::vector<std::int64_t> displacements_of(Random& random, std::size_t size, std::int64_t unit) {
  std::vector<std::int64_t> result(size);
  const auto kind = random() % 5;
  const std::int64_t stride = between(random, -6, 9) * unit;
  const std::size_t group = 1 + random() % 4;
  std::int64_t at = between(random, -8, 8) * unit;
  for (std::size_t i = 0; i < size; ++i) {
    if (kind == 0) result[i] = between(random, -64, 64) * unit;
    if (kind == 1) result[i] = at += between(random, 0, 4) * unit;
    if (kind == 2) result[i] = at += stride;
    if (kind == 3) result[i] = at += (i % group ? 2 : 7) * unit;
    if (kind == 4) result[i] = at += between(random, 3, 9) * unit;
  }
  return result;
}

std::vector<std::int64_t> lengths_of(Random& random, std::size_t size) {
  std::vector<std::int64_t> result(size);
  const std::int64_t all = one_in(random, 20) ? 0 : between(random, 1, 4);
  const bool equal = one_in(random, 2);
  for (auto& length : result) length = equal ? all : between(random, 0, 3);
  return result;
}

void make_subarray(Random& random, Description& d) {
  const std::size_t dimensions = 1 + random() % 4;
  d.order = one_in(random, 2) ? Order::c : Order::fortran;
  for (std::size_t k = 0; k < dimensions; ++k) {
    d.sizes.push_back(between(random, 1, 6));
    d.subsizes.push_back(one_in(random, 2) ? d.sizes[k] : between(random, one_in(random, 40) ? 0 : 1, d.sizes[k]));
    d.starts.push_back(between(random, 0, d.sizes[k] - d.subsizes[k]));
  }
}

void make_darray(Random& random, Description& d) {
  const std::size_t dimensions = 1 + random() % 3;
  d.order = one_in(random, 2) ? Order::c : Order::fortran;
  d.processes = 1;
  for (std::size_t k = 0; k < dimensions; ++k) {
    const std::int64_t size = between(random, 2, 12);
    const auto kind = static_cast<Distribution>(random() % 3);
    const std::int64_t processes = kind == Distribution::none ? 1 : between(random, 1, 4);
    std::int64_t argument = default_distribution_argument;
    if (kind == Distribution::cyclic && one_in(random, 2)) argument = between(random, 1, 4);
    if (kind == Distribution::block && one_in(random, 2))
      argument = (size + processes - 1) / processes + (random() % 2);
    d.sizes.push_back(size);
    d.distributions.push_back(kind);
    d.distribution_arguments.push_back(argument);
    d.process_sizes.push_back(processes);
    d.processes *= processes;
  }
  d.rank = between(random, 0, d.processes - 1);
}

void make_struct(Random& random, Description& d, int depth) {
  const std::size_t size = one_in(random, 20) ? 0 : 1 + random() % 6;
  const bool in_order = one_in(random, 2);
  std::int64_t at = between(random, -16, 16);
  for (std::size_t i = 0; i < size; ++i) {
    const bool again = i > 0 && one_in(random, 3);
    d.children.push_back(again ? d.children[random() % i]
                               : random_description(random, depth - 1 - static_cast<int>(random() % 2)));
    at += between(random, 0, 4) * 8;
    d.displacements.push_back(in_order ? at : between(random, -300, 300));
    at += 8;
  }
  d.block_lengths = lengths_of(random, size);
}

}  // namespace

const std::vector<DescriptionPtr>& named_types() {
  static const std::vector<DescriptionPtr> types = [] {
    std::vector<DescriptionPtr> result;
    for (const char* name :
         {"char", "short", "int", "double", "double_complex", "short_int", "double_int", "long_double_int"})
      result.push_back(parse_notation(name).description);
    return result;
  }();
  return types;
}

DescriptionPtr random_description(Random& random, int depth) {
  if (depth <= 0) return named_types()[random() % named_types().size()];
  auto d = std::make_shared<Description>();
  d->combiner = static_cast<Combiner>(1 + random() % 12);
  if (d->combiner == Combiner::struct_) {
    make_struct(random, *d, depth);
    return d;
  }
  d->children = {random_description(random, depth - 1)};
  const bool in_bytes =
      d->combiner == Combiner::hvector || d->combiner == Combiner::hindexed || d->combiner == Combiner::hindexed_block;
  d->count = count_of(random);
  d->block_length = one_in(random, 30) ? 0 : between(random, 1, 4);
  d->stride = between(random, -4, 8) * (in_bytes ? between(random, 1, 12) : 1);
  const auto size = static_cast<std::size_t>(one_in(random, 10) ? between(random, 10, 60)
                                                                : between(random, one_in(random, 10) ? 0 : 1, 6));
  d->displacements = displacements_of(random, size, in_bytes ? (one_in(random, 2) ? 8 : 1) : 1);
  d->block_lengths = lengths_of(random, size);
  if (d->combiner == Combiner::subarray) make_subarray(random, *d);
  if (d->combiner == Combiner::darray) make_darray(random, *d);
  if (one_in(random, 40)) d->host_bounds = Bounds{between(random, -20, 20), between(random, 1, 400)};
  if (d->combiner == Combiner::resized) {
    d->lb_bytes = between(random, -40, 40);
    d->extent_bytes = one_in(random, 3) ? between(random, -40, 200) : between(random, 0, 12) * 8;
  }
  return d;
}

}  // namespace millrace::layout::test
