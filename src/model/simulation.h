// Collectives on a machine that need not be here: every rank is a fiber of this process, which runs the algorithms of
// src/collective as they are, on a segment of the usual layout, in a time of its own.
//
//   a wait for a flag   ends when the flag was written, plus a line between the two cores, or at once if the line is
//                       still the reader's
//   a copy, a kernel    bytes at the rate of the core, of lines from where its operands lie, or of the package,
//   whatever
//                       is slowest
//   ranks on one core   run in turn, from wait to wait
//
// The rank whose time is least goes on, so that what is shared is taken in the order of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective/selection.h"
#include "model/machine.h"

namespace millrace::model {

struct Question {
  Machine machine;
  Costs costs;
  collective::Selection selection;
  collective::Kind kind = collective::Kind::barrier;  // or bcast, reduce, allreduce; root 0
  std::size_t bytes = 0;
  std::uint32_t ranks = 2;  // on core 0, 1, ...; then again from core 0 on
  std::uint32_t calls = 1;  // measured, one after the other, after two that are not
};

enum class Doing : std::uint8_t { wait, copy, reduce };

struct Event {
  Doing doing;
  std::uint32_t other;  // waited for, or whose memory it is
  double from_ns, until_ns;
};

struct Timeline {
  double came_ns = 0, left_ns = 0, waited_ns = 0;
  std::vector<Event> events;
};

struct Answer {
  std::string failure;            // "" or why there is no answer
  const char* algorithm = "";     // who did it
  bool is_right = false;          // every rank has the result
  double call_ns = 0;             // mean of the calls, by the rank that left last
  std::uint64_t moved_bytes = 0;  // between cores, in the measured calls: lines of flags and rows
  std::vector<Timeline> ranks;
};

Answer simulate(const Question& question);

}  // namespace millrace::model
