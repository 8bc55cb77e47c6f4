#include "shim/shared_attempt.h"

#include <climits>
#include <cstdlib>
#include <memory>

#include "collective/collective.h"
#include "shim/gaps.h"
#include "shim/node_group.h"
#include "shim/reductions.h"
#include "shim/user_ops.h"
#include "shim/wire_types.h"

namespace millrace::shim {
namespace {

using collective::Reducer;
using collective::Result;
using record::Reason;

constexpr Attempt refused(Reason reason) { return {reason, Result::not_supported, 0}; }

// What the group did; a call that it does not support is left to the host, on every rank.
constexpr Attempt done(Result result) {
  return result == Result::not_supported ? refused(Reason::host_is_faster) : Attempt{Reason::none, result, 0};
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Scratch = std::unique_ptr<char, Free>;
Scratch scratch(std::size_t bytes) { return Scratch(static_cast<char*>(std::malloc(bytes))); }

// ---- MPI_Bcast ----

// Bytes in a row as they are; anything else is packed by the host, in its own representation, which is the one of a
// homogeneous node: bytes. So ranks may describe the same data by different datatypes.
Attempt bcast_packed(collective::Group& group, const CollectiveCall& call, std::size_t bytes, bool is_root) {
  const Scratch packed = bytes <= INT_MAX && call.count <= INT_MAX ? scratch(bytes) : nullptr;
  // A rank without memory for its message fails alone, as it would in the host.
  if (!packed) return {Reason::none, Result::ok, abi::err_intern};
  int position = 0;
  int error = 0;
  if (is_root)
    error = host<Symbol::MPI_Pack>(call.out, static_cast<Word>(call.count), call.datatype, as_word(packed.get()), bytes,
                                   as_word(&position), call.comm);
  if (error != 0) return {Reason::none, Result::ok, error};
  const Result result = collective::bcast(group, packed.get(), bytes, static_cast<std::uint32_t>(call.root));
  if (result == Result::ok && !is_root)
    error = host<Symbol::MPI_Unpack>(as_word(packed.get()), bytes, as_word(&position), call.out,
                                     static_cast<Word>(call.count), call.datatype, call.comm);
  Attempt attempt = done(result);
  attempt.error = error;
  return attempt;
}

Attempt attempt_bcast(Communicator& communicator, const CollectiveCall& call) {
  if (call.root < 0 || call.root >= communicator.ranks || call.count < 0) return refused(Reason::invalid_argument);
  const std::optional<WireType> type = wire_type(call.datatype);
  if (!type) return refused(Reason::invalid_argument);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(call.count), static_cast<std::uint64_t>(type->size_bytes), &bytes))
    return refused(Reason::large_count);
  if (bytes == 0) return refused(Reason::host_is_faster);  // nothing to do there either
  // One datatype may need packing where another does not, so the limit holds for both.
  if (bytes > INT_MAX) return refused(Reason::large_count);
  collective::Group& group = communicator.group->group();
  if (!type->plain) return bcast_packed(group, call, bytes, communicator.rank == call.root);
  if (call.out == 0) return refused(Reason::invalid_argument);
  return done(collective::bcast(group, as_pointer(call.out), bytes, static_cast<std::uint32_t>(call.root)));
}

// ---- MPI_Reduce, MPI_Allreduce ----

struct UserOp {
  Word datatype;
  Word op;
  int error;
};

// The host applies the op, in whatever language its function is written: it knows the handles that it must pass.
void apply_user_op(void* context, const void* in, void* inout, std::size_t elements) {
  auto& user = *static_cast<UserOp*>(context);
  const auto* from = static_cast<const char*>(in);
  const int error = host<Symbol::MPI_Reduce_local>(as_word(from), as_word(inout), elements, user.datatype, user.op);
  if (error != 0) user.error = error;
}

// Why the host must do it, or Reason::none with `reducer` filled in. `gaps` is set for elements with bytes that belong to
// nobody.
Reason find_reducer(const CollectiveCall& call, UserOp& user, Reducer& reducer, const kernel::Type*& gaps) {
  gaps = nullptr;
  if (const Reduction* reduction = find_reduction(call.datatype, call.op)) {
    if (reduction->refusal == Reason::disabled) return Reason::disabled;
    static constexpr auto types = [] {
      std::array<kernel::Type, kernel::type_count> all{};
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<kernel::Type>(i);
      return all;
    }();
    const kernel::Type& type = types[reduction->algorithm % kernel::type_count];
    reducer = collective::kernel_reducer(static_cast<kernel::Op>(reduction->algorithm / kernel::type_count), type);
    if (reducer.element_bytes == 0) return Reason::type_not_covered;
    if (has_gaps(type)) gaps = &type;
    return Reason::none;
  }
  if (covers_op(call.op)) return Reason::type_not_covered;
  const std::optional<bool> commutes = user_op_commutes(call.op);
  if (!commutes) return Reason::op_not_covered;
  const std::optional<WireType> type = wire_type(call.datatype);
  if (!type || !type->gapless || type->extent_bytes <= 0) return Reason::type_not_covered;
  reducer = {};
  reducer.element_bytes = static_cast<std::size_t>(type->extent_bytes);
  reducer.commutative = *commutes;
  reducer.user = apply_user_op;
  reducer.context = &user;
  return Reason::none;
}

Result run(collective::Group& group, const CollectiveCall& call, const void* in, void* out, const Reducer& reducer) {
  const auto elements = static_cast<std::size_t>(call.count);
  if (call.kind == CollectiveKind::allreduce) return collective::allreduce(group, in, out, elements, reducer);
  return collective::reduce(group, in, out, elements, reducer, static_cast<std::uint32_t>(call.root));
}

Attempt attempt_reduction(Communicator& communicator, const CollectiveCall& call) {
  const bool all = call.kind == CollectiveKind::allreduce;
  if (call.count < 0) return refused(Reason::invalid_argument);
  if (call.count == 0) return refused(Reason::host_is_faster);  // nothing to do there either
  if (!all && (call.root < 0 || call.root >= communicator.ranks)) return refused(Reason::invalid_argument);
  UserOp user{call.datatype, call.op, 0};
  Reducer reducer;
  const kernel::Type* gaps = nullptr;
  if (const Reason reason = find_reducer(call, user, reducer, gaps); reason != Reason::none) return refused(reason);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(call.count), std::uint64_t{reducer.element_bytes}, &bytes) ||
      bytes > std::uint64_t{1} << 62)
    return refused(Reason::large_count);

  const bool receives = all || communicator.rank == call.root;
  if (call.in_place && !receives) return refused(Reason::invalid_argument);
  const Word in = call.in_place ? call.out : call.in;
  if (in == 0 || (receives && call.out == 0)) return refused(Reason::invalid_argument);
  if (receives && !call.in_place) {
    const Word distance = in > call.out ? in - call.out : call.out - in;
    if (distance < bytes) return refused(Reason::buffers_overlap);
  }
  collective::Group& group = communicator.group->group();
  Attempt attempt;
  if (!gaps || !receives) {
    attempt = done(run(group, call, as_pointer(in), receives ? as_pointer(call.out) : nullptr, reducer));
  } else {
    const Scratch result = scratch(bytes);
    if (!result) return {Reason::none, Result::ok, abi::err_intern};
    attempt = done(run(group, call, as_pointer(in), result.get(), reducer));
    if (attempt.reason == Reason::none && attempt.result == Result::ok)
      copy_without_gaps(*gaps, result.get(), as_pointer(call.out), static_cast<std::size_t>(call.count));
  }
  attempt.error = user.error;
  return attempt;
}

}  // namespace

Attempt attempt_collective(Communicator& communicator, const CollectiveCall& call) noexcept {
  switch (call.kind) {
    case CollectiveKind::barrier: return done(collective::barrier(communicator.group->group()));
    case CollectiveKind::bcast: return attempt_bcast(communicator, call);
    case CollectiveKind::reduce:
    case CollectiveKind::allreduce: return attempt_reduction(communicator, call);
  }
  return refused(Reason::not_accelerated);
}

}  // namespace millrace::shim
