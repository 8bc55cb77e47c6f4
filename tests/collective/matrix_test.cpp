// Every collective against the serial left fold, over ranks, kinds, operations, bytes, roots, places, algorithms and
// ways of waiting. Without MILLRACE_TEST_FULL a sample, the same every time, in which every value of every axis occurs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "collective/algorithms.h"
#include "matrix.h"

namespace millrace::collective::test {
namespace {

bool test_fully() { return std::getenv("MILLRACE_TEST_FULL") != nullptr; }

class Matrix : public testing::TestWithParam<MatrixGroup> {};

TEST_P(Matrix, IsTheLeftFold) {
  const RankSetup setup = matrix_setup(GetParam());
  ASSERT_NE(setup.shape.ranks, 0u) << "a forced algorithm or tree cannot be read";
  prepare_operations();
  forget_arrivals();
  const std::vector<CallCase> calls = matrix_calls(GetParam(), test_fully());
  EXPECT_EQ(run_all(setup,
                    [&](Group& group) -> std::string {
                      for (const CallCase& call : calls)
                        if (std::string wrong = check_call(group, call); !wrong.empty()) return wrong;
                      return "";
                    }),
            "");
}

std::string name_of(const testing::TestParamInfo<MatrixGroup>& tested) { return tested.param.name(); }

INSTANTIATE_TEST_SUITE_P(Each, Matrix, testing::ValuesIn(matrix_groups(test_fully())), name_of);

// What occurs anywhere in the matrix, as words.
std::set<std::string> occurrences(bool fully) {
  std::set<std::string> all;
  for (const MatrixGroup& group : matrix_groups(fully)) {
    const RankSetup setup = matrix_setup(group);
    all.insert("ranks " + std::to_string(group.ranks));
    all.insert(std::string("waiting ") + shared_memory::waiting_name(group.waiting));
    all.insert(group.small ? "small" : "usual");
    all.insert(group.threads ? "threads" : "processes");
    all.insert(std::string("forced ") + group.forced + ' ' + group.tree);
    std::set<std::size_t> bytes;
    for (const bool large : {false, true})
      for (const std::size_t each : matrix_bytes(setup.shape, large)) bytes.insert(each);
    for (const CallCase& call : matrix_calls(group, fully)) {
      const std::string kind = kind_name(call.kind);
      const Algorithm algorithm = algorithm_of(setup, call);
      all.insert(kind + ' ' + find_algorithm(call.kind, algorithm)->name);
      if (call.operation) {
        all.insert(kind + ' ' + call.operation->name + (call.in_place ? " in place" : ""));
        all.insert(std::string(find_algorithm(call.kind, algorithm)->name) + (call.in_place ? " in place" : ""));
      } else if (call.kind == Kind::bcast && bytes.count(call.elements) != 0) {
        all.insert((group.small ? "small " : "usual ") + std::to_string(call.elements) + " bytes");
      }
      if (call.kind == Kind::bcast || call.kind == Kind::reduce)
        all.insert(kind + " root " + std::to_string(call.root) + " of " + std::to_string(group.ranks));
    }
  }
  return all;
}

TEST(MatrixItself, HasEveryAlgorithmOfEveryKind) {
  const std::set<std::string> all = occurrences(false);
  for (const AlgorithmEntry& entry : algorithms()) {
    if (entry.algorithm == Algorithm::mail || entry.run.blocks) continue;  // exchange_test.cpp
    const std::string each = std::string(kind_name(entry.kind)) + ' ' + entry.name;
    EXPECT_EQ(all.count(each), 1u) << each;
  }
}

// Of the sample and the whole the same values occur, those of the largest messages too.
TEST(MatrixItself, SampleHasEveryValueOfEveryAxis) {
  const std::set<std::string> sample = occurrences(false), whole = occurrences(true);
  for (const std::string& each : whole) EXPECT_EQ(sample.count(each), 1u) << each;
  EXPECT_GT(whole.size(), 150u);
}

}  // namespace
}  // namespace millrace::collective::test
