// What calls that we took have saved against the host, for the report: as many of a class as were counted, times what
// trials in this job have shown of it (plan/evidence.h). Of classes that were never tried nothing is known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/evidence.h"
#include "plan/learned.h"
#include "record/rank_record.h"
#include "shim/node/communicators.h"

namespace millrace::shim {

// What calls are alike: where this one belongs.
plan::LearnedCall call_class(const Communicator& communicator, const plan::EitherCall& call);

// The call under way on this thread is ours, and of this class; forgotten at the next one. Only while recording.
void note_class(const Communicator& communicator, const plan::EitherCall& call);
void forget_class();
// It has been done.
void count_saving(std::uint16_t entry) noexcept;

// What ranks have decided by, on each of them; what trying has cost this process. Thread-safe.
void note_costs(const Communicator& communicator, const plan::Evidence::Outcome& outcome);

// So far, of each entry.
std::vector<record::EntrySaving> savings();

}  // namespace millrace::shim
