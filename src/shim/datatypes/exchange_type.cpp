#include "shim/datatypes/exchange_type.h"

#include <algorithm>
#include <climits>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/datatypes/datatypes.h"
#include "shim/datatypes/wire_types.h"
#include "shim/host/quiet_comm.h"

namespace millrace::shim {
namespace {

// The layout of a derived type; null if there is none.
std::shared_ptr<const layout::Layout> layout_of(const std::shared_ptr<Datatype>& type) {
  if (type->state.load(std::memory_order_acquire) == Datatype::State::seen) compile_datatype(*type);
  // With the release of the thread that compiled it.
  return type->state.load(std::memory_order_acquire) == Datatype::State::ready ? type->layout : nullptr;
}

// The host counts bytes with an int: elements that it can be given at once.
std::int64_t most_elements(const ExchangeType& type) { return std::max<std::int64_t>(1, INT_MAX / type.size_bytes); }

}  // namespace

std::optional<ExchangeType> exchange_type(Word handle) {
  ExchangeType result;
  result.handle = handle;
  bool accepted = false;
  if (may_have_layout(handle)) {
    const std::shared_ptr<Datatype>* known = find_datatype(handle);
    if (!known) {
      // Before anything is done: a rank that finds out later breaks the group.
      if (!is_committed(handle)) return std::nullopt;
      remember_datatype(handle);
      known = find_datatype(handle);
    }
    accepted = true;
    if (known) result.layout = layout_of(std::shared_ptr<Datatype>(*known));  // a copy: compiling it calls MPI
    if (result.layout) {
      result.size_bytes = result.layout->size_bytes();
      result.extent_bytes = result.layout->extent_bytes();
      return result;
    }
  }
  const std::optional<WireType> wire = wire_type(handle);
  if (!wire || (!wire->plain && !accepted && !is_committed(handle))) return std::nullopt;
  result.size_bytes = wire->size_bytes;
  result.extent_bytes = wire->extent_bytes;
  result.plain = wire->plain;
  return result;
}

int pack_by_host(const ExchangeType& type, Word address, std::int64_t count, char* packed) {
  for (std::int64_t first = 0; first < count; first += most_elements(type)) {
    const std::int64_t length = std::min(count - first, most_elements(type));
    const std::int64_t bytes = length * type.size_bytes;
    int position = 0;
    const int error =
        host<Symbol::MPI_Pack>(address + static_cast<Word>(first * type.extent_bytes), length, type.handle,
                               as_word(packed + first * type.size_bytes), bytes, as_word(&position), quiet_comm());
    if (error != 0) return error;
  }
  return 0;
}

int unpack_by_host(const ExchangeType& type, const char* packed, Word address, std::int64_t count) {
  for (std::int64_t first = 0; first < count; first += most_elements(type)) {
    const std::int64_t length = std::min(count - first, most_elements(type));
    const std::int64_t bytes = length * type.size_bytes;
    int position = 0;
    const int error = host<Symbol::MPI_Unpack>(as_word(packed + first * type.size_bytes), bytes, as_word(&position),
                                               address + static_cast<Word>(first * type.extent_bytes), length,
                                               type.handle, quiet_comm());
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace millrace::shim
