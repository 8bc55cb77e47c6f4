// Whether Millrace packs faster than the host MPI does. See docs/layouts.md for the measurements.
#pragma once

#include <cstdint>

#include "layout/plan.h"

namespace millrace::layout {

// More elements than this are worth taking; INT64_MAX: none.
std::int64_t worth_above(const Plan& plan);

}  // namespace millrace::layout
