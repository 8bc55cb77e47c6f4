// Rows of bytes: memcpy against kernel::copy_row() by how much further in its page the destination lies than the
// source, in one process and by process_vm_readv; and from one process to another through a ring of 8 chunks of 32 KiB,
// whose writer stores through the caches or past them, beside what a cache line takes between the two cores. Medians.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "kernel/copy/row.h"
#include "shared_memory/futex.h"

namespace {

using namespace millrace;
using Copy = void (*)(void*, const void*, std::size_t);

char* memory(std::size_t bytes, int sharing) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  std::memset(mapped, 1, bytes);
  return static_cast<char*>(mapped);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Call>
double time_us(Call call) {
  constexpr int rounds = 9, calls = 10;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t start = monotonic_ns();
    for (int i = 0; i < calls; ++i) call();
    times.push_back(static_cast<double>(monotonic_ns() - start) / calls / 1000);
  }
  return median(times);
}

void plain(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

void distances() {
  constexpr std::size_t whole = 4 << 20;
  char *const from = memory(whole, MAP_PRIVATE), *const to = memory(whole, MAP_PRIVATE);
  const pid_t other = fork();
  if (other == 0) {
    std::memset(from, 2, whole);
    pause();
    _exit(0);
  }
  fmt::print("{:>10} {:>9} {:>12} {:>12} {:>17}\n", "bytes", "distance", "memcpy us", "copy_row us",
             "process_vm_readv");
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{32768}, std::size_t{1} << 20})
    for (const std::size_t distance : {0, 1, 16, 31, 32, 64, 2048, 4080}) {
      char* const target = to + distance;
      iovec here{target, bytes}, there{from, bytes};
      fmt::print("{:>10} {:>9} {:>12.2f} {:>12.2f} {:>17.2f}\n", bytes, distance,
                 time_us([&] { plain(target, from, bytes); }), time_us([&] { kernel::copy_row(target, from, bytes); }),
                 time_us([&] { process_vm_readv(other, &here, 1, &there, 1, 0); }));
    }
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

struct alignas(128) Flag {
  std::atomic<std::uint64_t> value;
};
struct Flags {
  Flag filled, done, turn;
};

// One of two processes; both run the same calls.
class Side {
 public:
  Side(Flags& flags, bool is_reader) : flags_(flags), is_reader_(is_reader) {}

  // Both pass here.
  void meet() {
    await(flags_.turn.value, 2 * meetings_ + (is_reader_ ? 1 : 0));
    flags_.turn.value.store(2 * meetings_ + (is_reader_ ? 2 : 1), std::memory_order_release);
    await(flags_.turn.value, 2 * ++meetings_);
  }
  double line_ns() {
    constexpr int rounds = 2000;
    const std::uint64_t start = monotonic_ns();
    for (int i = 0; i < rounds; ++i) meet();
    return static_cast<double>(monotonic_ns() - start) / (2 * rounds);
  }
  void move(char* ring, char* own, std::size_t bytes, Copy write) {
    constexpr std::size_t slots = 8, chunk = 32 << 10;
    for (std::size_t at = 0; at < bytes; at += chunk, ++chunks_) {
      char* const slot = ring + chunks_ % slots * chunk;
      if (is_reader_) {
        await(flags_.filled.value, chunks_ + 1);
        kernel::copy_row(own + at, slot, chunk);
        flags_.done.value.store(chunks_ + 1, std::memory_order_release);
      } else {
        await(flags_.done.value, chunks_ < slots ? 0 : chunks_ + 1 - slots);
        write(slot, own + at, chunk);
        flags_.filled.value.store(chunks_ + 1, std::memory_order_release);
      }
    }
  }

 private:
  static void await(const std::atomic<std::uint64_t>& flag, std::uint64_t least) {
    while (flag.load(std::memory_order_acquire) < least) shared_memory::cpu_pause();
  }

  Flags& flags_;
  bool is_reader_;
  std::uint64_t meetings_ = 0, chunks_ = 0;
};

void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

void between_processes() {
  constexpr std::size_t bytes = 1 << 20;
  constexpr int rounds = 11;
  auto* const flags = new (memory(4096, MAP_SHARED)) Flags{};
  char *const ring = memory(8 * (32 << 10), MAP_SHARED), *const own = memory(bytes + 4096, MAP_PRIVATE) + 16;
  const pid_t child = fork();
  pin(child == 0 ? 1 : 0);
  if (child == 0) std::memset(own, 2, bytes);
  Side side(*flags, child == 0);
  std::vector<double> lines, through, past;
  for (int round = 0; round < rounds; ++round) {
    lines.push_back(side.line_ns());
    for (const Copy write : {Copy{kernel::copy_row}, Copy{kernel::copy_row_streaming}}) {
      side.meet();
      const double us = time_us([&] { side.move(ring, own, bytes, write); });
      (write == Copy{kernel::copy_row} ? through : past).push_back(us);
    }
  }
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  fmt::print(
      "\n1 MiB from process to process: {:.1f} us through the caches, {:.1f} past them; a cache line {:.0f} ns\n",
      median(through), median(past), median(lines));
}

}  // namespace

int main() {
  distances();
  between_processes();
}
