// Questions to the model with figures that one can reckon with in the head.
#pragma once

#include <gtest/gtest.h>

#include "model/simulation.h"

namespace millrace::model {

// On all cores of a machine.
inline Question ask_of(const char* topology, collective::Kind kind, std::size_t bytes) {
  Question question;
  EXPECT_EQ(read_machine(topology, question.machine), "");
  question.kind = kind;
  question.bytes = bytes;
  question.ranks = question.machine.core_count();
  question.costs = {.line_ns = {0, 100, 1000, 10000},
                    .next_line_ns = 10,
                    .ahead_ns = 1e9,
                    .serve_ns = 0,
                    .lines_at_once = 1e9,
                    .taken_at_once = 1e9,
                    .copy_bytes_per_ns = 1,
                    .cache_bytes = 1e9,
                    .package_bytes_per_ns = 1e9,
                    .call_ns = 7,
                    .kernel_ns = 3,
                    .switch_ns = 50};
  return question;
}

}  // namespace millrace::model
