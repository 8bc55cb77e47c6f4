#include "shim/packed/split_types.h"

#include <array>

#include "shim/packed/host_call.h"

namespace millrace::shim {
namespace {

int make_type(std::int64_t bytes, Word* type) {
  const std::int64_t first = split_first_bytes(bytes);
  const std::array<int, 2> lengths{static_cast<int>(first), static_cast<int>(bytes - first)};
  const std::array<std::intptr_t, 2> displacements{0, static_cast<std::intptr_t>(first + split_gap_bytes)};
  return host<Symbol::MPI_Type_create_hindexed>(2, as_word(lengths.data()), as_word(displacements.data()),
                                                byte_datatype(), as_word(type));
}

SizedTypes& types() {
  static auto& made = *new SizedTypes(make_type);
  return made;
}

}  // namespace

HostType split_type(std::int64_t bytes) noexcept { return types().get(bytes); }

void forget_split_types() { types().forget(); }

}  // namespace millrace::shim
