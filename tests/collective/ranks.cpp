#include "ranks.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace millrace::collective::test {
namespace {

constexpr std::size_t outcome_bytes = 400;

// Shared, zeroed memory that goes with the process.
class Mapping {
 public:
  explicit Mapping(std::size_t bytes)
      : bytes_(bytes), base_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (base_ == MAP_FAILED) std::abort();
  }
  ~Mapping() { munmap(base_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  char* base() const { return static_cast<char*>(base_); }

 private:
  std::size_t bytes_;
  void* base_;
};

std::string be_rank(const RankSetup& setup, char* base, std::uint32_t rank, const Body& body) {
  Group group;
  Options options;
  options.waiting = setup.waiting;
  options.lets_write = setup.lets_write;
  options.selection = &setup.selection;
  options.host.progress = setup.progress;
  options.seating = setup.seating;
  options.seating.seat = rank;
  if (group.join(base, setup.shape, rank, options) != Status::ok) return "join failed";
  if (const Result result = group.start(); result != Result::ok) return fmt::format("start: {}", result_name(result));
  std::string outcome = body(group);
  if (!outcome.empty()) group.fail(Result::peer_died);  // let the others go
  return outcome;
}

std::vector<std::string> run_threads(const RankSetup& setup, char* base, const Body& body) {
  std::vector<std::string> outcomes(setup.shape.ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < setup.shape.ranks; ++rank)
    threads.emplace_back([&, rank] { outcomes[rank] = be_rank(setup, base, rank, body); });
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

std::string ending(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                             : fmt::format("exit status {}", WEXITSTATUS(status));
}

std::vector<std::string> run_processes(const RankSetup& setup, char* base, const Body& body) {
  const std::uint32_t count = setup.shape.ranks;
  const Mapping said(count * outcome_bytes);
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string outcome = be_rank(setup, base, rank, body);
      std::strncpy(said.base() + rank * outcome_bytes, outcome.c_str(), outcome_bytes - 1);
      _exit(0);
    }
    children.push_back(child);
  }
  std::vector<std::string> outcomes(count);
  std::vector<bool> ended(count);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(setup.timeout_seconds);
  for (std::uint32_t left = count; left != 0;) {
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      int status = 0;
      if (ended[rank] || waitpid(children[rank], &status, WNOHANG) == 0) continue;
      ended[rank] = true;
      --left;
      outcomes[rank] = ending(status);
      if (outcomes[rank].empty()) outcomes[rank] = said.base() + rank * outcome_bytes;
    }
    if (std::chrono::steady_clock::now() > deadline)
      for (std::uint32_t rank = 0; rank < count; ++rank)
        if (!ended[rank]) kill(children[rank], SIGKILL);
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  return outcomes;
}

}  // namespace

RankSetup ranks(std::uint32_t count) {
  RankSetup setup;
  setup.shape.ranks = count;
  return setup;
}

std::vector<std::string> run_ranks(const RankSetup& setup, const Body& body) {
  const Mapping memory(segment_bytes(setup.shape));
  return setup.threads ? run_threads(setup, memory.base(), body) : run_processes(setup, memory.base(), body);
}

std::string run_all(const RankSetup& setup, const Body& body) {
  std::string all;
  const std::vector<std::string> outcomes = run_ranks(setup, body);
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
    if (!outcomes[rank].empty()) all += fmt::format("rank {}: {}\n", rank, outcomes[rank]);
  return all;
}

}  // namespace millrace::collective::test
