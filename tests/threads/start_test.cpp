// Whether threads can be made.
#include "threads/start.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using millrace::threads::can_start;
using millrace::threads::openmp_stack_bytes;
using millrace::threads::StartTurn;

std::size_t stack_bytes(const char* entry) {
  const char* const environment[] = {"HOME=/", entry, nullptr};
  return openmp_stack_bytes(environment);
}

TEST(Start, StacksAreThoseOfTheEnvironment) {
  EXPECT_EQ(stack_bytes("OMP_NUM_THREADS=4"), 0u);
  EXPECT_EQ(stack_bytes("OMP_STACKSIZE=100"), 100u << 10);
  EXPECT_EQ(stack_bytes("GOMP_STACKSIZE= 2 M "), 2u << 20);
  EXPECT_EQ(stack_bytes("KMP_STACKSIZE=3g"), std::size_t{3} << 30);
  EXPECT_EQ(stack_bytes("OMP_STACKSIZE=4096B"), 4096u);
  EXPECT_EQ(stack_bytes("OMP_STACKSIZE=many"), 0u);
  EXPECT_EQ(stack_bytes("OMP_STACKSIZE=12345678901234567890123"), 0u);
}

TEST(Start, AStackBeyondAllMemoryCannotBeHad) {
  const char* const plain[] = {nullptr};
  EXPECT_TRUE(can_start(2, plain));
  const char* const environment[] = {"OMP_STACKSIZE=200000G", nullptr};  // more than addresses
  EXPECT_FALSE(can_start(2, environment));
}

TEST(Start, OneProcessAtATime) {
  StartTurn turn;
  ASSERT_TRUE(turn.is_ours());
  const auto other_gets_a_turn = [] {
    const pid_t child = fork();
    if (child == 0) _exit(StartTurn().is_ours() ? 1 : 0);
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
  };
  EXPECT_FALSE(other_gets_a_turn());
  turn.end();
  EXPECT_TRUE(other_gets_a_turn());
}

}  // namespace
