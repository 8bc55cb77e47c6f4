// The collectives of src/collective among forked processes, without any MPI, beside what the machine allows: the
// crossing of a cache line, a barrier of bare flags, memcpy. All take turns within each round, so that a machine that
// changes its speed between rounds changes it for all. Prints the least and the median of the rounds, in nanoseconds
// per call.
//
//   flags_speed [--ranks N] [--rounds N] [--only TEXT] [--bytes LIST] [--wait spin|yield|sleep] [--rotate] [--csv]
//               [--force AS_MILLRACE_ALGORITHM] [--tree AS_MILLRACE_TREE]    (instead of other thresholds)
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "collective/collective.h"
#include "plan/collective.h"

namespace {

using namespace millrace;
using namespace millrace::collective;

struct Arguments {
  std::uint32_t ranks = 2;
  int rounds = 15;
  std::string only;
  std::vector<std::size_t> bytes{8, 64, 512, 4096, 32768, 262144, 2097152, 16777216};
  Waiting waiting = Waiting::automatic;
  bool rotate = false, csv = false;
  std::string forced, tree;
  Selection selection;
  GroupShape shape;
};

// What all ranks share besides the segment.
struct alignas(128) Line {
  std::atomic<std::uint64_t> value;
};
struct Common {
  Line bare[64][2];  // flags of the bare barrier
  Line turn;         // the line that goes to and fro
  double elapsed_ns[64];
};

struct Rank {
  std::uint32_t rank;
  const Arguments& arguments;
  Common& common;
  Group& group;
  std::vector<char> in, out;
  std::uint64_t bare_calls = 0;
};

void bare_barrier(Rank& self) {
  const std::uint64_t number = ++self.bare_calls;
  self.common.bare[self.rank][number % 2].value.store(number, std::memory_order_release);  // partner: the loop below
  for (std::uint32_t other = 0; other < self.arguments.ranks; ++other)
    while (self.common.bare[other][number % 2].value.load(std::memory_order_acquire) < number)
      if (self.group.crowded()) sched_yield();
}

// One way of a line, from a hundred round trips between ranks 0 and 1.
void crossings(Rank& self) {
  if (self.rank > 1) return;
  for (int trip = 0; trip < 100; ++trip) {
    while (self.common.turn.value.load(std::memory_order_acquire) != self.rank)
      if (self.group.crowded()) sched_yield();
    self.common.turn.value.store(1 - self.rank, std::memory_order_release);  // partner: the load above, in the other
  }
}

struct Row {
  std::string name;
  std::size_t bytes;
  std::function<void(Rank&, int)> call;  // second: number of the call
  double calls_counted;                  // what one call counts for
  std::vector<double> ns = {};           // of each round
};

std::vector<Row> rows(const Arguments& arguments) {
  static const Reducer sum = kernel_reducer(kernel::Op::sum, kernel::Type::f32);
  const auto root = [rotate = arguments.rotate, ranks = arguments.ranks](int number) {
    return rotate ? static_cast<std::uint32_t>(number) % ranks : 0u;
  };
  std::vector<Row> all;
  all.push_back({"line one way", 0, [](Rank& self, int) { crossings(self); }, 200});
  all.push_back({"bare flags", 0, [](Rank& self, int) { bare_barrier(self); }, 1});
  all.push_back({"barrier", 0, [](Rank& self, int) { barrier(self.group); }, 1});
  for (const std::size_t bytes : arguments.bytes) {
    all.push_back(
        {"memcpy", bytes, [bytes](Rank& self, int) { std::memcpy(self.out.data(), self.in.data(), bytes); }, 1});
    all.push_back({"bcast", bytes, [=](Rank& self, int n) { bcast(self.group, self.out.data(), bytes, root(n)); }, 1});
    all.push_back({"reduce", bytes,
                   [=](Rank& self, int n) {
                     collective::reduce(self.group, self.in.data(), self.out.data(), bytes / 4, sum, root(n));
                   },
                   1});
    all.push_back({"allreduce", bytes,
                   [=](Rank& self, int) { allreduce(self.group, self.in.data(), self.out.data(), bytes / 4, sum); },
                   1});
  }
  if (!arguments.only.empty())
    std::erase_if(all, [&](const Row& row) {
      return row.bytes + row.name.find("bar") != 0 && row.name != "line one way" && row.name != "bare flags" &&
             arguments.only.find(row.name) == std::string::npos;
    });
  return all;
}

// All ranks together; the result, of rank 0, is the slowest rank's time.
double measure(Rank& self, Row& row, int calls) {
  for (int call = 0; call < 2; ++call) row.call(self, call);
  bare_barrier(self);
  bare_barrier(self);
  const std::uint64_t begin_ns = monotonic_ns();
  for (int call = 0; call < calls; ++call) row.call(self, call);
  self.common.elapsed_ns[self.rank] = static_cast<double>(monotonic_ns() - begin_ns);
  bare_barrier(self);
  double most_ns = 0;
  for (std::uint32_t rank = 0; rank < self.arguments.ranks; ++rank)
    most_ns = std::max(most_ns, self.common.elapsed_ns[rank]);
  bare_barrier(self);
  return most_ns / calls / row.calls_counted;
}

int calls_for(const Row& row, bool crowded) {
  const double guess_ns = (crowded ? 20000.0 : 150.0) + static_cast<double>(row.bytes) * 0.1;
  return std::max(3, static_cast<int>((crowded ? 10e6 : 2e6) / guess_ns / row.calls_counted));
}

void pin(std::uint32_t rank, std::uint32_t ranks) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < static_cast<int>(ranks)) return;
  for (int cpu = 0, found = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || found++ != static_cast<int>(rank)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print(const std::vector<Row>& all, const Arguments& arguments) {
  if (!arguments.csv) fmt::print("{:14} {:>9} {:>12} {:>12}\n", "", "bytes", "least ns", "median ns");
  for (const Row& row : all)
    fmt::print(fmt::runtime(arguments.csv ? "{},{},{:.1f},{:.1f}\n" : "{:14} {:9} {:12.1f} {:12.1f}\n"), row.name,
               row.bytes, *std::min_element(row.ns.begin(), row.ns.end()), median(row.ns));
}

int be_rank(const Arguments& arguments, std::uint32_t rank, char* segment, Common& common) {
  pin(rank, arguments.ranks);
  Group group;
  Options options;
  options.waiting = arguments.waiting;
  options.selection = &arguments.selection;
  if (group.join(segment, arguments.shape, rank, options) != Status::ok || group.start() != Result::ok) return 1;
  Rank self{rank, arguments, common, group, {}, {}};
  const std::size_t most =
      arguments.bytes.empty() ? 0 : *std::max_element(arguments.bytes.begin(), arguments.bytes.end());
  self.in.assign(most, 0);
  self.out.assign(most, 0);
  std::vector<Row> all = rows(arguments);
  for (int round = 0; round < arguments.rounds; ++round)
    for (Row& row : all) row.ns.push_back(measure(self, row, calls_for(row, group.crowded())));
  if (rank == 0) {
    if (!arguments.csv) fmt::print("{} ranks, {}\n", arguments.ranks, shared_memory::waiting_name(group.waiting()));
    print(all, arguments);
  }
  return group.broken() == Result::ok ? 0 : 1;
}

Arguments parse(int count, char** words) {
  Arguments arguments;
  arguments.rounds = 15;
  for (int at = 1; at < count; ++at) {
    const std::string word = words[at];
    const auto next = [&]() -> std::string { return at + 1 < count ? words[++at] : ""; };
    const auto number = [&] { return static_cast<std::uint32_t>(std::strtoul(next().c_str(), nullptr, 10)); };
    if (word == "--ranks")
      arguments.ranks = number();
    else if (word == "--rounds")
      arguments.rounds = static_cast<int>(number());
    else if (word == "--only")
      arguments.only = next();
    else if (word == "--rotate")
      arguments.rotate = true;
    else if (word == "--force")
      arguments.forced = next();
    else if (word == "--tree")
      arguments.tree = next();
    else if (word == "--no-pair")
      arguments.selection.pair = false;
    else if (word == "--pair-chunk")
      arguments.selection.pair_chunk_bytes = number();
    else if (word == "--inline")
      arguments.selection.inline_bytes = number();
    else if (word == "--csv")
      arguments.csv = true;
    else if (word == "--calls-ahead")
      arguments.shape.calls_ahead = number();
    else if (word == "--cell")
      arguments.shape.cell_bytes = number();
    else if (word == "--slots")
      arguments.shape.slots = number();
    else if (word == "--slot")
      arguments.shape.slot_bytes = number();
    else if (word == "--chunk")
      arguments.selection.bcast_chunk_bytes = arguments.selection.reduce_chunk_bytes =
          arguments.selection.allreduce_chunk_bytes = number();
    else if (word == "--chain-chunk")
      arguments.selection.chain_chunk_bytes = number(), arguments.selection.chain_flag_bytes = never;
    else if (word == "--cells-up-to")
      arguments.selection.bcast_cells_bytes = arguments.selection.reduce_cells_bytes =
          arguments.selection.allreduce_cells_bytes = number();
    else if (word == "--wait") {
      const std::string name = next();
      for (const Waiting waiting : {Waiting::spin, Waiting::yield, Waiting::sleep})
        if (name == shared_memory::waiting_name(waiting)) arguments.waiting = waiting;
    } else if (word == "--bytes") {
      arguments.bytes.clear();
      const std::string list = next();
      for (std::size_t from = 0; from < list.size(); from = std::min(list.find(',', from), list.size() - 1) + 1)
        arguments.bytes.push_back(std::strtoul(list.c_str() + from, nullptr, 10));
    } else {
      fmt::print(stderr, "flags: '{}'? See the head of flags.cpp\n", word);
      std::exit(2);
    }
  }
  arguments.shape.ranks = arguments.ranks;
  if (!arguments.forced.empty() || !arguments.tree.empty()) {
    std::string complaint;
    arguments.selection = plan::select_collectives({false, arguments.tree, arguments.forced}, complaint);
    if (!complaint.empty()) {
      fmt::print(stderr, "flags: {}\n", complaint);
      std::exit(2);
    }
  }
  return arguments;
}

char* shared(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) std::exit(1);
  return static_cast<char*>(memory);
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments = parse(count, words);
  if (arguments.ranks < 2 || arguments.ranks > 64 || !valid(arguments.shape)) return 2;
  char* const segment = shared(segment_bytes(arguments.shape));
  auto& common = *reinterpret_cast<Common*>(shared(sizeof(Common)));
  std::fflush(stdout);
  for (std::uint32_t rank = 1; rank < arguments.ranks; ++rank)
    if (fork() == 0) _exit(be_rank(arguments, rank, segment, common));
  int failed = be_rank(arguments, 0, segment, common);
  for (int status = 0; wait(&status) > 0;) failed |= status;
  return failed != 0;
}
