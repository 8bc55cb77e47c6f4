// Which algorithm of src/collective does a collective call: the measured thresholds, what settings change of them, and
// both in words. Depends on nothing that could differ between the ranks of a job whose environment is the same.
#pragma once

#include <string>
#include <string_view>

#include "collective/group_shape.h"
#include "collective/selection.h"

namespace millrace::plan {

// What the settings ask for (base/settings.h).
struct CollectiveSettings {
  bool rank_order = false;  // MILLRACE_ORDER=rank: the left fold always
  std::string_view tree;  // MILLRACE_TREE: "", or one or two (from the root, to the root) as tree_shape_of() reads them
  std::string_view force;   // MILLRACE_ALGORITHM: "barrier=tree,allreduce=slices"; "" for the table
  bool single_copy = true;  // MILLRACE_SINGLE_COPY=auto: ranks may read each other's memory
};

// The thresholds in force, from `thresholds` on. What cannot be read is ignored and described in `complaint` (one line,
// "" if all is well).
collective::Selection select_collectives(const CollectiveSettings& settings, std::string& complaint,
                                         const collective::Selection& thresholds = collective::standard_selection());

// "kary:2", "knomial:4", "flat", followed by any of ",socket" ",cache" ",leaders-last" ",small-first". Whether it could
// be read.
bool tree_shape_of(std::string_view text, collective::TreeShape& shape);

// Why a call goes the way it goes, for `millrace explain allreduce 32KiB`: a few lines. `crowded`: ranks share cores.
std::string explain_collective(const collective::Selection& selection, const collective::GroupShape& shape,
                               collective::Kind kind, std::size_t bytes, bool in_order, bool crowded = false);

}  // namespace millrace::plan
