// Threads, processes and modes around a threaded reduction.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "millrace/millrace.h"

namespace {

constexpr std::size_t elements = 10'007;

std::size_t threads_of_this_process() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

std::vector<double> sum_of_halves(unsigned threads) {
  millrace_use_threads(threads, 1);
  const std::vector<double> in(elements, 0.5);
  std::vector<double> inout(elements, 0.25);
  EXPECT_EQ(millrace_reduce(MILLRACE_SUM, MILLRACE_F64, in.data(), inout.data(), elements), MILLRACE_OK);
  millrace_use_threads(1, 0);
  return inout;
}

const std::vector<double> expected(elements, 0.75);

// A reduction goes alone while another process of Millrace, such as a test beside this one, has its turn at making
// threads for longer than is worth waiting: a later one has them. Reduces until this process has so many, or for 20 s.
std::size_t threads_after_reductions(unsigned threads) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do EXPECT_EQ(sum_of_halves(threads), expected);
  while (threads_of_this_process() < threads && std::chrono::steady_clock::now() < deadline);
  return threads_of_this_process();
}

TEST(Threads, AreReallyThere) {
  const std::size_t before = threads_of_this_process();
  EXPECT_GE(threads_after_reductions(4), std::max<std::size_t>(4, before));
}

TEST(Threads, SmallReductionsAndOneThreadStartNone) {
  const std::size_t before = threads_of_this_process();
  millrace_use_threads(8, elements * sizeof(double) + 1);
  const std::vector<double> in(elements, 0.5);
  std::vector<double> inout(elements, 0.25);
  millrace_reduce(MILLRACE_SUM, MILLRACE_F64, in.data(), inout.data(), elements);
  EXPECT_EQ(inout, expected);
  EXPECT_EQ(sum_of_halves(1), expected);
  EXPECT_EQ(threads_of_this_process(), before);
}

TEST(Threads, TheQuestionHasAReason) {
  const char* why = nullptr;
  millrace_use_threads(3, 1000);
  EXPECT_EQ(millrace_threads(1000, &why), 3u);
  EXPECT_STREQ(why, "as MILLRACE_THREADS says");
  EXPECT_EQ(millrace_threads(999, &why), 1u);
  EXPECT_STREQ(why, "smaller than is worth a second thread");
  EXPECT_EQ(millrace_use_threads(1025, 0), MILLRACE_BAD_THREADS);
  EXPECT_EQ(millrace_threads(1000, nullptr), 3u);
  millrace_use_threads(0, 0);
  EXPECT_GE(millrace_threads(std::size_t{1} << 40, &why), 1u);
  EXPECT_GT(std::string(why).size(), 5u);
  millrace_use_threads(1, 0);
  EXPECT_EQ(millrace_threads(std::size_t{1} << 40, &why), 1u);
}

// libgomp's threads do not come along with fork(); a parallel region there would wait for them for ever.
TEST(Threads, AChildOfForkReducesAlone) {
  EXPECT_EQ(sum_of_halves(4), expected);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool right = sum_of_halves(4) == expected && threads_of_this_process() == 1;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(sum_of_halves(4), expected);  // and the parent goes on
}

// While it lives this user may not start a thread. Root always may, so it is another user meanwhile.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    getrlimit(RLIMIT_NPROC, &before_);
    const rlimit none{1, before_.rlim_max};
    is_set_ = setrlimit(RLIMIT_NPROC, &none) == 0;
    is_root_ = geteuid() == 0;
    if (is_root_) is_set_ = is_set_ && setresuid(54321, 54321, 0) == 0;
  }
  ~NoMoreThreads() {
    if (is_root_) {
      EXPECT_EQ(setresuid(0, 0, 0), 0);
    }
    setrlimit(RLIMIT_NPROC, &before_);
  }
  bool is_set() const { return is_set_; }

 private:
  rlimit before_{};
  bool is_set_ = false;
  bool is_root_ = false;
};

// libgomp ends the process.
TEST(Threads, ALimitOnProcessesMeansOneThread) {
  {
    const NoMoreThreads limit;
    if (!limit.is_set()) GTEST_SKIP() << "no other user can be had here";
    if (access(std::filesystem::read_symlink("/proc/self/exe").c_str(), R_OK) != 0)
      GTEST_SKIP() << "other users cannot read the checkout, and so not what is loaded";
    EXPECT_EQ(sum_of_halves(7), expected);
    const char* why = nullptr;
    millrace_use_threads(7, 1000);
    EXPECT_EQ(millrace_threads(1000, &why), 1u);
    EXPECT_STREQ(why, "no more threads can be made (limits of processes, or of memory)");
  }
  EXPECT_GE(threads_after_reductions(7), 7u);  // and later they are made
  const NoMoreThreads limit;
  millrace_use_threads(7, 1000);
  EXPECT_EQ(millrace_threads(1000, nullptr), 7u);  // those that are there
  EXPECT_EQ(sum_of_halves(7), expected);
  EXPECT_EQ(sum_of_halves(5), expected);
  EXPECT_EQ(sum_of_halves(7), expected);  // the runtime has ended two
}

TEST(Threads, RunInTheCallersRoundingMode) {
  EXPECT_EQ(sum_of_halves(4), expected);  // the threads exist, and in the default mode
  std::vector<float> in(elements, 1e-10f), up(elements, 1.0f);
  std::fesetround(FE_UPWARD);
  millrace_use_threads(4, 1);
  millrace_reduce(MILLRACE_SUM, MILLRACE_F32, in.data(), up.data(), elements);
  std::fesetround(FE_TONEAREST);
  std::vector<float> nearest(elements, 1.0f);
  millrace_reduce(MILLRACE_SUM, MILLRACE_F32, in.data(), nearest.data(), elements);
  millrace_use_threads(1, 0);
  EXPECT_EQ(up, std::vector<float>(elements, 1.0f + 0x1p-23f));
  EXPECT_EQ(nearest, std::vector<float>(elements, 1.0f));
}

// A signal that the program waits for with sigwait() or handles must not end in a thread that it knows nothing of.
TEST(Threads, LeaveTheProgramsSignalsAlone) {
  EXPECT_EQ(sum_of_halves(4), expected);
  sigset_t before, blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  EXPECT_EQ(sum_of_halves(4), expected);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGUSR1), 1);
  EXPECT_EQ(sigismember(&after, SIGUSR2), 0);
  kill(getpid(), SIGUSR1);  // every other thread has it blocked, else the default action would end this process
  int signal = 0;
  EXPECT_EQ(sigwait(&blocked, &signal), 0);
  EXPECT_EQ(signal, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
