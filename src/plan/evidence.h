// Which of two sides, ours or the host's, does a class of collective calls faster, found out in the job itself: some
// calls are timed, a few of them done by the other side, and who was slower beyond noise steps aside.
//
// Ranks must decide alike. So whatever is decided hangs on what all know to be equal: the number of the call on its
// communicator, its kind, its bytes where they are significant on all ranks, and the times that all have told each
// other.
//
//     calls   | 7 as chosen | 10 by the other side | 7 as chosen | ... | report ... | decision | ...
//
// Who takes over finds nothing in a cache, and ranks that may run ahead of each other in step: after each change of
// sides the first third of a class's calls is left out. A loop of large calls of one class, for which a host may have
// dozens of buffers, is tried for longer, and what was seen of it in less time counts no more.
//
// Those are tried whatever their bytes, so that ranks whose arguments differ (a rank may expect more of MPI_Bcast
// than is sent) do not part. A rank reports before the call that follows them, and waits for nobody there. It decides,
// for which it needs the reports of all, before the first call in which no rank leaves before all have come, or when it
// has made as many others as a root may run ahead of the rest anyway: so no program waits that would not have waited.
//
// What a call costs is what its ranks spend in it beyond what they have to wait for: to wait for a rank that comes late
// is nobody's fault. Where a root leads or ends a call, ranks work in different calls of a loop at once, and the one
// that needs longest sets the pace: such calls are compared by that rank's time, the others by the mean; the briefest
// are not, unless one side takes twice as long. Clocks of several nodes have nothing to do with each other: there, only
// calls in which all wait for all are tried, by what they cost on the node that came last, and decisions are made in
// such calls alone, for all ranks must meet to tell each other what they saw. All of this is arithmetic on numbers: no
// clock, no memory that is shared, one object for each communicator and rank, used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/selection.h"

namespace millrace::plan {

enum class Side : std::uint8_t { ours, host };
constexpr Side other(Side side) { return side == Side::ours ? Side::host : Side::ours; }

// In the flavor of a reduction whose blocks have counts of their own: a rank may leave before all have come.
inline constexpr std::uint8_t uneven_blocks = 0x80;

// A call that either side may do, any time: it moves data, or its result is exact whoever reduces. The same on all
// ranks, but for the bytes of MPI_Bcast.
struct EitherCall {
  collective::Kind kind;
  std::uint8_t flavor = 0;  // calls of one kind that are not alike; of MPI_Bcast, which algorithm takes it
  std::int64_t bytes = -1;  // of the call or of a block; -1: ranks do not know each other's
  std::int32_t root = -1;
};

// Sizes that differ by less than a quarter are one class; one more is of calls whose bytes are not known (-1).
std::uint32_t size_class(std::int64_t bytes);
std::int64_t least_bytes(std::uint32_t size_class);
std::int64_t most_bytes(std::uint32_t size_class);

// What a rank reports. Times in ns of one clock, the same on all ranks of a node.
struct EvidenceRecord {
  struct Stamp {
    std::uint64_t entry_ns = 0, exit_ns = 0;  // 0: not of such a call, or it did not come to its end
  };
  static constexpr std::uint32_t most_calls = 60;

  std::uint64_t node = 0;  // the rank's; nodes are numbered from 0 on
  std::uint64_t turn = 0;
  std::uint64_t digest = 0;  // of what was called between
  // Of this process, on all communicators: calls, those of them that were tried, what trying has cost, and the time
  // since its start.
  std::uint64_t calls = 0, tries = 0, tried_ns = 0, elapsed_ns = 0;
  std::uint64_t host_ns = 0;     // of a call of the host here, usually, before there were any of ours; 0: not known
  std::uint64_t has_failed = 0;  // a call of this communicator, on this rank
  std::array<Stamp, most_calls> stamps{};
};

class Evidence {
 public:
  // `is_eager`: tries all the time, whatever that costs. `over_nodes`: its ranks are on several nodes.
  explicit Evidence(bool is_eager = false, bool over_nodes = false) : is_eager_(is_eager), over_nodes_(over_nodes) {}

