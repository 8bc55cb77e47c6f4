#include "shim/shared_bcast.h"

#include <algorithm>
#include <climits>
#include <memory>

#include "collective/collective.h"
#include "shim/datatypes.h"
#include "shim/device_memory.h"
#include "shim/device_staging.h"
#include "shim/node_group.h"
#include "shim/scratch.h"
#include "shim/wire_types.h"

namespace millrace::shim {
namespace {

using collective::Result;
using record::Reason;

// Longer messages go in pieces of this size on every rank, whatever its datatype, so that a rank that packs needs no
// more memory than this.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

// The data of a call as bytes in a row: where they are, or how to get there.
struct Data {
  char* in_place = nullptr;                      // if they are a row of bytes already
  std::shared_ptr<const layout::Layout> layout;  // else, if the datatype is compiled
  std::size_t bytes = 0;
  std::int64_t element_bytes = 0;
  std::int64_t extent_bytes = 0;
  Word first = 0;  // where the data begin, as far as is known
};

std::shared_ptr<const layout::Layout> layout_of(Word datatype) {
  if (!may_have_layout(datatype)) return nullptr;
  const std::shared_ptr<Datatype>* known = find_datatype(datatype);
  if (!known) return nullptr;
  const std::shared_ptr<Datatype> type = *known;
  if (type->state.load(std::memory_order_acquire) == Datatype::State::seen) compile_datatype(*type);
  // With the release of the thread that compiled it.
  return type->state.load(std::memory_order_acquire) == Datatype::State::ready ? type->layout : nullptr;
}

// Reason::none with `data` filled in, or why the host must do the call: decided by what is equal on all ranks.
Reason find_data(const CollectiveCall& call, Data& data) {
  data.layout = layout_of(call.datatype);
  bool plain = false;
  data.first = call.out;
  if (data.layout) {
    data.element_bytes = data.layout->size_bytes();
    data.extent_bytes = data.layout->extent_bytes();
    data.first += static_cast<Word>(data.layout->true_lb_bytes());
  } else {
    const std::optional<WireType> type = wire_type(call.datatype);
    if (!type) return Reason::invalid_argument;
    data.element_bytes = type->size_bytes;
    data.extent_bytes = type->extent_bytes;
    plain = type->plain;
  }
  std::int64_t bytes = 0;
  // One rank's datatype may need the host to pack it, which takes an int, where another's does not.
  if (__builtin_mul_overflow(call.count, data.element_bytes, &bytes) || bytes > INT_MAX) return Reason::large_count;
  if (bytes == 0) return Reason::host_is_faster;  // nothing to do there either
  data.bytes = static_cast<std::size_t>(bytes);
  if (plain) {
    if (call.out == 0) return Reason::invalid_argument;
    data.in_place = static_cast<char*>(as_pointer(call.out));
  } else if (data.layout && data.layout->is_contiguous(call.count)) {
    data.in_place = static_cast<char*>(as_pointer(data.first));
  }
  return Reason::none;
}

Result bcast_bytes(collective::Group& group, char* bytes, std::size_t length, std::uint32_t root) {
  for (std::size_t start = 0; start < length; start += piece_bytes) {
    const Result result = collective::bcast(group, bytes + start, std::min(piece_bytes, length - start), root);
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

// The layout packs and unpacks piece by piece.
Attempt bcast_by_layout(collective::Group& group, const CollectiveCall& call, const Data& data, bool is_root) {
  const Scratch piece = scratch(std::min(piece_bytes, data.bytes));
  if (!piece) return failed_for_all(group, abi::err_intern);
  void* base = as_pointer(call.out);
  for (std::size_t start = 0; start < data.bytes; start += piece_bytes) {
    const std::size_t length = std::min(piece_bytes, data.bytes - start);
    const auto first = static_cast<std::int64_t>(start);
    const auto size = static_cast<std::int64_t>(length);
    if (is_root && data.layout->pack_segment(base, call.count, first, size, piece.get()) != Status::ok)
      return failed_for_all(group, abi::err_intern);
    const Result result = collective::bcast(group, piece.get(), length, static_cast<std::uint32_t>(call.root));
    if (result != Result::ok) return done(result);
    if (!is_root && data.layout->unpack_segment(piece.get(), first, size, base, call.count) != Status::ok)
      return failed(abi::err_intern);
  }
  return done(Result::ok);
}

// The first call with a datatype: the host packs it, in its own representation, which on one node is the bytes, and
// says whether the datatype is one that may be used.
Attempt bcast_by_host(collective::Group& group, const CollectiveCall& call, const Data& data, bool is_root) {
  const Scratch packed = call.count <= INT_MAX ? scratch(data.bytes) : nullptr;
  if (!packed) return failed_for_all(group, abi::err_intern);
  const auto count = static_cast<Word>(call.count);
  int position = 0;
  int error = 0;
  if (is_root)
    error = host<Symbol::MPI_Pack>(call.out, count, call.datatype, as_word(packed.get()), data.bytes,
                                   as_word(&position), call.comm);
  if (error != 0) return failed_for_all(group, error);
  const Result result = bcast_bytes(group, packed.get(), data.bytes, static_cast<std::uint32_t>(call.root));
  if (result != Result::ok) return done(result);
  if (!is_root)
    error = host<Symbol::MPI_Unpack>(as_word(packed.get()), data.bytes, as_word(&position), call.out, count,
                                     call.datatype, call.comm);
  if (error != 0) return failed(error);
  if (may_have_layout(call.datatype)) remember_datatype(call.datatype);
  return done(Result::ok);
}

// Memory that the processor cannot touch, on this rank.
Attempt bcast_staged(Communicator& communicator, const CollectiveCall& call, const Data& data, bool is_root) {
  const Scratch packed = scratch(data.bytes);
  if (!packed) return copy_failed(communicator, abi::err_intern, true);
  const Elements elements{call.out, call.count, call.datatype, data.element_bytes, data.extent_bytes};
  int error = is_root ? copy_from_device(elements, packed.get()) : 0;
  if (error != 0) return copy_failed(communicator, error, true);
  const Result result = bcast_bytes(communicator.group->group(), packed.get(), data.bytes,
                                    static_cast<std::uint32_t>(call.root));
  if (result != Result::ok) return done(result);
  if (!is_root) error = copy_to_device(packed.get(), elements);
  return error == 0 ? done(Result::ok) : copy_failed(communicator, error, false);
}

}  // namespace

Attempt attempt_bcast(Communicator& communicator, const CollectiveCall& call) noexcept try {
  if (call.root < 0 || call.root >= communicator.ranks || call.count < 0) return refused(Reason::invalid_argument);
  Data data;
  if (const Reason reason = find_data(call, data); reason != Reason::none) return refused(reason);
  if (left_to_host(communicator, collective::Kind::bcast, data.bytes)) return refused(Reason::host_is_faster);
  collective::Group& group = communicator.group->group();
  const bool is_root = communicator.rank == call.root;
  if (is_device_memory(data.first)) return bcast_staged(communicator, call, data, is_root);
  if (data.in_place) return done(bcast_bytes(group, data.in_place, data.bytes, static_cast<std::uint32_t>(call.root)));
  return data.layout ? bcast_by_layout(group, call, data, is_root) : bcast_by_host(group, call, data, is_root);
} catch (...) {
  return failed_for_all(communicator.group->group(), abi::err_intern);
}

}  // namespace millrace::shim
