#include "shim/datatypes/datatypes_read.h"

#include <algorithm>
#include <unordered_map>

#include "abi.h"
#include "combiners.h"
#include "shim/bind/forward.h"
#include "shim/datatypes/datatypes.h"
#include "shim/datatypes/datatypes_contents.h"
#include "shim/host/library_version.h"

namespace millrace::shim {
namespace {

using layout::Combiner;
using layout::Description;
using layout::DescriptionPtr;

// Takes numbers from the lists of a constructor in the order in which MPI lays them out (MPI 4.1, 5.1.13, and its
// table for large counts: there every count, block length, displacement and stride lies in `counts`).
class ContentsReader {
 public:
  explicit ContentsReader(const Contents& contents) : contents_(contents) {}

  std::int64_t integer() { return take(contents_.integers, next_integer_); }
  std::int64_t count() { return contents_.is_large ? take(contents_.counts, next_count_) : integer(); }
  std::int64_t address() {
    return contents_.is_large ? take(contents_.counts, next_count_) : take(contents_.addresses, next_address_);
  }
  template <class Take>
  std::vector<std::int64_t> list(std::int64_t length, Take&& one) {
    std::vector<std::int64_t> values;
    if (length < 0 || static_cast<std::uint64_t>(length) >
                          contents_.integers.size() + contents_.counts.size() + contents_.addresses.size()) {
      is_valid_ = false;
      return values;
    }
    values.reserve(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i) values.push_back(one());
    return values;
  }
  bool is_valid() const { return is_valid_; }

 private:
  template <class T>
  std::int64_t take(const std::vector<T>& list, std::size_t& next) {
    if (next + 1 >= list.size()) {  // the last element is read_contents' own
      is_valid_ = false;
      return 0;
    }
    return list[next++];
  }

