#include "shim/packed/packed_types.h"

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
std::unordered_map<std::int64_t, PackedType>& types() {
  static auto& map =
      *new std::unordered_map<std::int64_t, PackedType>;  // never destroyed, as every registry of the shim
  return map;
}

PackedType make_type(std::int64_t size_bytes) {
  Word handle = 0;
  if (host<Symbol::MPI_Type_contiguous>(static_cast<Word>(size_bytes), byte_datatype(), as_word(&handle)) != 0 ||
      host<Symbol::MPI_Type_commit>(as_word(&handle)) != 0)
    return {};
  const Word made = abi::handle(handle);
  // The same number on MPICH, and no Fortran with the MPI-5 ABI.
  if constexpr (abi::host_abi != HostAbi::openmpi) return {made, as_int(made)};
  return {made, as_int(host_word<Symbol::MPI_Type_c2f>(made))};
}

}  // namespace

PackedType packed_type(std::int64_t size_bytes) noexcept try {
  {
    const std::shared_lock lock(types_mutex);
    if (const auto found = types().find(size_bytes); found != types().end()) return found->second;
    if (types().size() >= most_sizes) return {};
  }
  const std::lock_guard lock(types_mutex);
  if (const auto found = types().find(size_bytes); found != types().end()) return found->second;
  const PackedType made = make_type(size_bytes);
  if (made.handle != 0) types().emplace(size_bytes, made);
  return made;
} catch (...) {
  return {};
}

void forget_packed_types() {
  const std::lock_guard lock(types_mutex);
  for (auto& [bytes, type] : types()) {
    Word handle = type.handle;
    host<Symbol::MPI_Type_free>(as_word(&handle));
  }
  types().clear();
}

}  // namespace millrace::shim
