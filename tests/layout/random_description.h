// Random datatypes of every combiner, nested. The same seed gives the same types.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "layout/description.h"

namespace millrace::layout::test {

using Random = std::mt19937_64;

const std::vector<DescriptionPtr>& named_types();  // of different sizes, some with gaps
DescriptionPtr random_description(Random& random, int depth);

}  // namespace millrace::layout::test
