// Predefined types by name, as they are on 64-bit Linux: for the notation, not for programs, whose host is asked.
#pragma once

#include <string_view>

#include "layout/description.h"

namespace millrace::layout {

// `name` in lower case and without MPI_; null if there is none.
DescriptionPtr find_predefined(std::string_view name);

}  // namespace millrace::layout
