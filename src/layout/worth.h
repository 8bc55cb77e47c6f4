// Whether Millrace packs faster than the host MPI does. See docs/layouts.md for the measurements.
#pragma once

#include <cstdint>

#include "layout/plan.h"

namespace millrace::layout {

// More elements than this are worth taking, for a message or to be packed alone; INT64_MAX: none.
struct WorthAbove {
  std::int64_t for_message, for_packing;
};
WorthAbove worth_above(const Plan& plan);

}  // namespace millrace::layout
