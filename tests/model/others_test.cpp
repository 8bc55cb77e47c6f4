// The algorithms of others, with costs that one can reckon with in the head.
#include "model/others.h"

#include <gtest/gtest.h>

#include <string>

#include "questions.h"

namespace millrace::model {
namespace {

using collective::Kind;

Question ask(const char* topology, Kind kind, std::size_t bytes) {
  Question question = ask_of(topology, kind, bytes);
  question.costs.copy_bytes_per_ns = 1e9;
  question.costs.kernel_ns = 0;
  question.costs.system_call_ns = 500;
  question.costs.system_bytes_per_ns = 10;
  return question;
}

double time_of(const Question& question, Other other) {
  const Answer answer = simulate_other(question, other);
  EXPECT_EQ(answer.failure, "") << other_name(other);
  return answer.call_ns;
}

// A message: 100 ns of the sender, a line, and 100 ns of the receiver, who has spent them by then.
TEST(Others, MessagesAlongTrees) {
  const Question question = ask("core:8", Kind::bcast, 0);
  EXPECT_DOUBLE_EQ(time_of(question, Other::flat), 7 + 7 * 100 + 100);
  // 0 to 4, 4 to 6, 6 to 7.
  EXPECT_DOUBLE_EQ(time_of(question, Other::binomial), 7 + 3 * (100 + 100));
}

TEST(Others, ABarrierByDissemination) {
  EXPECT_DOUBLE_EQ(time_of(ask("core:2", Kind::barrier, 0), Other::doubling), 7 + 100 + 100);
  EXPECT_DOUBLE_EQ(time_of(ask("core:8", Kind::barrier, 0), Other::doubling), 7 + 3 * (100 + 100));
  EXPECT_DOUBLE_EQ(time_of(ask("core:5", Kind::barrier, 0), Other::doubling), 7 + 3 * (100 + 100));
}

// Large messages are read by the kernel: 500 ns and 10 bytes a nanosecond. The sender waits for a line more.
TEST(Others, LargeMessagesAreReadByTheKernel) {
  EXPECT_DOUBLE_EQ(time_of(ask("core:2", Kind::bcast, 100000), Other::flat), 7 + 100 + 100 + 500 + 10000 + 100);
}

// In a ring each rank sends and receives a part in ranks - 1 steps, twice: 1/4 of 400000 bytes six times.
TEST(Others, ARingMovesEachPartTwice) {
  const double time_ns = time_of(ask("core:4", Kind::allreduce, 400000), Other::ring);
  EXPECT_GT(time_ns, 6 * (500 + 10000));
  EXPECT_LT(time_ns, 6 * (500 + 10000 + 500));
}

// Of the design of SC18, whose root reduces where the result is wanted: 100 bytes at one a nanosecond.
TEST(Others, OneMoreCopyAtTheRoot) {
  Question question = ask("core:2", Kind::reduce, 100);
  question.costs.copy_bytes_per_ns = 1;
  const double without_ns = time_of(question, Other::sc18);
  question.fixed.copies_at_root = true;
  EXPECT_DOUBLE_EQ(time_of(question, Other::sc18), without_ns + 100);
}

TEST(Others, AllEndForAnyNumberOfRanks) {
  for (std::uint32_t cores = 1; cores <= 9; ++cores)
    for (const Kind kind : modelled_kinds)
      for (const std::size_t bytes : {8u, 4096u, 40000u})
        for (const Other other : all_others) {
          Question question = ask(("core:" + std::to_string(cores)).c_str(), kind, bytes);
          question.calls = 7;
          const Answer answer = simulate_other(question, other);
          const bool is_none = answer.failure == "there is no such algorithm for this call";
          EXPECT_TRUE(answer.is_right || is_none) << answer.failure << ' ' << other_name(other) << ' ' << cores;
        }
}

// Children read the root's flag, of which the data are a line away. Their trees respect sockets from 512 bytes on.
TEST(Others, TheFixedDesign) {
  EXPECT_NEAR(time_of(ask("core:4", Kind::bcast, 8), Other::sc18), 7 + 100 + 100, 1e-6);
  const auto edges_across = [](std::size_t bytes) {
    const Question question = ask("pack:2 core:8", Kind::reduce, bytes);
    const Answer answer = simulate_other(question, Other::sc18);
    std::size_t across = 0;
    for (std::uint32_t rank = 0; rank < answer.ranks.size(); ++rank)
      for (const Event& event : answer.ranks[rank].events)
        across += event.doing == Doing::wait && question.machine.between(rank, event.other) == Distance::across;
    return across;
  };
  EXPECT_EQ(edges_across(256), 2u);
  EXPECT_EQ(edges_across(512), 1u);
}

// A parent that has one cell of each child waits for it, and its children for the parent.
TEST(Others, TheFixedDesignWithOtherChoices) {
  Question question = ask("pack:2 core:4", Kind::reduce, 1 << 20);
  question.costs.line_ns = {0, 1, 1, 1};
  question.costs.copy_bytes_per_ns = 10;
  const double four_ns = time_of(question, Other::sc18);
  question.fixed.cells = 1;
  EXPECT_GT(time_of(question, Other::sc18), 1.2 * four_ns);
  // A flat tree: the root hears from all others, four of them in another socket.
  question = ask("pack:2 core:4", Kind::reduce, 8);
  question.fixed.has_tree = true;
  question.selection.gather_tree = {.kind = collective::TreeKind::flat};
  EXPECT_EQ(simulate_other(question, Other::sc18).ranks[0].events.size(), 2 * 7u);
}

}  // namespace
}  // namespace millrace::model
