#include "shim/packed/split_types.h"

#include <array>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/packed/layout_call.h"

namespace millrace::shim {
namespace {

constexpr std::size_t most_sizes = 1024;

std::shared_mutex types_mutex;
std::unordered_map<std::int64_t, SplitType>& types() {
  static auto& map =
      *new std::unordered_map<std::int64_t, SplitType>;  // never destroyed, as every registry of the shim
  return map;
}

SplitType make_type(std::int64_t bytes) {
  const std::int64_t first = bytes / 2;
  const std::array<int, 2> lengths{static_cast<int>(first), static_cast<int>(bytes - first)};
  const std::array<std::intptr_t, 2> displacements{0, static_cast<std::intptr_t>(first + split_gap_bytes)};
  Word handle = 0;
  if (host<Symbol::MPI_Type_create_hindexed>(2, as_word(lengths.data()), as_word(displacements.data()), byte_datatype(),
                                             as_word(&handle)) != 0 ||
      host<Symbol::MPI_Type_commit>(as_word(&handle)) != 0)
    return {};
  return {abi::handle(handle), as_int(host_word<Symbol::MPI_Type_c2f>(abi::handle(handle))), first};
}

}  // namespace

SplitType split_type(std::int64_t bytes) noexcept try {
  {
    const std::shared_lock lock(types_mutex);
    if (const auto found = types().find(bytes); found != types().end()) return found->second;
    if (types().size() >= most_sizes) return {};
  }
  const std::lock_guard lock(types_mutex);
  if (const auto found = types().find(bytes); found != types().end()) return found->second;
  const SplitType made = make_type(bytes);
  if (made.handle != 0) types().emplace(bytes, made);
  return made;
} catch (...) {
  return {};
}

void forget_split_types() {
  const std::lock_guard lock(types_mutex);
  for (auto& [bytes, type] : types()) {
    Word handle = type.handle;
    host<Symbol::MPI_Type_free>(as_word(&handle));
  }
  types().clear();
}

}  // namespace millrace::shim
