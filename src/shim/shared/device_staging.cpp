#include "shim/shared/device_staging.h"

#include <algorithm>
#include <atomic>
#include <climits>

#include "abi.h"
#include "base/log.h"
#include "shim/bind/forward.h"
#include "shim/host/device_memory.h"
#include "shim/host/quiet_comm.h"
#include "shim/node/node_group.h"

namespace millrace::shim {
namespace {

// One end of a copy.
struct End {
  Word address;
  std::int64_t count;
  Word datatype;
};

// On a communicator of ours; 0 is the tag of the receive that waits there for ever. Threads that copy at the same time
// have different tags.
int own_tag() {
  static constinit std::atomic<unsigned> used{0};
  return static_cast<int>(1 + used.fetch_add(1, std::memory_order_relaxed) % 30000);
}

int copy(const End& from, const End& to) {
  const int tag = own_tag();
  return host<Symbol::MPI_Sendrecv>(from.address, from.count, from.datatype, 0, tag, to.address, to.count, to.datatype,
                                    0, tag, quiet_comm(), abi::status_ignore);
}

// The host counts with an int.
std::int64_t most_elements(const Elements& elements) {
  return std::max<std::int64_t>(1, INT_MAX / std::max<std::int64_t>(1, elements.size_bytes));
}

// Calls `step(elements, bytes before them)` for pieces that the host can count.
template <class Step>
int in_pieces(const Elements& all, const Step& step) {
  for (std::int64_t first = 0; first < all.count; first += most_elements(all)) {
    Elements piece = all;
    piece.address += static_cast<Word>(first * all.extent_bytes);
    piece.count = std::min(all.count - first, most_elements(all));
    if (const int error = step(piece, first * all.size_bytes); error != 0) return error;
  }
  return 0;
}

End end_of(const Elements& elements) { return {elements.address, elements.count, elements.datatype}; }

End row(const char* packed, const Elements& elements) {
  static const Word byte_type = abi::byte_type();
  return {as_word(packed), elements.count * elements.size_bytes, byte_type};
}

}  // namespace

int copy_from_device(const Elements& elements, char* packed) {
  return in_pieces(elements, [&](const Elements& piece, std::int64_t before_bytes) {
    return copy(end_of(piece), row(packed + before_bytes, piece));
  });
}

int copy_to_device(const char* packed, const Elements& elements) {
  return in_pieces(elements, [&](const Elements& piece, std::int64_t before_bytes) {
    return copy(row(packed + before_bytes, piece), end_of(piece));
  });
}

TouchableElements::TouchableElements(const Elements& elements)
    : elements_(elements), is_copy_(elements.address != 0 && is_device_memory(elements.address)) {
  if (is_copy_) memory_ = scratch(static_cast<std::size_t>(elements.count * elements.extent_bytes));
}

int TouchableElements::fetch() const {
  if (!is_copy_) return 0;
  return in_pieces(elements_, [&](const Elements& piece, std::int64_t) {
    return copy(end_of(piece), {address() + (piece.address - elements_.address), piece.count, piece.datatype});
  });
}

int TouchableElements::deliver() const {
  if (!is_copy_) return 0;
  return in_pieces(elements_, [&](const Elements& piece, std::int64_t) {
    return copy({address() + (piece.address - elements_.address), piece.count, piece.datatype}, end_of(piece));
  });
}

Attempt copy_failed(const Communicator& communicator, int error, bool others_wait) {
  log(LogLevel::error, error == abi::err_intern ? "no memory for a copy of a buffer in a device's memory"
                                                : "the host cannot copy from or to a device's memory");
  return (others_wait ? failed_for_all(communicator.group->group(), error) : failed(error)).as_untold();
}

}  // namespace millrace::shim
