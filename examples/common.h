// What the examples share: their options, the time of their iterations, and the one line that they print.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace example {

/// Options of the form "--name VALUE" and "--name". Every option is asked for once, then done() refuses what is left.
class Options {
 public:
  Options(int argc, char** argv) : words_(argv + 1, argv + argc) {}

  bool flag(const char* name) {
    const auto found = find(name);
    if (found == words_.end()) return false;
    words_.erase(found);
    return true;
  }

  const char* text(const char* name, const char* otherwise) {
    const auto found = find(name);
    if (found == words_.end() || found + 1 == words_.end()) return otherwise;
    const char* value = found[1];
    words_.erase(found, found + 2);
    return value;
  }

  long number(const char* name, long otherwise) {
    const char* value = text(name, nullptr);
    return value ? std::atol(value) : otherwise;
  }

  void done() const {
    if (words_.empty()) return;
    std::fprintf(stderr, "what is '%s'? The options are in the first lines of the source\n", words_[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

 private:
  std::vector<char*>::iterator find(const char* name) {
    return std::find_if(words_.begin(), words_.end(), [&](const char* word) { return !std::strcmp(word, name); });
  }

  std::vector<char*> words_;
};

struct Times {
  double mean_us, median_us;  // of one iteration, on the slowest rank
};

/// Calls step(i) for i = 0 ... iterations - 1. The first tenth warms up and is not in the times.
template <class Step>
Times timed_iterations(long iterations, MPI_Comm communicator, Step step) {
  const long warming = std::min(iterations - 1, iterations / 10 + 1);
  std::vector<double> each_us;
  for (long i = 0; i < iterations; ++i) {
    const double start_s = MPI_Wtime();
    step(i);
    if (i >= warming) each_us.push_back((MPI_Wtime() - start_s) * 1e6);
  }
  double times[2] = {0, 0};
  for (const double us : each_us) times[0] += us / static_cast<double>(each_us.size());
  std::sort(each_us.begin(), each_us.end());
  times[1] = each_us.empty() ? 0 : each_us[each_us.size() / 2];
  MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, communicator);
  return {times[0], times[1]};
}

/// Prints the line of results on rank 0 and returns the program's exit code. `wrong` is what this rank found different
/// from the serial computation, negative where nothing was compared. The checksum does not depend on who added first.
inline int finish(const char* name, const char* what, Times times, double checksum, long wrong, MPI_Comm communicator) {
  int rank, ranks;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  std::vector<double> parts(static_cast<std::size_t>(ranks));
  MPI_Gather(&checksum, 1, MPI_DOUBLE, parts.data(), 1, MPI_DOUBLE, 0, communicator);
  checksum = 0;
  for (const double part : parts) checksum += part;
  const bool compared = wrong >= 0;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, communicator);
  if (rank == 0)
    std::printf("%s %s ranks=%d mean_us=%.2f median_us=%.2f checksum=%.17g check=%s\n", name, what, ranks,
                times.mean_us, times.median_us, checksum,
                !compared ? "none"
                : wrong   ? "WRONG"
                          : "right");
  return compared && wrong ? 1 : 0;
}

}  // namespace example
