#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "record/snapshot.h"

namespace millrace::record {
namespace {

constexpr auto not_accelerated = static_cast<std::size_t>(Reason::not_accelerated);

std::uint64_t calls_of_only_entry() {
  const Snapshot counted = snapshot();
  return counted.entries.size() == 1 ? counted.entries[0].outcome[not_accelerated] : 0;
}

bool counts_only_itself() {
  if (!snapshot().entries.empty() || snapshot().threads != 0) return false;
  add_call(1, 10, 1, no_algorithm, Reason::not_accelerated);
  return calls_of_only_entry() == 1 && snapshot().threads == 1;
}

bool counts_only_itself_and_its_thread() {
  if (!counts_only_itself()) return false;
  std::thread([] { add_call(1, 10, 1, no_algorithm, Reason::not_accelerated); }).join();
  return calls_of_only_entry() == 2 && snapshot().threads == 2;
}

int exit_code_of_child(bool (*check)()) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Fork, ChildStartsClean) {
  reset();
  for (int round = 0; round < 5; ++round) add_call(1, 10, 1, no_algorithm, Reason::not_accelerated);
  std::thread([] { add_call(2, 10, 1, 3, Reason::none); }).join();
  EXPECT_EQ(exit_code_of_child(counts_only_itself_and_its_thread), 0);
}

TEST(Fork, ParentKeepsItsCounts) {
  reset();
  for (int round = 0; round < 5; ++round) add_call(1, 10, 1, no_algorithm, Reason::not_accelerated);
  EXPECT_EQ(exit_code_of_child(counts_only_itself), 0);
  add_call(1, 10, 1, no_algorithm, Reason::not_accelerated);
  EXPECT_EQ(calls_of_only_entry(), 6u);
}

TEST(Fork, FromAThreadThatRecordsLeavesTheOthersBehind) {
  reset();
  add_call(9, 1, 1, no_algorithm, Reason::not_accelerated);
  int status = -1;
  std::thread([&status] {
    add_call(8, 1, 1, no_algorithm, Reason::not_accelerated);
    status = exit_code_of_child(counts_only_itself);  // starts no thread: ThreadSanitizer forbids it here
  }).join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(snapshot().entries.size(), 2u);
}

}  // namespace
}  // namespace millrace::record
