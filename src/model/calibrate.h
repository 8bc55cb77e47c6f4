// The costs of the machine that this runs on, as far as they can be measured on it in about a second: by two threads,
// on two cores for each distance that there is.
#pragma once

#include "model/costs.h"

namespace millrace::model {

// What there is no pair of cores for keeps its ratio to a line within a cache. Needs two processors; with less, costs
// stay as assumed.
Costs measure_costs();

}  // namespace millrace::model
