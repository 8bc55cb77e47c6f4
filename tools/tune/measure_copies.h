// Measures on this machine what the copy kernels choose from.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "kernel/copy/tuning.h"

namespace millrace::tools {

struct CopyChoice {
  std::string name;      // of the field of CopyTuning
  std::string standard;  // values as in the table
  std::string best;
  double gain = 1;  // time with the standard value / time with the best
};

// One field after the other: each of a few candidates, in turns over shapes where the field decides, the standard value
// kept unless another is faster by more than the noise. Takes some seconds; changes use_copy_tuning() meanwhile, so no
// other thread may copy. `choices` gets a line for each field that was measured. `progress` is told how much of the
// work is done.
kernel::CopyTuning measure_copies(std::vector<CopyChoice>& choices,
                                  const std::function<void(std::size_t done, std::size_t all)>& progress);

// What a field decides, and one of its values, in words.
std::string choice_in_words(const CopyChoice& choice);

}  // namespace millrace::tools
