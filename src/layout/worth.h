// Whether Millrace packs faster than the host MPI does. See docs/layouts.md for the measurements.
#pragma once

#include <cstdint>

#include "layout/plan.h"

namespace millrace::layout {

bool worth(const Plan& plan, std::int64_t count);

}  // namespace millrace::layout
