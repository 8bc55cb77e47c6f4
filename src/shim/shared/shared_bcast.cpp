#include "shim/shared/shared_bcast.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <utility>

#include "collective/algorithms.h"
#include "collective/collective.h"
#include "shim/bind/forward.h"
#include "shim/call/scratch.h"
#include "shim/datatypes/datatypes.h"
#include "shim/datatypes/exchange_type.h"
#include "shim/datatypes/wire_types.h"
#include "shim/host/device_memory.h"
#include "shim/host/quiet_comm.h"
#include "shim/node/node_group.h"
#include "shim/shared/device_staging.h"
#include "shim/shared/lasting_type.h"
#include "shim/shared/repeat.h"

namespace millrace::shim {
namespace {

using collective::Result;
using record::Reason;

// Longer messages go in pieces of this size on every rank, whatever its datatype, so that a rank that packs needs no
// more memory than this.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

// The data of a call as bytes in a row: where they are, or how to get there.
struct BcastData {
  char* in_place = nullptr;                      // if they are a row of bytes already
  std::shared_ptr<const layout::Layout> layout;  // else, if the datatype is compiled
  std::size_t bytes = 0;
  std::int64_t element_bytes = 0;
  std::int64_t extent_bytes = 0;
  Word first = 0;  // where the data begin, as far as is known
};

// Reason::none with `data` filled in, or why the host must do the call: decided by what is equal on all ranks.
Reason find_data(const CollectiveCall& call, BcastData& data) {
  data.first = call.out;
  bool plain = false;
  const std::optional<WireType> known = may_have_layout(call.datatype) ? std::nullopt : wire_type(call.datatype);
  if (known && known->plain) [[likely]] {
    plain = true;
    data.element_bytes = known->size_bytes;
    data.extent_bytes = known->extent_bytes;
  } else {
    std::optional<ExchangeType> type = exchange_type(call.datatype);
    if (!type) return Reason::invalid_argument;
    plain = type->plain;
    data.layout = std::move(type->layout);
    data.element_bytes = type->size_bytes;
    data.extent_bytes = type->extent_bytes;
    if (data.layout) data.first += static_cast<Word>(data.layout->true_lb_bytes());
  }
  std::int64_t bytes = 0;
  // One rank's datatype may need the host to pack it, which takes an int, where another's does not.
  if (__builtin_mul_overflow(call.count, data.element_bytes, &bytes) || bytes > INT_MAX) return Reason::large_count;
  data.bytes = static_cast<std::size_t>(bytes);
  if (bytes == 0) return Reason::none;
  if (plain) {
    if (call.out == 0) return Reason::invalid_argument;
    data.in_place = static_cast<char*>(as_pointer(call.out));
  } else if (data.layout && data.layout->is_contiguous(call.count)) {
    data.in_place = static_cast<char*>(as_pointer(data.first));
  }
  return Reason::none;
}

// `length` becomes less if the root sends less.
Result bcast_bytes(collective::Group& group, char* bytes, std::size_t& length, std::uint32_t root) {
  for (std::size_t start = 0; start < length; start += piece_bytes) {
    const std::size_t wanted = std::min(piece_bytes, length - start);
    std::size_t came = wanted;
    const Result result = collective::bcast(group, bytes + start, wanted, root, &came);
    if (result != Result::ok) return result;
    if (came < wanted) length = start + came;
  }
  return Result::ok;
}

// A root that sends less than this rank expects: MPICH tells this rank, others only write what came.
Attempt received(std::size_t came_bytes, std::size_t expected_bytes) {
  if (came_bytes == expected_bytes || !host_reports_short_bcast()) return done(Result::ok);
  return failed(abi::err_other).as_untold();
}

// The layout packs and unpacks piece by piece.
Attempt bcast_by_layout(const Communicator& communicator, const CollectiveCall& call, const BcastData& data,
                        bool is_root) {
  collective::Group& group = communicator.group->group();
  const Scratch piece = scratch(std::min(piece_bytes, data.bytes));
  if (!piece) return failed_for_all(group, abi::err_intern);
  void* base = as_pointer(call.out);
  for (std::size_t start = 0; start < data.bytes; start += piece_bytes) {
    const std::size_t length = std::min(piece_bytes, data.bytes - start);
    const auto first = static_cast<std::int64_t>(start);
    if (is_root && data.layout->pack_segment(base, call.count, first, static_cast<std::int64_t>(length), piece.get()) !=
                       Status::ok)
      return failed_for_all(group, abi::err_intern);
    std::size_t came = length;
    const Result result = collective::bcast(group, piece.get(), length, static_cast<std::uint32_t>(call.root), &came);
    if (result != Result::ok && result != Result::truncated) return done(result);
    const auto size = static_cast<std::int64_t>(std::min(came, length));
    if (!is_root && data.layout->unpack_segment(piece.get(), first, size, base, call.count) != Status::ok)
      return failed(abi::err_intern);
    if (result != Result::ok) return done(result);
    if (came < length) return received(start + came, data.bytes);
  }
  return done(Result::ok);
}

// A datatype that is not compiled: the host packs it, in its own representation, which on one node is the bytes.
Attempt bcast_by_host(const Communicator& communicator, const CollectiveCall& call, const BcastData& data,
                      bool is_root) {
  keep_from_helpers();
  collective::Group& group = communicator.group->group();
  const Scratch packed = call.count <= INT_MAX ? scratch(data.bytes) : nullptr;
  if (!packed) return failed_for_all(group, abi::err_intern);
  const auto count = static_cast<Word>(call.count);
  const LastingType type(call.datatype);
  const Word comm = communicator.is_background ? quiet_comm() : call.comm;  // which may have been freed by then
  int position = 0;
  int error = 0;
  if (is_root)
    error = host<Symbol::MPI_Pack>(call.out, count, type.handle(), as_word(packed.get()), data.bytes,
                                   as_word(&position), comm);
  if (error != 0) return failed_for_all(group, error);
  std::size_t came = data.bytes;
  const Result result = bcast_bytes(group, packed.get(), came, static_cast<std::uint32_t>(call.root));
  if (result != Result::ok && result != Result::truncated) return done(result);
  const Word elements = came / (data.bytes / count);
  if (!is_root)
    error = host<Symbol::MPI_Unpack>(as_word(packed.get()), came, as_word(&position), call.out, elements, type.handle(),
                                     comm);
  if (error != 0) return failed(error);
  return result == Result::ok ? received(came, data.bytes) : done(result);
}

// Memory that the processor cannot touch, on this rank.
Attempt bcast_staged(Communicator& communicator, const CollectiveCall& call, const BcastData& data, bool is_root) {
  keep_from_helpers();
  const Scratch packed = scratch(data.bytes);
  if (!packed) return copy_failed(communicator, abi::err_intern, true);
  const LastingType type(call.datatype);
  const Elements elements{call.out, call.count, type.handle(), data.element_bytes, data.extent_bytes};
  int error = is_root ? copy_from_device(elements, packed.get()) : 0;
  if (error != 0) return copy_failed(communicator, error, true);
  std::size_t came = data.bytes;
  const Result result =
      bcast_bytes(communicator.group->group(), packed.get(), came, static_cast<std::uint32_t>(call.root));
  if (result != Result::ok && result != Result::truncated) return done(result);
  Elements delivered = elements;
  delivered.count = static_cast<std::int64_t>(came) / data.element_bytes;
  if (!is_root) error = copy_to_device(packed.get(), delivered);
  if (error != 0) return copy_failed(communicator, error, false);
  return result == Result::ok ? received(came, data.bytes) : done(result);
}

bool repeat_fits(const Repeat&, Word buffer, Word) noexcept { return !is_device_memory(buffer); }

Attempt run_again(const Repeat& repeat, Word buffer, Word) noexcept {
  std::size_t came = repeat.bytes;
  const Result result =
      collective::bcast(*repeat.group, repeat.known, as_pointer(buffer), repeat.bytes, repeat.root, &came);
  return result == Result::ok ? received(came, repeat.bytes) : done(result);
}

}  // namespace

Attempt attempt_bcast(Communicator& communicator, const CollectiveCall& call, Repeat* repeat) noexcept try {
  if (call.root < 0 || call.root >= communicator.ranks || call.count < 0) return refused(Reason::invalid_argument);
  if (call.count == 0) return refused_nothing(true);
  BcastData data;
  if (const Reason reason = find_data(call, data); reason != Reason::none) return refused(reason);
  if (data.bytes == 0) return refused_nothing(false);
  const collective::Group& shared = communicator.group->group();
  const collective::AlgorithmEntry& algorithm = collective::choose(
      shared.selection(), collective::Kind::bcast,
      {std::min(data.bytes, piece_bytes), shared.ranks(), shared.shape().cell_bytes, false, shared.crowded()});
  const plan::EitherCall either{.kind = collective::Kind::bcast,
                                .flavor = static_cast<std::uint8_t>(algorithm.algorithm),
                                .bytes = static_cast<std::int64_t>(data.bytes),
                                .root = call.root};
  if (const Attempt answer = whose_is(communicator, either, !is_predefined(call.datatype), repeat); answer.is_decided())
    return answer;
  collective::Group& group = communicator.group->group();
  const bool is_root = communicator.rank == call.root;
  if (is_device_memory(data.first)) return bcast_staged(communicator, call, data, is_root);
  if (!data.in_place)
    return data.layout ? bcast_by_layout(communicator, call, data, is_root)
                       : bcast_by_host(communicator, call, data, is_root);
  const auto root = static_cast<std::uint32_t>(call.root);
  if (repeat && !group.across() && is_predefined(call.datatype) && data.bytes <= Repeat::most_bytes)
    *repeat = {.fits = repeat_fits,
               .run = run_again,
               .asked = repeat->asked,
               .group = &group,
               .known = collective::known_bcast(group, data.bytes, root),
               .root = root,
               .bytes = data.bytes};
  std::size_t came = data.bytes;
  const Result result = bcast_bytes(group, data.in_place, came, root);
  return result == Result::ok ? received(came, data.bytes) : done(result);
} catch (...) {
  return failed_for_all(communicator.group->group(), abi::err_intern);
}

}  // namespace millrace::shim
