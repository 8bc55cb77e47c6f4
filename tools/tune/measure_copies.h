// Measures on this machine what the copy kernels choose from.
#pragma once

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
// other thread may copy. `choices` gets a line for each field that was measured.
kernel::CopyTuning measure_copies(std::vector<CopyChoice>& choices);

}  // namespace millrace::tools
