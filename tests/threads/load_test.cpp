#include "threads/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "scratch.h"

namespace millrace::threads {
namespace {

using tools::Scratch;

void write_thread(Scratch& root, int id, char state) {
  root.write("proc/self/task/" + std::to_string(id) + "/stat", std::to_string(id) + " (a) R (b) " + state + " 1 2 3\n");
}

TEST(Load, CountsWhoRunsWithoutTheCallerAndOurWorkers) {
  Scratch root;
  root.write("proc/loadavg", "0.20 0.18 0.12 5/80 11206\n");
  write_thread(root, 10, 'R');
  write_thread(root, 11, 'R');
  write_thread(root, 12, 'S');
  write_thread(root, 13, 'R');
  const Load load = read_load(10, {13, 14}, 8, root.path());
  EXPECT_EQ(load.busy_threads, 1);  // 11
  EXPECT_EQ(load.busy_workers, 1);  // 13 still spins
  EXPECT_EQ(load.idle_processors, 8 - 4);
}

TEST(Load, IsNeverBelowZeroIdleProcessors) {
  Scratch root;
  root.write("proc/loadavg", "90.0 80.0 70.0 900/1000 1\n");
  write_thread(root, 10, 'R');
  EXPECT_EQ(read_load(10, {}, 8, root.path()).idle_processors, 0);
}

TEST(Load, IsNotKnownWithoutTheFiles) {
  Scratch root;
  EXPECT_EQ(read_load(10, {}, 8, root.path()).busy_threads, -1);
  write_thread(root, 10, 'R');
  EXPECT_EQ(read_load(10, {}, 8, root.path()).idle_processors, -1);
  root.write("proc/loadavg", "nonsense");
  EXPECT_EQ(read_load(10, {}, 8, root.path()).idle_processors, -1);
}

TEST(Load, AProcessWithVeryManyThreadsCountsAsBusy) {
  Scratch root;
  root.write("proc/loadavg", "0.20 0.18 0.12 1/80 11206\n");
  for (int id = 10; id < 90; ++id) write_thread(root, id, 'S');
  EXPECT_GE(read_load(10, {}, 8, root.path()).busy_threads, 64);
}

TEST(Load, ABusyThreadOfThisProcessIsSeen) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  int most = 0;
  for (int look = 0; look < 200 && most == 0; ++look) most = std::max(most, read_load(gettid(), {}, 2).busy_threads);
  stop.store(true, std::memory_order_relaxed);
  busy.join();
  EXPECT_GE(most, 1);
}

}  // namespace
}  // namespace millrace::threads
