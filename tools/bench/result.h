// What `millrace bench` has measured, and how it is shown.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/verdict.h"

namespace millrace::tools {

struct BenchPoint {
  std::string kind, mode, name;  // as rank 0 prints them (rank/rank.h)
  std::size_t bytes = 0;
  std::vector<BenchTimes> first, second;  // turns of both looks
  BenchVerdict verdict;                   // of the second look, where there was one
  bool is_measured() const { return !first.empty(); }
};

struct BenchResult {
  std::string command, host, machine;
  int ranks = 0, nodes = 0;
  std::vector<BenchPoint> points;
  std::vector<std::string> warnings;
  // Of the ranks: whether they came to the end, and if not, why.
  bool is_complete = false;
  std::string complaint;
  std::size_t expected = 0, seen = 0;  // points, in the look that is under way

  std::size_t count(Speed speed) const;
  std::size_t left_out() const;
};

// Out of what ranks and launcher have printed; lines that are none of ours are passed over.
BenchResult read_bench(const std::string& output);

// What looked slower was measured once more, on other buffers: it counts if it is slower again.
BenchVerdict final_verdict(const BenchPoint& point);

std::string kind_in_words(const std::string& kind);   // "reduce_local": "reductions"
std::string group_of(const BenchPoint& point);        // the row of a table that a point belongs to
std::string point_in_words(const BenchPoint& point);  // "MPI_Allreduce, 8 B, cold"
std::string verdict_in_words(const BenchResult& result);

std::string as_text(const BenchResult& result, bool with_all_points);
std::string as_csv(const BenchResult& result);
std::string as_json(const BenchResult& result);
std::string as_html(const BenchResult& result);

}  // namespace millrace::tools
