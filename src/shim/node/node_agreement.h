// How the ranks of a communicator come to use shared memory together: the shim's side of node/agreement.h.
//
//   1. At the end of MPI_Init a rank joins the board of its job on this node. No rank waits for another.
//   2. A communicator that all its members can name alike has an identity: MPI_COMM_WORLD, and what constructors make
//      of one that has an identity, if we see them. What was made out of our sight stays with the host.
//   3. Its first collectives go to the host and are counted. From the fifth on, its members agree to share memory, if
//      nothing comes between from the ninth call on. Later, where communicators before it did not live for long
//      (node/short_lives.h).
//   4. Ranks of several nodes agree by letters, if they have met at the end of MPI_Init (job_nodes.h), and later: what
//      they make then (connections of the host, communicators, memory) takes as long as some hundred small calls. A
//      call that moves more gains more, and counts for more of those.
// The host is asked for nothing but what is local: ranks, groups, attributes.
#pragma once

#include <vector>

#include "base/settings.h"
#include "node/board.h"
#include "record/record.h"
#include "shim/node/communicators.h"

namespace millrace::shim {

// After MPI_Init, by one thread: meets the other ranks of the job on this node, if there can be any.
void join_job_board(const SettingValues& settings, int world_rank, int world_ranks);
std::uint64_t job_digest();  // of what must be equal on all ranks, from then on
bool was_spawned();          // by MPI_Comm_spawn; after MPI_Init
void leave_job_board();      // before MPI_Finalize, last
node::Board* job_board();    // or null

// The ranks of a group, or of a communicator (the local ones of an intercommunicator), in MPI_COMM_WORLD, once
// prepare_agreement() has succeeded; empty if one of them is not in it (spawned, or joined later).
std::vector<int> world_ranks_of_group(Word group);
std::vector<int> world_ranks_of(Word comm);

// After that. False if nothing can ever be shared; then nothing else may be called.
bool prepare_agreement();
void forget_agreement();  // before MPI_Finalize

// Around each collective that the host does for a communicator that is undecided. The first may make it active; a
// communicator that is then goes through shared memory, or over nodes, at once. `synchronises`: no rank can leave the
// call before all have come, as all ranks know.
void before_host_call(Communicator& communicator, bool synchronises) noexcept;
// `kind`: not 0, the same on all ranks for the same call. `bytes`: that this rank gave or took. `synchronised`: nobody
// can have left it before all had come.
void after_host_call(Communicator& communicator, std::uint64_t kind, std::uint64_t bytes, bool succeeded,
                     bool synchronised) noexcept;

// Whether after_host_call() wants to know the bytes: this rank has not begun to agree.
bool weighs_calls(const Communicator& communicator);

// Who is asked before nonblocking calls are agreed on; null: nobody, and there are none. By one thread.
void ask_before_background(bool (*may_run)());

// A communicator that had begun to agree has ended, after so many calls in shared memory.
void agreement_ended(std::uint64_t shared_calls) noexcept;

// That of the nonblocking calls on a communicator, which are counted for themselves. `part`: 0, or the number of a
// persistent one.
node::Identity in_background(const node::Identity& communicator, std::uint64_t part);

// The identity of what a constructor, called on `parent`, has made; also to be called where this rank got nothing
// (MPI_COMM_NULL) of it. `kind`: the constructor. Only for those that are collective over `parent`.
node::Identity next_child(Communicator& parent, std::uint64_t kind) noexcept;
// The same for MPI_Comm_create_group, which only the members of `made` have called.
node::Identity next_of_group(Communicator& parent, Word made, std::uint64_t kind, int tag) noexcept;

}  // namespace millrace::shim
