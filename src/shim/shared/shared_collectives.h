// MPI_Barrier, MPI_Bcast, the reductions and the collectives of exchange_call.h (MPI 4.1, chapters 6 and 8) through
// shared memory, where all ranks of the communicator are on one node and have agreed on it (node_agreement.h).
// Everything else goes to the host.
//
// Whether a call is taken depends on what all ranks know to be equal: the communicator, the settings, the bytes, the
// root, and the op with its type. What may differ between ranks (addresses, the datatypes of MPI_Bcast) decides
// nothing.
#pragma once

#include <atomic>

#include "abi.h"
#include "base/settings.h"
#include "positions.h"
#include "shim/bind/forward.h"
#include "shim/call/arguments.h"

namespace millrace::shim {

// After MPI_Init, by one thread; before MPI_Finalize.
void prepare_shared_collectives(const SettingValues& settings, int world_rank, int world_ranks);
void forget_shared_collectives() noexcept;

extern std::atomic<bool> shared_collectives_active;
// Why calls are the host's while it is not set.
extern std::atomic<record::Reason> why_not_shared;

class ExchangeCall;  // exchange_call.h

enum class CollectiveKind : std::uint8_t { barrier, bcast, reduce, allreduce, reduce_scatter, scan, exscan, exchange };
constexpr bool is_reduction(CollectiveKind kind) {
  return kind != CollectiveKind::barrier && kind != CollectiveKind::bcast && kind != CollectiveKind::exchange;
}

// A call in C terms, whatever language it was made in; 0 is what a kind does not have.
struct CollectiveCall {
  CollectiveKind kind;
  bool from_fortran = false;
  bool in_place = false;
  Word in = 0;                   // send buffer
  Word out = 0;                  // receive buffer, or the buffer of MPI_Bcast
  std::int64_t count = 0;        // of MPI_Reduce_scatter_block: of a block; of MPI_Reduce_scatter: unused, but ...
  const void* counts = nullptr;  // ... of all blocks, int or MPI_Count,
  bool has_wide_counts = false;  // the latter
  Word datatype = 0;
  Word op = 0;
  int root = 0;
  Word comm = 0;
  const ExchangeCall* exchange = nullptr;  // has everything else of a call of that kind
};

// Does the call, by us or by `next`, which takes `words`.
Word shared_collective(Symbol symbol, void* next, std::span<Word> words, const CollectiveCall& call);

class Attempt;        // shared_attempt.h
struct Communicator;  // node/communicators.h

// What follows an attempt by which a call was ours, good or not, if no report is asked for: the error of the call.
int end_taken_call(Communicator& communicator, Symbol symbol, const Attempt& attempt);

// The same for a call of exchange_call.h.
Word shared_exchange(Symbol symbol, void* next, std::span<Word> words);

// A constructor has made a communicator of `parent` (MPI_COMM_NULL for a rank that is not in it), or has failed. `tag`:
// of MPI_Comm_create_group.
void constructed(Symbol symbol, Word parent, bool succeeded, Word made, int tag) noexcept;

// The name behind an algorithm of the outcome.
inline constexpr std::uint16_t first_shared_algorithm = 1536;
inline constexpr int shared_algorithms = 13;  // behind which come those over several nodes
const char* shared_algorithm_name(std::uint16_t algorithm);

// ---- from the words of each entry ----

inline CollectiveCall read_barrier(const Arguments& arguments) {
  return {.kind = CollectiveKind::barrier,
          .from_fortran = arguments.from_fortran(),
          .comm = arguments.comm(at::Barrier::comm)};
}

template <class Place>
CollectiveCall read_any_bcast(const Arguments& arguments) {
  return {.kind = CollectiveKind::bcast,
          .from_fortran = arguments.from_fortran(),
          .out = arguments.buffer(Place::buffer),
          .count = arguments.count(Place::count),
          .datatype = arguments.datatype(Place::datatype),
          .root = arguments.integer(Place::root),
          .comm = arguments.comm(Place::comm)};
}

inline CollectiveCall read_bcast(const Arguments& arguments) { return read_any_bcast<at::Bcast>(arguments); }
inline CollectiveCall read_ibcast(const Arguments& arguments) { return read_any_bcast<at::Ibcast>(arguments); }

// What MPI_Reduce and MPI_Allreduce have in common.
template <class Place>
CollectiveCall read_reduction(CollectiveKind kind, const Arguments& arguments) {
  return {.kind = kind,
          .from_fortran = arguments.from_fortran(),
          .in_place = arguments.is_in_place(Place::sendbuf),
          .in = arguments.buffer(Place::sendbuf),
          .out = arguments.buffer(Place::recvbuf),
          .count = arguments.count(Place::count),
          .datatype = arguments.datatype(Place::datatype),
          .op = arguments.op(Place::op),
          .comm = arguments.comm(Place::comm)};
}
inline CollectiveCall read_allreduce(const Arguments& arguments) {
  return read_reduction<at::Allreduce>(CollectiveKind::allreduce, arguments);
}
inline CollectiveCall read_reduce(const Arguments& arguments) {
  CollectiveCall call = read_reduction<at::Reduce>(CollectiveKind::reduce, arguments);
  call.root = arguments.integer(at::Reduce::root);
  return call;
}
inline CollectiveCall read_scan(const Arguments& arguments) {
  return read_reduction<at::Scan>(CollectiveKind::scan, arguments);
}
inline CollectiveCall read_exscan(const Arguments& arguments) {
  return read_reduction<at::Exscan>(CollectiveKind::exscan, arguments);
}
// What the two have in common, but for the counts.
template <class Place>
CollectiveCall read_scattering(const Arguments& arguments) {
  return {.kind = CollectiveKind::reduce_scatter,
          .from_fortran = arguments.from_fortran(),
          .in_place = arguments.is_in_place(Place::sendbuf),
          .in = arguments.buffer(Place::sendbuf),
          .out = arguments.buffer(Place::recvbuf),
          .datatype = arguments.datatype(Place::datatype),
          .op = arguments.op(Place::op),
          .comm = arguments.comm(Place::comm)};
}
template <class Place>
CollectiveCall read_counted_scattering(const Arguments& arguments) {
  CollectiveCall call = read_scattering<Place>(arguments);
  call.counts = as_pointer(arguments.word(Place::recvcounts));
  call.has_wide_counts = arguments.has_large_counts();
  return call;
}
template <class Place>
CollectiveCall read_block_scattering(const Arguments& arguments) {
  CollectiveCall call = read_scattering<Place>(arguments);
  call.count = arguments.count(Place::recvcount);
  return call;
}
inline CollectiveCall read_reduce_scatter(const Arguments& arguments) {
  return read_counted_scattering<at::Reduce_scatter>(arguments);
}
inline CollectiveCall read_reduce_scatter_block(const Arguments& arguments) {
  return read_block_scattering<at::Reduce_scatter_block>(arguments);
}

// The nonblocking ones.
inline CollectiveCall read_ibarrier(const Arguments& arguments) {
  return {.kind = CollectiveKind::barrier,
          .from_fortran = arguments.from_fortran(),
          .comm = arguments.comm(at::Ibarrier::comm)};
}
inline CollectiveCall read_iallreduce(const Arguments& arguments) {
  return read_reduction<at::Iallreduce>(CollectiveKind::allreduce, arguments);
}
inline CollectiveCall read_ireduce(const Arguments& arguments) {
  CollectiveCall call = read_reduction<at::Ireduce>(CollectiveKind::reduce, arguments);
  call.root = arguments.integer(at::Ireduce::root);
  return call;
}
inline CollectiveCall read_iscan(const Arguments& arguments) {
  return read_reduction<at::Iscan>(CollectiveKind::scan, arguments);
}
inline CollectiveCall read_iexscan(const Arguments& arguments) {
  return read_reduction<at::Iexscan>(CollectiveKind::exscan, arguments);
}
inline CollectiveCall read_ireduce_scatter(const Arguments& arguments) {
  return read_counted_scattering<at::Ireduce_scatter>(arguments);
}
inline CollectiveCall read_ireduce_scatter_block(const Arguments& arguments) {
  return read_block_scattering<at::Ireduce_scatter_block>(arguments);
}

// The persistent ones.
inline CollectiveCall read_barrier_init(const Arguments& arguments) {
  return {.kind = CollectiveKind::barrier,
          .from_fortran = arguments.from_fortran(),
          .comm = arguments.comm(at::Barrier_init::comm)};
}
inline CollectiveCall read_bcast_init(const Arguments& arguments) { return read_any_bcast<at::Bcast_init>(arguments); }
inline CollectiveCall read_allreduce_init(const Arguments& arguments) {
  return read_reduction<at::Allreduce_init>(CollectiveKind::allreduce, arguments);
}
inline CollectiveCall read_reduce_init(const Arguments& arguments) {
  CollectiveCall call = read_reduction<at::Reduce_init>(CollectiveKind::reduce, arguments);
  call.root = arguments.integer(at::Reduce_init::root);
  return call;
}
inline CollectiveCall read_scan_init(const Arguments& arguments) {
  return read_reduction<at::Scan_init>(CollectiveKind::scan, arguments);
}
inline CollectiveCall read_exscan_init(const Arguments& arguments) {
  return read_reduction<at::Exscan_init>(CollectiveKind::exscan, arguments);
}
inline CollectiveCall read_reduce_scatter_init(const Arguments& arguments) {
  return read_counted_scattering<at::Reduce_scatter_init>(arguments);
}
inline CollectiveCall read_reduce_scatter_block_init(const Arguments& arguments) {
  return read_block_scattering<at::Reduce_scatter_block_init>(arguments);
}

}  // namespace millrace::shim