  // A choice that was changed.
  struct Change {
    collective::Kind kind;
    std::int64_t least_bytes;  // of the class; -1: any
    Side choice;
    double ratio;  // of the costs, those of the choice before over those of the other side
  };
  // Some calls done by one side and by the other.
  struct Comparison {
    collective::Kind kind;
    std::uint8_t flavor;
    std::int64_t least_bytes;  // of the class; -1: any, or MPI_Bcast
    double ours_over_host;     // natural logarithm of the costs by which sides are chosen
    double spent_ratio;        // the same of what all ranks spend together
    double ours_ns;            // of a call, on a rank
    bool is_settled;           // of a longer trial
  };
  struct Outcome {
    std::vector<Comparison> trials;
    std::uint32_t tries = 0;
    std::uint64_t tried_ns = 0;  // for each rank, beyond what the calls would have cost
    std::vector<Change> changes;
  };

  struct Due {
    bool report = false;    // report() now, for all others
    bool decision = false;  // then decide() now, with the reports of all
  };
  // Counts a collective call, whatever it is: on all ranks, before anything is done of it. `synchronises`: its kind is
  // such that no rank leaves it before all have come to it.
  Due begin(bool synchronises) {
    if (++turn_ < report_turn_) [[likely]]
      return {};
    return {!has_reported_, synchronises || (!over_nodes_ && turn_ >= report_turn_ + most_ahead)};
  }

  // Counts a call that is like one before, if nothing but that is to be done for it and nothing was decided since
  // `epoch`; else false, and nothing is counted. Over nodes nothing is to be done, either, once a window is reported,
  // until ranks meet in a call that `synchronises`: who makes others only may never come to one.
  bool begin_as_before(std::uint64_t epoch, bool synchronises) {
    if (report_turn_ != epoch) return false;
    const bool has_time = turn_ + 1 < window_.first;
    if (!has_time && (synchronises || !over_nodes_ || !has_reported_)) return false;
    ++turn_;
    return true;
  }
  std::uint64_t epoch() const { return report_turn_; }

  // The call that was begun has failed on this rank before any other had to do with it: it is not counted.
  void take_back() { --turn_; }

  // Turn, digest and stamps of a record.
  void report(EvidenceRecord& record);
  // The records of all ranks, in their order. Throws std::bad_alloc, before anything has changed.
  Outcome decide(std::span<const EvidenceRecord> records);

  // Who does the call that was begun. `standard`: what it is where nothing is known.
  Side choose(const EitherCall& call, Side standard) {
    if (!measures() && changed_ == 0) [[likely]]
      return standard;
    return find_side(call, standard);
  }
  // Whether the call that was begun is timed.
  bool measures() const { return turn_ >= window_.first && turn_ < report_turn_; }
  bool tries() const { return measures() && window_.is_tried(turn_); }
  // The call for which choose() was asked, timed, is done.
  void timed(std::uint64_t entry_ns, std::uint64_t exit_ns);

  // Calls were not the same on all ranks, or have failed: everything stays as it is.
  bool is_closed() const { return closed_; }
  std::uint64_t turn() const { return turn_; }

 private:
  static constexpr std::uint32_t kept_costs = 16, kept_ratios = 7, most_trials = 3;

  // Timed calls: some as chosen; then `trials` times some by the other side and some as chosen. Those have slots;
  // before the first of those that are tried there may be others, which are not timed.
  struct Window {
    std::uint64_t first = 0;
    std::uint32_t chosen = 0, tried = 0, trials = 0;
    std::uint32_t settling = 0;
    static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

    std::uint32_t slots() const { return chosen + trials * (tried + chosen); }
    std::uint32_t calls() const { return slots() + settling; }
    std::uint32_t slot_of(std::uint64_t turn) const {
      const std::uint64_t call = turn - first;
      if (call >= calls() || (call >= chosen && call < chosen + settling)) return no_slot;
      return static_cast<std::uint32_t>(call < chosen ? call : call - settling);
    }
    bool tries_in(std::uint32_t slot) const { return slot >= chosen && (slot - chosen) % (tried + chosen) < tried; }
    bool is_tried(std::uint64_t turn) const {
      if (turn - first >= calls()) return false;
      const std::uint32_t slot = slot_of(turn);
      return slot == no_slot || tries_in(slot);
    }
    std::uint32_t trial_of(std::uint32_t slot) const { return (slot - chosen) / (tried + chosen); }
  };

