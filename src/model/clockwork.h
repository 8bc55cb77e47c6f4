// Ranks as fibers of this process, in a time of their own: it goes on only where they write flags, wait for them, copy
// and reduce. Whatever runs on it says so and gets the time that this takes on the machine.
//
//   a wait              until the flag was written, and a line between the two cores, unless the line is still the
//                       reader's. Who asks for a line that many want is served in turn. Flags that were written before
//                       they are asked for come one behind the other: a processor asks for the next before this one is
//                       there
//   a copy, a kernel    the longest of: bytes at the rate of a core, in its caches or beyond; lines from who wrote
//   them;
//                       lines that others have and that are written; its turn at the package's rate
//   ranks on one core   run in turn, from wait to wait
//
// The rank whose time is least goes on, so that what is shared is taken in the order of time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fiber.h"
#include "model/costs.h"
#include "model/machine.h"

namespace millrace::model {

enum class Doing : std::uint8_t { wait, copy, reduce };

struct Event {
  Doing doing;
  std::uint32_t other;  // waited for, or whose memory it is
  double from_ns, until_ns;
};

struct Timeline {
  double came_ns = 0, left_ns = 0, waited_ns = 0;
  std::vector<Event> events;
};

class Clockwork {
 public:
  // `working_bytes`: of the memory that a rank goes through in a call. Ranks are on core 0, 1, ...; then again.
  Clockwork(const Machine& machine, const Costs& costs, std::uint32_t ranks, double working_bytes);
  ~Clockwork() = default;
  Clockwork(const Clockwork&) = delete;
  Clockwork& operator=(const Clockwork&) = delete;

  // Memory that all share: of each line it is known who wrote it last, who read or wrote it last, and, of up to 64
  // cores, which have read it since.
  void share(const char* base, std::size_t bytes);
  // Memory of each rank, one behind the other, which others copy through the kernel. Of copies of `helped_bytes` and
  // more its owner makes half.
  void own(const char* base, std::size_t each_bytes, std::size_t helped_bytes = ~std::size_t{0});

  // Runs `work` as every rank until all have returned. "" or why they do not.
  const char* run(const std::function<void(std::uint32_t rank)>& work);

  // ---- for who runs on it ----
  std::uint32_t rank() const { return current_->number; }
  // Waits until all are here, who then go on at the same time, and are measured.
  void begin_measured();
  void end_measured();
  void spend(double ns) {
    current_->clock_ns += ns;
    current_->work_ns += ns;
  }
  void published(const std::atomic<std::uint64_t>& flag, std::uint64_t value);
  bool wait(const std::atomic<std::uint64_t>& flag, std::uint64_t least);
  void copied(void* to, const void* from, std::size_t bytes);
  void reduced(const void* const* inputs, std::size_t count, const void* out, std::size_t bytes);
  // To other nodes and back: for `wire_ns` of it the way out of this node is taken, for who comes first before others.
  void crossed(double total_ns, double wire_ns);

  bool has_returned(std::uint32_t rank) const { return ranks_[rank].fiber->has_returned(); }
  std::uint64_t moved_bytes() const { return moved_bytes_; }  // between cores, while measured: lines of flags and rows
  std::vector<Timeline> take_timelines();
  bool keeps_events = true;

 private:
  struct Rank {
    std::uint32_t number = 0, core = 0;
    double clock_ns = 0;
    // The last flag that it asked for: when; its line. And since when nothing has kept it from asking for more.
    double asked_ns = 0, free_to_ask_ns = 0;
    double work_ns = 0, asked_work_ns = 0;  // what it has done itself, and until it last asked
    double read_until_ns = 0;               // by the kernel, for others
    std::uintptr_t flag_line = 0;
    bool is_measured = false;
    Fiber* fiber = nullptr;
    Timeline timeline;
  };
  struct Write {
    std::uint64_t value;
    double time_ns;
  };
  struct FlagState {
    std::uint32_t writer = 0;
    double served_ns = 0;  // until then it is with who asked before
    std::vector<Write> writes;
    std::vector<std::uint32_t> seen;                               // by each core: so many writes
    std::vector<std::pair<std::uint32_t, std::uint64_t>> waiters;  // rank, least value
  };
  struct Core {
    double free_ns = 0;
    std::uint32_t last = ~0u;
  };
  // Of what is copied or reduced: bytes that pass, what they take a core and how many of them its caches do not hold
  // (of shared memory they do), that come from another, that another has and are written.
  struct Traffic {
    Doing doing;
    std::uint32_t other;
    double bytes = 0, core_ns = 0, beyond_bytes = 0, far_bytes = 0, taken_bytes = 0;
    bool by_kernel = false;  // of the system
  };

  void work(Rank& rank);
  void go_on(Rank& rank);
  void later(Rank& rank) { ready_.emplace(rank.clock_ns, rank.number); }
  void take_turn(Rank& rank);
  Distance distance(std::uint32_t rank, std::uint32_t other) const {
    return machine_.between(ranks_[rank].core, ranks_[other].core);
  }
  double line_ns(Distance distance) const { return costs_.line_ns[static_cast<std::size_t>(distance)]; }
  bool is_shared(const char* byte) const { return byte >= shared_ && byte < shared_ + shared_bytes_; }
  bool is_owned(const char* byte) const { return byte >= owned_ && byte < owned_ + owned_each_bytes_ * ranks_.size(); }
  std::uint32_t owner(const void* address) const;
  // Whether this rank's core has what another wrote there.
  bool is_near(const void* address, std::uint32_t writer) const;
  // This rank reads, or writes, what lies there. Of the latter, how much another rank has in its cache, and who.
  void hold(std::vector<std::uint16_t>& of_lines, const void* address, std::size_t bytes);
  void has_read(const void* address, std::size_t bytes);
  std::size_t take_back(const void* address, std::size_t bytes, std::uint32_t& other);
  // Without the line that came with the flag that was waited for.
  std::size_t beyond_flag(const void* address, std::size_t bytes) const;
  void spend_on(const Traffic& traffic);
  // When it asks for its next line, at the latest now, and what it asks for then.
  double asks_ns(const Rank& rank, double line_ns) const;
  static void has_asked(Rank& rank, double asked_ns) {
    rank.asked_ns = asked_ns;
    rank.asked_work_ns = rank.work_ns;
  }
  // Half of a copy, or one operand of a kernel.
  void pass(Traffic& traffic, const void* address, std::size_t bytes) const;

  const Machine& machine_;
  const Costs costs_;
  const CachedParts cached_;  // of what a rank goes through
  std::vector<Rank> ranks_;
  std::vector<Core> cores_;
  std::vector<double> package_free_ns_;
  double wire_free_ns_ = 0;
  const char *shared_ = nullptr, *owned_ = nullptr;
  std::size_t shared_bytes_ = 0, owned_each_bytes_ = 0, helped_bytes_ = ~std::size_t{0};
  std::vector<std::uint16_t> writers_, holders_;  // of each line: rank + 1, or 0
  std::vector<std::uint64_t> cores_that_have_;    // of each line, a bit each; empty: there are more cores than bits
  std::unordered_map<const void*, FlagState> flags_;
  std::priority_queue<std::pair<double, std::uint32_t>, std::vector<std::pair<double, std::uint32_t>>, std::greater<>>
      ready_;
  Rank* current_ = nullptr;
  const std::function<void(std::uint32_t)>* work_ = nullptr;
  std::uint64_t moved_bytes_ = 0;
  std::uint32_t meeting_ = 0;  // ranks that wait for all others in begin_measured()
  double meeting_ns_ = 0;
};

}  // namespace millrace::model