  const Contents& contents_;
  std::size_t next_integer_ = 0, next_address_ = 0, next_count_ = 0;
  bool is_valid_ = true;
};

std::int64_t size_of(Word datatype) {
  int bytes = 0;
  return host<Symbol::MPI_Type_size>(datatype, as_word(&bytes)) == 0 ? bytes : -1;
}

bool bounds_of(Word datatype, layout::Bounds& bounds) {
  return host<Symbol::MPI_Type_get_extent>(datatype, as_word(&bounds.lb_bytes), as_word(&bounds.extent_bytes)) == 0;
}

std::string name_of(Word datatype) {
  char name[256] = "";
  int length = 0;
  host<Symbol::MPI_Type_get_name>(datatype, as_word(name), as_word(&length));
  return {name, static_cast<std::size_t>(std::clamp(length, 0, 255))};
}

std::int64_t round_up(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// The value and the index of a pair whose inner gap is the only place for the missing bytes: a value, then an int that
// is aligned to 4. {2, gap, 4}, {8, 4, gap}, {16, 4, gap}.
bool pair_pieces(std::int64_t size, std::int64_t extent, Description& leaf) {
  const std::int64_t value = size - 4;
  if (value != 2 && value != 8 && value != 16) return false;
  const std::int64_t index = round_up(value, 4);
  if (index + 4 > extent) return false;
  leaf.pieces = {{0, value}, {index, 4}};
  leaf.alignment_bytes = value == 2 ? 4 : value;
  return true;
}

DescriptionPtr read_leaf(Word datatype) {
  auto leaf = std::make_shared<Description>();
  leaf->name = name_of(datatype);
  const std::int64_t size = size_of(datatype);
  layout::Bounds bounds{};
  if (size < 0 || !bounds_of(datatype, bounds)) return nullptr;
  leaf->extent_bytes = bounds.extent_bytes;
  leaf->host_bounds = bounds;
  if (size == bounds.extent_bytes) {
    if (size > 0) leaf->pieces = {{0, size}};
    leaf->alignment_bytes = size > 0 ? std::min<std::int64_t>(size & -size, 16) : 1;
    return leaf;
  }
  if (size == 0) return leaf;  // MPI_LB, MPI_UB
  return pair_pieces(size, bounds.extent_bytes, *leaf) ? leaf : nullptr;
}

layout::Distribution distribution(std::int64_t value) {
  if (value == abi::distribute_block) return layout::Distribution::block;
  return value == abi::distribute_cyclic ? layout::Distribution::cyclic : layout::Distribution::none;
}

void fill_subarray(ContentsReader& from, Description& to) {
  to.combiner = Combiner::subarray;
  const std::int64_t dimensions = from.integer();
  const auto count = [&] { return from.count(); };
  to.sizes = from.list(dimensions, count);
  to.subsizes = from.list(dimensions, count);
  to.starts = from.list(dimensions, count);
  to.order = from.integer() == abi::order_fortran ? layout::Order::fortran : layout::Order::c;
}

// Intel MPI 2021.18 packs other bytes for some darrays than the standard's definition gives (MPI 4.1, 5.1.4), seen by
// tests/shim/test_layouts_pack.py, whose judge is the typemap. A rank without Millrace would receive ours wrongly.
bool packs_darrays_its_own_way() { return host_version().vendor == plan::Vendor::intel; }

void fill_darray(ContentsReader& from, Description& to) {
  to.combiner = Combiner::darray;
  to.processes = from.integer();
  to.rank = from.integer();
  const std::int64_t dimensions = from.integer();
  const auto integer = [&] { return from.integer(); };
  to.sizes = from.list(dimensions, [&] { return from.count(); });
  for (const std::int64_t value : from.list(dimensions, integer)) to.distributions.push_back(distribution(value));
  to.distribution_arguments = from.list(dimensions, integer);
  for (std::int64_t& argument : to.distribution_arguments)
    if (argument == abi::distribute_default_argument) argument = layout::default_distribution_argument;
  to.process_sizes = from.list(dimensions, integer);
  to.order = from.integer() == abi::order_fortran ? layout::Order::fortran : layout::Order::c;
}

// A value and an index behind it, as a C struct of the two (MPI 4.1, 5.1.4 MPI_Type_get_value_index).
bool fill_value_index(Description& to) {
  if (to.children.size() != 2) return false;
  const auto bytes = [](const Description& leaf) { return leaf.pieces.empty() ? 0 : leaf.pieces.back().length_bytes; };
  const std::int64_t value = to.children[0]->extent_bytes;
  const std::int64_t index = bytes(*to.children[1]);
  if (to.children[0]->combiner != Combiner::named || index <= 0) return false;
  to.combiner = Combiner::struct_;
  to.block_lengths = {1, 1};
  to.displacements = {0, round_up(value, std::min<std::int64_t>(index & -index, 16))};
  return true;
}

bool fill(const Contents& contents, Description& to) {
  ContentsReader from(contents);
  const int combiner = contents.combiner;
  const auto count = [&] { return from.count(); };
  const auto bytes = [&](int integer_form) {
    return [&from, combiner, integer_form] { return combiner == integer_form ? from.integer() : from.address(); };
  };
  switch (combiner) {
    case abi::combiner_dup: to.combiner = Combiner::dup; break;
    case abi::combiner_contiguous:
      to.combiner = Combiner::contiguous;
      to.count = from.count();
      break;
    case abi::combiner_vector:
    case abi::combiner_hvector:
    case abi::combiner_hvector_integer:
      to.combiner = combiner == abi::combiner_vector ? Combiner::vector : Combiner::hvector;
      to.count = from.count();
      to.block_length = from.count();
      to.stride = combiner == abi::combiner_hvector ? from.address() : from.count();
      break;
    case abi::combiner_indexed:
      to.combiner = Combiner::indexed;
      to.count = from.count();
      to.block_lengths = from.list(to.count, count);
      to.displacements = from.list(to.count, count);
      break;
    case abi::combiner_hindexed:
    case abi::combiner_hindexed_integer:
      to.combiner = Combiner::hindexed;
      to.count = from.count();
      to.block_lengths = from.list(to.count, count);
      to.displacements = from.list(to.count, bytes(abi::combiner_hindexed_integer));
      break;
    case abi::combiner_indexed_block:
      to.combiner = Combiner::indexed_block;
      to.count = from.count();
      to.block_length = from.count();
      to.displacements = from.list(to.count, count);
      break;
    case abi::combiner_hindexed_block:
      to.combiner = Combiner::hindexed_block;
      to.count = from.count();
      to.block_length = from.count();
      to.displacements = from.list(to.count, [&] { return from.address(); });
      break;
    case abi::combiner_struct:
    case abi::combiner_struct_integer:
      to.combiner = Combiner::struct_;
      to.count = from.count();
      to.block_lengths = from.list(to.count, count);
      to.displacements = from.list(to.count, bytes(abi::combiner_struct_integer));
      break;
    case abi::combiner_subarray: fill_subarray(from, to); break;
    case abi::combiner_darray:
      if (packs_darrays_its_own_way()) return false;
      fill_darray(from, to);
      break;
    case abi::combiner_resized:
      to.combiner = Combiner::resized;
      to.lb_bytes = from.address();
      to.extent_bytes = from.address();
      break;
    case abi::combiner_value_index: return fill_value_index(to);
    default: return false;
  }
  return from.is_valid();
}

class TreeReader {
 public:
  TreeReader() = default;
  TreeReader(const TreeReader&) = delete;
  TreeReader& operator=(const TreeReader&) = delete;
  // Descriptions are kept by handle, so all handles live until the whole tree is read: a host could give the number of
  // a freed one to another type.
  ~TreeReader() {
    for (const Word duplicate : duplicates_) {
      auto storage = static_cast<abi::HandleStorage>(duplicate);
      host<Symbol::MPI_Type_free>(as_word(&storage));
    }
  }

  DescriptionPtr read(Word datatype) {
    if (const auto known = known_.find(datatype); known != known_.end()) return known->second;
    Contents contents;
    DescriptionPtr description;
    if (read_contents(datatype, contents)) {
      keep_duplicates(contents);
      description = is_predefined_combiner(contents.combiner) ? read_leaf(datatype) : make(datatype, contents);
    }
    known_.emplace(datatype, description);
    return description;
  }

 private:
  void keep_duplicates(const Contents& contents) {
    for (const Word child : contents.datatypes)
      if (!is_predefined(child) && !is_predefined_combiner(read_combiner(child))) duplicates_.push_back(child);
  }

  DescriptionPtr make(Word datatype, const Contents& contents) {
    auto description = std::make_shared<Description>();
    for (const Word child : contents.datatypes) {
      description->children.push_back(read(child));
      if (!description->children.back()) return nullptr;
    }
    layout::Bounds bounds{};
    if (!bounds_of(datatype, bounds) || !fill(contents, *description)) return nullptr;
    description->host_bounds = bounds;
    return description;
  }

  std::unordered_map<Word, DescriptionPtr> known_;
  std::vector<Word> duplicates_;
};

}  // namespace

DescriptionPtr read_datatype(Word datatype) { return TreeReader().read(datatype); }

}  // namespace millrace::shim
