// Exchanges and Bcast among forked processes, without any MPI: by one copy (process_vm_readv) and by two, beside
// memcpy. All take turns within each round. Prints the median of the rounds in ns per call, as measured by rank 0
// between two barriers, and the ratio of two copies to one (above 1: one copy is faster).
//
//   exchanges_speed [--ranks N] [--rounds N] [--bytes LIST] [--only TEXT]
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "collective/collective.h"
#include "collective/exchange.h"

namespace {

using namespace millrace;
using namespace millrace::collective;

struct Arguments {
  std::uint32_t ranks = 2;
  int rounds = 11;
  std::vector<std::size_t> bytes{8,      64,     512,    4096,    16384,   32768,   65536,
                                 131072, 262144, 524288, 1048576, 4194304, 16777216};
  std::string only;
};

const char* const calls[] = {"bcast", "alltoall", "gather", "scatter", "allgather"};

struct Rank {
  Group& group;
  std::vector<char>&in, &out;  // a message for, and from, every rank
  std::vector<Message> sends{}, receives{};
  std::vector<Data> everybody{};
};

// Lists what a call sends and receives.
void prepare(Rank& self, const std::string& name, std::size_t bytes) {
  const Group& group = self.group;
  const auto at = [&](std::vector<char>& buffer, std::uint32_t rank) {
    return Data{bytes, buffer.data() + rank * bytes, nullptr, nullptr};
  };
  self.sends.clear();
  self.receives.clear();
  self.everybody.clear();
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
    const bool sends_to = name == "alltoall" || (name == "gather" ? rank == 0 : group.rank() == 0);
    const bool receives_from = name == "alltoall" || (name == "gather" ? group.rank() == 0 : rank == 0);
    if (sends_to) self.sends.push_back({rank, at(self.in, rank)});
    if (receives_from) self.receives.push_back({rank, at(self.out, rank)});
    self.everybody.push_back(at(self.out, rank));
  }
}

Result call(Rank& self, const std::string& name, std::size_t bytes) {
  if (name == "bcast") return bcast(self.group, self.in.data(), bytes, 0);
  if (name == "allgather")
    return publish(self.group, Kind::allgather, 0, {bytes, self.in.data(), nullptr, nullptr}, self.everybody);
  const Kind kind = name == "gather" ? Kind::gather : name == "scatter" ? Kind::scatter : Kind::alltoall;
  return exchange(self.group, kind, 0, self.sends, self.receives);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double copy_ns(Rank& self, std::size_t bytes, int repeats) {
  const std::uint64_t begin_ns = monotonic_ns();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::memcpy(self.out.data(), self.in.data(), bytes);
    asm volatile("" ::: "memory");
  }
  return static_cast<double>(monotonic_ns() - begin_ns) / repeats;
}

double call_ns(Rank& self, const std::string& name, std::size_t bytes, int repeats) {
  if (barrier(self.group) != Result::ok) std::abort();
  const std::uint64_t begin_ns = monotonic_ns();
  for (int repeat = 0; repeat < repeats; ++repeat)
    if (call(self, name, bytes) != Result::ok) std::abort();
  if (barrier(self.group) != Result::ok) std::abort();
  return static_cast<double>(monotonic_ns() - begin_ns) / repeats;
}

void run(const Arguments& arguments, Group& twice, Group& once) {
  const std::size_t most = *std::max_element(arguments.bytes.begin(), arguments.bytes.end());
  std::vector<char> in(most * arguments.ranks, 'i'), out(most * arguments.ranks, 'o');
  Rank two{twice, in, out}, one{once, in, out};
  const bool speaks = twice.rank() == 0;
  if (speaks) fmt::print("{:10} {:>9} {:>11} {:>11} {:>11} {:>6}\n", "call", "bytes", "memcpy", "two", "one", "gain");
  for (const char* name : calls) {
    if (!arguments.only.empty() && arguments.only != name) continue;
    for (const std::size_t bytes : arguments.bytes) {
      const int repeats = static_cast<int>(std::clamp<std::size_t>((std::size_t{4} << 20) / (bytes + 4096), 2, 500));
      std::vector<double> copies, twos, ones;
      prepare(two, name, bytes);
      prepare(one, name, bytes);
      for (int round = 0; round < arguments.rounds; ++round) {
        copies.push_back(copy_ns(two, bytes, repeats));
        twos.push_back(call_ns(two, name, bytes, repeats));
        ones.push_back(call_ns(one, name, bytes, repeats));
      }
      if (speaks)
        fmt::print("{:10} {:9} {:11.0f} {:11.0f} {:11.0f} {:6.2f}\n", name, bytes, median(copies), median(twos),
                   median(ones), median(twos) / median(ones));
      std::fflush(stdout);
    }
  }
}

void pin(std::uint32_t rank) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(rank % static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN)), &mask);
  sched_setaffinity(0, sizeof mask, &mask);
}

void be_rank(const Arguments& arguments, char* base, const GroupShape& shape, std::uint32_t rank) {
  pin(rank);
  Selection two_copies, one_copy;
  two_copies.single_copy = false;
  one_copy.bcast_single_copy_bytes = one_copy.exchange_single_copy_bytes = one_copy.publish_single_copy_bytes = 4097;
  one_copy.bcast_single_copy_ranks = never;
  one_copy.choose_copies = false;
  one_copy.exchange_single_copy_crowded_bytes = one_copy.publish_single_copy_crowded_bytes = 4097;
  Group twice, once;
  Options options;
  options.selection = &two_copies;
  if (twice.join(base, shape, rank, options) != Status::ok || twice.start() != Result::ok) std::abort();
  options.selection = &one_copy;
  if (once.join(base + segment_bytes(shape), shape, rank, options) != Status::ok || once.start() != Result::ok)
    std::abort();
  if (rank == 0 && !once.reads_memory()) fmt::print("memory of other ranks may not be read here\n");
  run(arguments, twice, once);
}

Arguments read(int count, char** words) {
  Arguments arguments;
  for (int index = 1; index < count; index += 2) {
    const std::string name = words[index], value = index + 1 < count ? words[index + 1] : "";
    const bool is_known = name == "--ranks" || name == "--rounds" || name == "--only" || name == "--bytes";
    if (!is_known || value.empty()) {
      fmt::print(stderr, "exchanges_speed: '{}'? There are --ranks N, --rounds N, --only NAME, --bytes N,...\n", name);
      std::exit(2);
    }
    if (name == "--ranks") arguments.ranks = static_cast<std::uint32_t>(std::atoi(value.c_str()));
    if (name == "--rounds") arguments.rounds = std::atoi(value.c_str());
    if (name == "--only") arguments.only = value;
    if (name == "--bytes") {
      arguments.bytes.clear();
      for (std::size_t at = 0; at < value.size();
           at = value.find(',', at) == std::string::npos ? value.size() : value.find(',', at) + 1)
        arguments.bytes.push_back(static_cast<std::size_t>(std::atoll(value.c_str() + at)));
    }
  }
  return arguments;
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments = read(count, words);
  GroupShape shape = shape_for(arguments.ranks, std::size_t{64} << 20);
  if (shape.ranks == 0 || arguments.bytes.empty()) return 1;
  void* const base = mmap(nullptr, 2 * segment_bytes(shape), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return 1;
  for (std::uint32_t rank = 1; rank < arguments.ranks; ++rank)
    if (fork() == 0) {
      be_rank(arguments, static_cast<char*>(base), shape, rank);
      _exit(0);
    }
  be_rank(arguments, static_cast<char*>(base), shape, 0);
  while (wait(nullptr) > 0) {
  }
}
