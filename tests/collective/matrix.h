// The matrix of calls: which groups are made, and which calls each of them makes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calls.h"
#include "ranks.h"

namespace millrace::collective::test {

// A group and what is forced on it.
struct MatrixGroup {
  std::uint32_t ranks;
  Waiting waiting;
  bool small;          // small rings: then few bytes go round them many times
  bool threads;        // ranks as threads, else processes
  const char* forced;  // as MILLRACE_ALGORITHM
  const char* tree;    // as MILLRACE_TREE

  std::string name() const;
};

// Under `fully` the product of ranks, waiting, shapes and forced algorithms; else a sample in which every value occurs.
std::vector<MatrixGroup> matrix_groups(bool fully);

RankSetup matrix_setup(const MatrixGroup& group);

// Bytes that are asked of every kind and operation (up to where chunks begin), and those that are asked of few.
std::vector<std::size_t> matrix_bytes(const GroupShape& shape, bool large);

// The calls of one group in random order, from a seed that depends on the group alone. Under `fully` the product of
// kind, operation, bytes and place, the root going round; else a part of it.
std::vector<CallCase> matrix_calls(const MatrixGroup& group, bool fully);

// Which algorithm does a call.
Algorithm algorithm_of(const RankSetup& setup, const CallCase& call);

}  // namespace millrace::collective::test
