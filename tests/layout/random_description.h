// Random datatypes of every combiner, nested. The same seed gives the same types.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "layout/description.h"

namespace millrace::layout::test {

using Random = std::mt19937_64;

const std::vector<DescriptionPtr>& named_types();  // of different sizes, some with gaps
DescriptionPtr named(const char* name);            // one of them

DescriptionPtr random_description(Random& random, int depth);

// For messages: "vector(2, 3, 4, MPI_INT)".
std::string text_of(const Description& description);

}  // namespace millrace::layout::test