  template <class Value, std::uint32_t most>
  struct Recent {
    std::array<Value, most> values;
    std::uint32_t count = 0;
    void add(Value value) { values[count++ % most] = value; }
    std::uint32_t size() const { return count < most ? count : most; }
    std::span<const Value> kept() const { return {values.data(), size()}; }
  };

  // Of a call; 0: it was not timed on all ranks.
  struct Cost {
    std::uint64_t sum_ns = 0;     // over all ranks
    std::uint64_t judged_ns = 0;  // by which sides are compared
  };

  // Calls that are chosen for together.
  struct Choice {
    std::uint32_t key;
    Side standard, side;
    std::uint32_t changes = 0;
    Recent<double, kept_ratios> ratios;  // the other side's costs over those of the chosen one, by trial
    bool is_settled_only = false;        // those are of longer trials
    bool is_settled() const;
  };
  // Calls of about one size.
  struct CallClass {
    std::uint64_t key;
    std::uint32_t choice;            // its place among the choices
    Recent<Cost, kept_costs> costs;  // by the side chosen
  };

  // What was called in the window.
  struct Slot {
    std::int32_t call_class = -1;
    std::int32_t root = -1;
  };
  // What was tried in it.
  struct Trial {
    struct Costs {
      double sum_ns = 0, judged_ns = 0;
      void add(double weight, std::span<const Cost> costs);
    };
    Costs tried;  // by the other side
    Costs usual;  // of the same calls by the chosen one
    double calls = 0;
    double all_calls = 0, unsettled_ns = 0;  // with the first ones, which are not among those above; of these alone
    void add(std::span<const Cost> tried_costs, std::span<const Cost> usual_costs);
  };
  // Of a call on the ranks of one node.
  struct NodeCost {
    std::uint64_t last_entry_ns = 0, sum_ns = 0;
    std::uint32_t ranks = 0;
  };
  using Trials = std::array<Trial, most_trials>;

  Side find_side(const EitherCall& call, Side standard);
  Choice* find_choice(const EitherCall& call, Side standard);
  std::int32_t find_class(const EitherCall& call, const Choice& choice);
  const Choice& choice_of(const Slot& slot) const {
    return choices_[classes_[static_cast<std::size_t>(slot.call_class)].choice];
  }
  Cost cost_of(std::span<const EvidenceRecord> records, std::uint32_t index);
  std::uint64_t cost_over_nodes_ns(std::span<const EvidenceRecord> records, std::uint32_t index);
  void judge(std::uint32_t index, const Trials& trials, double ranks, Outcome& outcome);
  std::int64_t least_seen_bytes(std::uint32_t choice) const;
  void plan_next(std::span<const EvidenceRecord> records, const Outcome& outcome, bool has_calls,
                 std::uint64_t mean_ns);
  std::uint64_t digest() const;
  bool may_change(const Choice& choice) const;
  bool needs_settling() const;
  bool is_open(const Choice& choice) const;

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static constexpr std::uint64_t first_report = 20, first_calls = 12;
  static constexpr std::uint64_t most_ahead = 48;  // less than GroupShape::calls_ahead

  bool is_eager_, over_nodes_;
  std::uint64_t turn_ = 0;
  std::uint64_t report_turn_ = first_report;
  Window window_{first_report - first_calls, first_calls, 0, 0, 0};
  bool has_tried_ = false;           // since a choice was changed last
  std::uint64_t tried_call_ns_ = 0;  // of a call that was tried last, on a rank, the most of its classes; 0: not known
  std::uint64_t spacing_ = 0;        // calls until the next window with tries
  std::uint32_t searches_ = 0;       // windows in a row that had no call of which too little is known
  std::uint64_t wait_ = 0;           // calls until the next one without
  std::uint32_t changed_ = 0;        // classes whose choice is not the standard
  bool has_reported_ = false;        // on this window
  bool closed_ = false;
  std::vector<CallClass> classes_;
  std::vector<Choice> choices_;
  std::vector<NodeCost> nodes_;
  std::array<Slot, EvidenceRecord::most_calls> slots_{};
  std::array<EvidenceRecord::Stamp, EvidenceRecord::most_calls> stamps_{};
};

}  // namespace millrace::plan
