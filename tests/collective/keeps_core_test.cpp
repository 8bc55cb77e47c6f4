// Who waits for a copy may keep its core, where others want it that are no ranks of the same job.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "collective/across/here.h"
#include "collective/collective.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

Group* own = nullptr;
std::uint64_t most_seen_ns = 0;
std::atomic<int>* waits = nullptr;  // calls in which rank 1 has waited, for both ranks to see
int calls = 0;

bool look(void*) {
  if (!own || own->rank() != 1) return true;
  most_seen_ns = std::max(most_seen_ns, own->keeps_core_ns);
  waits->store(calls);
  return true;
}

// For how long rank 1 keeps its core while it waits for rank 0, at most.
std::string one_call(Group& group, std::size_t bytes, bool keeps) {
  std::vector<char> data(bytes);
  most_seen_ns = 0;
  ++calls;
  while (group.rank() == 0 && waits->load() < calls) sched_yield();
  if (const Result result = bcast(group, data.data(), bytes, 0); result != Result::ok) return result_name(result);
  if (group.keeps_core_ns != 0) return "it is kept after the call";
  if (group.rank() == 0) return "";
  if ((most_seen_ns != 0) != keeps) return fmt::format("{} bytes: {} ns", bytes, most_seen_ns);
  return "";
}

TEST(KeepsCore, WhereACopyIsWaitedFor) {
  void* const memory = mmap(nullptr, sizeof *waits, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  waits = static_cast<std::atomic<int>*>(memory);
  RankSetup setup = ranks(2);
  setup.waiting = Waiting::spin;
  setup.progress = look;
  EXPECT_EQ(run_all(setup,
                    [](Group& group) -> std::string {
                      own = &group;
                      for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{64}})
                        if (std::string said = one_call(group, bytes, bytes > 64); !said.empty()) return said;
                      const GroupHere step_of_nodes(group);
                      return one_call(group, 1 << 20, false);
                    }),
            "");
  munmap(memory, sizeof *waits);
}

}  // namespace
}  // namespace millrace::collective::test
