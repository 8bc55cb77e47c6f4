#include "tools/bench/rank/rank.h"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/bench/rank/budget.h"
#include "tools/bench/turns/turns.h"
#include "tools/bench/verdict.h"

namespace millrace::tools {
namespace {

constexpr double second_pass = 0.2;  // of the time
constexpr std::size_t most_buffer_bytes = std::size_t{64} << 20;

struct Section {
  std::string kind, mode;
  void (*run)(const turns::Run&);
};

// Of one rank the calls that need two tell nothing.
std::vector<Section> sections_of(std::string_view text, int ranks) {
  constexpr std::pair<std::string_view, void (*)(const turns::Run&)> kinds[] = {{"reduce_local", turns::reduce_local},
                                                                                {"pack", turns::pack},
                                                                                {"messages", turns::messages},
                                                                                {"collectives", turns::collectives},
                                                                                {"nonblocking", turns::nonblocking}};
  std::vector<Section> sections;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::string_view kind = word.substr(0, word.find(' '));
    const bool needs_two = kind != "reduce_local" && kind != "pack";
    for (const auto& [name, run] : kinds)
      if (kind == name && (ranks > 1 || !needs_two))
        sections.push_back({std::string(kind), std::string(word.substr(kind.size() + 1)), run});
  }
  return sections;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Bench {
 public:
  Bench(const BenchOrder& order, int rank, int ranks)
      : order_(order), rank_(rank), sections_(sections_of(order.sections, ranks)) {
    run_.rank = rank;
    run_.ranks = ranks;
    run_.shares_cores = turns::ranks_share_cores();
    run_.turns = order.turns;
    run_.turn_us = order.turn_us;
    run_.few_sizes = order.few_sizes;
    run_.most_buffer_bytes = most_buffer_bytes;
    run_.report = [this](const turns::Point& point, const std::vector<turns::Turn>& measured) {
      report(point, measured);
    };
    run_.pace = [this](turns::Pace full, double us_each) { return budget_.pace(full, us_each); };
  }

  void run() {
    const std::int64_t start = now_ns();
    const auto at = [&](double share) { return start + static_cast<std::int64_t>(share * order_.seconds * 1e9); };
    run_.wants = [this](const turns::Point&) { return ++number_, false; };
    run_sections();
    wanted_.assign(number_, 1);
    suspects_.assign(number_, 0);
    run_.wants = [this](const turns::Point& point) { return wants(point); };
    pass(1, at(1 - second_pass));
    wanted_ = suspects_;
    PMPI_Bcast(wanted_.data(), static_cast<int>(wanted_.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
    pass(2, at(1));
  }

 private:
  void run_sections() {
    number_ = 0;
    for (const Section& section : sections_) {
      section_ = &section;
      run_.mode = section.mode == "cold"    ? turns::Mode::cold
                  : section.mode == "apart" ? turns::Mode::apart
                                            : turns::Mode::hot;
      section.run(run_);
    }
  }

  void pass(int number, std::int64_t end_ns) {
    pass_ = number;
    std::size_t points = 0;
    for (const char is_wanted : wanted_) points += static_cast<std::size_t>(is_wanted);
    if (rank_ == 0) {
      std::printf("%spoints %zu\n", bench_mark, points);
      std::fflush(stdout);
    }
    budget_ = Budget(end_ns, points);
    if (points != 0) run_sections();
  }

  bool wants(const turns::Point& point) {
    if (!wanted_[number_++]) return false;
    int has_time = 1;
    if (rank_ == 0) has_time = budget_.begins(now_ns());
    PMPI_Bcast(&has_time, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (has_time == 0 && rank_ == 0) report(point, {});
    run_.most_before_us = budget_.before_us(order_.most_before_us);
    return has_time != 0;
  }

  void report(const turns::Point& point, const std::vector<turns::Turn>& measured) {
    std::printf("%spoint %d %s %s %s %zu", bench_mark, pass_, point.kind.c_str(), section_->mode.c_str(),
                point.name.c_str(), point.bytes);
    std::vector<BenchTimes> times;
    for (const turns::Turn& turn : measured) {
      std::printf(" %.5f:%.5f", turn.ours_us, turn.host_us);
      times.push_back({turn.ours_us, turn.host_us});
    }
    std::printf("\n");
    std::fflush(stdout);
    if (!times.empty()) suspects_[number_ - 1] = judge_turns(times).speed == Speed::slower ? 1 : 0;
  }

  const BenchOrder& order_;
  int rank_;
  std::vector<Section> sections_;
  const Section* section_ = nullptr;
  turns::Run run_;
  Budget budget_{0, 0};
  std::size_t number_ = 0;  // of the points that were come by
  int pass_ = 1;
  std::vector<char> wanted_, suspects_;
};

int nodes_of_job(int rank) {
  MPI_Comm node;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int place = 0, nodes = 0;
  PMPI_Comm_rank(node, &place);
  PMPI_Comm_free(&node);
  const int is_first = place == 0;
  PMPI_Allreduce(&is_first, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return nodes;
}

// Whether Millrace is at work on every rank.
bool is_active() {
  const auto state = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "millrace_preload_state"));
  const int own = state && std::strcmp(state(), "active") == 0;
  int all = 0;
  PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

int run_bench(const BenchOrder& order) {
  MPI_Init(nullptr, nullptr);
  int rank = 0, ranks = 0, length = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<char, 8192> version{};  // MPICH's are the longest
  PMPI_Get_library_version(version.data(), &length);
  const std::string_view first(version.data(), std::strcspn(version.data(), "\n"));
  const int nodes = nodes_of_job(rank);
  const bool active = is_active();
  if (rank == 0) {
    std::printf("%shost %.*s\n%sranks %d\n%snodes %d\n", bench_mark, static_cast<int>(first.size()), first.data(),
                bench_mark, ranks, bench_mark, nodes);
    if (!active)
      std::printf("%scomplaint Millrace is switched off on a rank, or the MPI is none that it knows\n", bench_mark);
    std::fflush(stdout);
  }
  if (active) Bench(order, rank, ranks).run();
  if (rank == 0 && active) std::printf("%sdone\n", bench_mark);
  std::fflush(stdout);
  MPI_Finalize();
  return active ? 0 : 1;
}

}  // namespace
}  // namespace millrace::tools

extern "C" [[gnu::visibility("default")]] int millrace_bench(const millrace::tools::BenchOrder* order) try {
  return millrace::tools::run_bench(*order);
} catch (...) {
  std::fprintf(stderr, "millrace bench: out of memory\n");
  std::abort();  // the other ranks wait for this one
}
