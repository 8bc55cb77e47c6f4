// Jobs that are not there: ranks with a clock of their own, calls that cost what the test says, noise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "plan/evidence.h"

namespace millrace::plan::test {

using collective::Kind;

struct Speed {
  double ours_ns, host_ns;
  double of(Side side) const { return side == Side::ours ? ours_ns : host_ns; }
  double best() const { return std::min(ours_ns, host_ns); }
};

struct Weather {
  double jitter = 0.1;     // of each cost
  double hit_share = 0.0;  // of calls in which a rank loses its core
  double hit_ns = 0;
  double late_ns = 0;             // how late ranks come, at most
  double first_node_late_ns = 0;  // how much later those of the first node come, at most
  int cold_calls = 0;             // of the host where it takes over
  double cold = 1;                // how many times as long they take
};

class Job {
 public:
  // On several nodes ranks lie by turns, and each node's clock shows another time.
  Job(std::uint32_t ranks, std::uint64_t seed, double earlier_ns = 1e9, std::uint32_t nodes = 1, bool is_eager = false)
      : ranks_(ranks, Evidence(is_eager, nodes > 1)),
        records_(ranks),
        now_ns_(ranks, earlier_ns),
        nodes_(nodes),
        random_(seed) {}

  Weather weather;
  double compute_ns = 0;                                                     // between calls
  std::function<double(Side, bool)> part_of = [](Side, bool) { return 1; };  // of the cost, by side, for the root

  // A call that only moves data; on `odd` with other bytes than the rest. Its cost on a rank, and who did it.
  Side call(const EitherCall& call, Side standard, const Speed& speed, int odd = -1) {
    const std::size_t count = ranks_.size();
    begin(call.kind);
    std::vector<double> entry(count);
    std::vector<Side> sides(count);
    const double first_node_late = weather.first_node_late_ns == 0 ? 0 : uniform(weather.first_node_late_ns);
    for (std::size_t rank = 0; rank < count; ++rank) {
      EitherCall own = call;
      if (static_cast<int>(rank) == odd) own.bytes *= 4;
      entry[rank] = now_ns_[rank] += compute_ns + uniform(weather.late_ns);
      if (rank % nodes_ == 0) entry[rank] = now_ns_[rank] += first_node_late;
      sides[rank] = ranks_[rank].choose(own, standard);
    }
    if (std::adjacent_find(sides.begin(), sides.end(), std::not_equal_to<>()) != sides.end()) ++parted;
    since_change_ = sides[0] == last_side_ ? since_change_ + 1 : 0;
    last_side_ = sides[0];
    const double cold = sides[0] == Side::host && since_change_ < weather.cold_calls ? weather.cold : 1;
    const double last = *std::max_element(entry.begin(), entry.end());
    for (std::size_t rank = 0; rank < count; ++rank) {
      const bool is_root = static_cast<int>(rank) == call.root;
      double begin = last;
      if (call.kind == Kind::bcast || call.kind == Kind::scatter)
        begin = std::max(entry[rank], entry[static_cast<std::size_t>(call.root)]);
      if ((call.kind == Kind::gather || call.kind == Kind::reduce) && !is_root) begin = entry[rank];
      const double cost = cold * speed.of(sides[rank]) * part_of(sides[rank], is_root) * (1 + uniform(weather.jitter)) +
                          (uniform(1) < weather.hit_share ? weather.hit_ns : 0);
      now_ns_[rank] = begin + cost;
      spent_ns += cost;
      const double ahead = 1e12 * static_cast<double>(rank % nodes_);
      if (ranks_[rank].measures())
        ranks_[rank].timed(static_cast<std::uint64_t>(ahead + entry[rank]),
                           static_cast<std::uint64_t>(ahead + now_ns_[rank]));
    }
    return sides[0];
  }

  // One that no side but one may do.
  void fixed_call(Kind kind) { begin(kind); }

  std::uint64_t parted = 0;  // calls that ranks did on different sides
  std::uint64_t calls = 0, tries = 0, tried_ns = 0, changes = 0, decisions = 0;
  std::uint64_t settled = 0;  // trials that were longer
  std::uint64_t host_ns = 0;
  double spent_ns = 0;  // in calls, over all ranks
  double elapsed_ns() const { return now_ns_[0]; }
  bool is_closed() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Evidence& one) { return one.is_closed(); });
  }

 private:
  double uniform(double most) { return std::uniform_real_distribution<double>(0, 1)(random_) * most; }

  void begin(Kind kind) {
    ++calls;
    const bool synchronises = kind == Kind::barrier || kind == Kind::allreduce;
    Evidence::Due due;
    for (Evidence& rank : ranks_) due = rank.begin(synchronises);
    for (std::size_t rank = 0; rank < ranks_.size() && due.report; ++rank) {
      ranks_[rank].report(records_[rank]);
      records_[rank].node = rank % nodes_;
      records_[rank].calls = calls;
      records_[rank].tries = tries;
      records_[rank].tried_ns = tried_ns;
      records_[rank].host_ns = host_ns;
      records_[rank].elapsed_ns = static_cast<std::uint64_t>(now_ns_[rank]);
    }
    if (!due.decision) return;
    ++decisions;
    Evidence::Outcome outcome;
    for (Evidence& rank : ranks_) outcome = rank.decide(records_);
    tries += outcome.tries;
    tried_ns += outcome.tried_ns;
    changes += outcome.changes.size();
    for (const Evidence::Comparison& trial : outcome.trials) settled += trial.is_settled;
  }

  std::vector<Evidence> ranks_;
  std::vector<EvidenceRecord> records_;
  std::vector<double> now_ns_;
  std::uint32_t nodes_;
  int since_change_ = 1000;
  Side last_side_ = Side::ours;
  std::mt19937_64 random_;
};

inline constexpr Weather calm{0.05, 0, 0, 0}, rough{0.3, 0.02, 1e6, 0};

}  // namespace millrace::plan::test
