// Letters between the ranks of all nodes (node/nodes_agreement.h), by messages of the host on our own communicator.
#pragma once

#include <cstdint>
#include <vector>

#include "node/nodes_agreement.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// `comm`: nodes_comm(). Local. May throw std::bad_alloc.
void open_nodes_mail(Word comm, int world_ranks);
// Collective: takes what others have sent and nobody has read, so that nothing is under way when MPI_Finalize comes.
void close_nodes_mail();

// Between these two; by any thread that the host permits to call it. May throw std::bad_alloc.
void send_letter(int world_rank, const node::NodesLetter& letter);
// Those that have come for a communicator, oldest first.
std::vector<node::NodesLetter> collect_letters(const node::Identity& communicator);
// A communicator has ended, or has its answer.
void forget_letters(const node::Identity& communicator);

}  // namespace millrace::shim
