// MILLRACE_LEARN: what a run shows of who does its collectives faster goes into a tuning table, by which later runs
// choose (plan/learned.h).
//
// A run that learns tries all the time, and also what else stays where the table has it: sums of floating-point
// numbers, whose last bits may then differ from run to run.
#pragma once

#include <span>
#include <string>

#include "plan/evidence.h"
#include "plan/learned.h"
#include "shim/node/communicators.h"

namespace millrace::shim {

// The rows of the tuning table in force that hold for this machine, host and job.
const plan::LearnedRows& learned_rows(int world_ranks);

// `path`: of the table, "" to learn nothing. Rank 0 of the world says what will keep it from being written. Before the
// first collective, by one thread.
void prepare_learning(const std::string& path, int world_rank, int world_ranks);
bool learns();

// What ranks have decided by, on one of them. Thread-safe.
void note_comparisons(const Communicator& communicator, std::span<const plan::Evidence::Comparison> comparisons);

// Merges it into the table, in which others may be doing the same. By one thread, before MPI_Finalize.
void keep_what_was_learned() noexcept;

}  // namespace millrace::shim
