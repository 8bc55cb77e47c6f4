// Collectives on a machine that need not be here: every rank runs the algorithms of src/collective as they are, on a
// segment of the usual layout, in a time of its own (clockwork.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective/selection.h"
#include "model/clockwork.h"
#include "model/costs.h"
#include "model/machine.h"

namespace millrace::model {

// What may be chosen otherwise in the design of SC18 (fixed_trees.h).
struct FixedDesign {
  bool has_tree = false;        // that of the selection, for Reduce; else as in the paper
  std::uint32_t cells = 4;      // of 32 KiB together
  bool copies_at_root = false;  // Reduce: into a cell, and from there to the receive buffer
};

inline constexpr collective::Kind modelled_kinds[] = {
    collective::Kind::barrier,   collective::Kind::bcast,    collective::Kind::reduce,
    collective::Kind::allreduce, collective::Kind::gather,   collective::Kind::scatter,
    collective::Kind::allgather, collective::Kind::alltoall, collective::Kind::reduce_scatter,
    collective::Kind::scan,      collective::Kind::exscan};

struct Question {
  Machine machine;
  Costs costs;
  collective::Selection selection;
  FixedDesign fixed;
  collective::Kind kind = collective::Kind::barrier;  // all but neighbor; root 0
  std::size_t bytes = 0;    // of a rank's buffer, or of a block where there is one for each rank
  std::uint32_t ranks = 2;  // on core 0, 1, ...; then again from core 0 on
  std::uint32_t nodes = 1;  // alike, of so many ranks each, which need a core each if there are several nodes
  WireCosts wire;
  std::uint32_t calls = 1;  // measured, one after the other, after two that are not
  bool any_order = false;   // reductions as of integers, else as of floating point
  bool keeps_events = true;
};

struct Answer {
  std::string failure;            // "" or why there is no answer
  const char* algorithm = "";     // who did it
  bool is_checked = false;        // bytes were really moved: only so is it known that ...
  bool is_right = false;          // ... every rank has the result
  double call_ns = 0;             // mean of the calls, by the rank that left last
  std::uint64_t moved_bytes = 0;  // between cores, in the measured calls: lines of flags and rows
  std::vector<Timeline> ranks;
};

// What all ranks together have in their buffers, from so many bytes on, is not moved: only its time is reckoned.
inline constexpr std::size_t least_unmoved_bytes = std::size_t{256} << 20;

Answer simulate(const Question& question);

}  // namespace millrace::model
