#include "model/others.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>

#include "model/contributions.h"
#include "model/fixed_trees.h"
#include "model/messages.h"
#include "model/nodes.h"

namespace millrace::model {
namespace {

using collective::Kind;

// The calls of one rank. Root 0; `data` holds what is sent and what comes of it, `spare` what arrives.
class Calls {
 public:
  // `bytes`: of all blocks, where there is one for each rank.
  Calls(Messages& messages, std::size_t bytes)
      : messages_(messages),
        bytes_(bytes),
        block_bytes_(bytes / messages.ranks()),
        rank_(messages.rank()),
        ranks_(messages.ranks()),
        data_(messages.memory(rank_)),
        spare_(data_ + bytes) {}

  bool call(Kind kind, Other other) {
    switch (kind) {
      case Kind::barrier: return barrier(other);
      case Kind::bcast: return bcast(other);
      case Kind::reduce: return reduce(other);
      case Kind::allreduce: return allreduce(other);
      case Kind::gather: return gather(other);
      case Kind::scatter: return scatter(other);
      case Kind::allgather: return allgather(other);
      case Kind::alltoall: return alltoall(other);
      case Kind::reduce_scatter: return reduce_scatter(other);
      default: return scan(other);
    }
  }

 private:
  bool barrier(Other other) {
    if (other == Other::ring) return false;
    if (other != Other::doubling) return reduce(other, 0) && bcast(other, 0);
    for (std::uint32_t step = 1; step < ranks_; step *= 2)
      messages_.exchange((rank_ + step) % ranks_, data_, 0, (rank_ + ranks_ - step) % ranks_, spare_, 0);
    return true;
  }

  bool bcast(Other other) { return bcast(other, bytes_); }
  bool bcast(Other other, std::size_t bytes) {
    switch (other) {
      case Other::flat:
        if (rank_ != 0) messages_.receive(0, data_, bytes);
        for (std::uint32_t to = 1; rank_ == 0 && to < ranks_; ++to) messages_.send(to, data_, bytes);
        return true;
      case Other::binomial:
        if (rank_ != 0) messages_.receive(rank_ & (rank_ - 1), data_, bytes);
        for (std::uint32_t step = below(); step != 0; step /= 2)
          if (rank_ + step < ranks_) messages_.send(rank_ + step, data_, bytes);
        return true;
      case Other::ring:  // parts along a binomial tree, which then go round
        if (bytes < ranks_) return false;
        if (rank_ != 0) messages_.receive(rank_ & (rank_ - 1), at(rank_), part(rank_, rank_ + subtree()));
        for (std::uint32_t step = below(); step != 0; step /= 2)
          if (rank_ + step < ranks_)
            messages_.send(rank_ + step, at(rank_ + step), part(rank_ + step, rank_ + 2 * step));
        go_round(false, 0);
        return true;
      default: return false;
    }
  }

  bool reduce(Other other) { return reduce(other, bytes_); }
  bool reduce(Other other, std::size_t bytes) {
    switch (other) {
      case Other::flat:
        if (rank_ != 0) messages_.send(0, data_, bytes);
        for (std::uint32_t from = 1; rank_ == 0 && from < ranks_; ++from) take(from, bytes);
        return true;
      case Other::binomial:
        for (std::uint32_t step = 1; step <= below(); step *= 2)
          if (rank_ + step < ranks_) take(rank_ + step, bytes);
        if (rank_ != 0) messages_.send(rank_ & (rank_ - 1), data_, bytes);
        return true;
      case Other::ring:  // each reduces a part, and the root gathers them
        if (bytes < ranks_) return false;
        go_round(true, 1);
        if (rank_ != 0) messages_.send(0, at(rank_), part(rank_, rank_ + 1));
        for (std::uint32_t from = 1; rank_ == 0 && from < ranks_; ++from)
          messages_.receive(from, at(from), part(from, from + 1));
        return true;
      default: return false;
    }
  }

  bool allreduce(Other other) {
    if (other == Other::ring) {
      if (bytes_ < ranks_) return false;
      go_round(true, 1);
      go_round(false, 0);
      return true;
    }
    if (other != Other::doubling) return reduce(other, bytes_) && bcast(other, bytes_);
    // What is beyond a power of two is folded in first, and told last.
    const std::uint32_t power = std::bit_floor(ranks_), beyond = ranks_ - power;
    if (rank_ >= power) {
      messages_.send(rank_ - power, data_, bytes_);
      messages_.receive(rank_ - power, data_, bytes_);
      return true;
    }
    if (rank_ < beyond) take(rank_ + power, bytes_);
    for (std::uint32_t step = 1; step < power; step *= 2) {
      messages_.exchange(rank_ ^ step, data_, bytes_, rank_ ^ step, spare_, bytes_);
      fold(spare_, data_, bytes_);
    }
    if (rank_ < beyond) messages_.send(rank_ + power, data_, bytes_);
    return true;
  }

  bool gather(Other other) {
    if (other == Other::flat) {
      if (rank_ != 0) messages_.send(0, data_, block_bytes_);
      for (std::uint32_t from = 1; rank_ == 0 && from < ranks_; ++from)
        messages_.receive(from, block(from), block_bytes_);
      return true;
    }
    if (other != Other::binomial) return false;
    for (std::uint32_t step = 1; step <= below(); step *= 2)
      if (rank_ + step < ranks_) messages_.receive(rank_ + step, block(step), blocks(rank_ + step, step));
    if (rank_ != 0) messages_.send(rank_ & (rank_ - 1), data_, blocks(rank_, subtree()));
    return true;
  }

  bool scatter(Other other) {
    if (other == Other::flat) {
      if (rank_ != 0) messages_.receive(0, data_, block_bytes_);
      for (std::uint32_t to = 1; rank_ == 0 && to < ranks_; ++to) messages_.send(to, block(to), block_bytes_);
      return true;
    }
    if (other != Other::binomial) return false;
    if (rank_ != 0) messages_.receive(rank_ & (rank_ - 1), data_, blocks(rank_, subtree()));
    for (std::uint32_t step = below(); step != 0; step /= 2)
      if (rank_ + step < ranks_) messages_.send(rank_ + step, block(step), blocks(rank_ + step, step));
    return true;
  }

  // By doubling as Bruck et al. do, for any number of ranks: of step s the first s blocks go to the rank s before.
  bool allgather(Other other) {
    if (other == Other::ring) {
      go_round(false, 0);
      return true;
    }
    if (other != Other::doubling) return gather(other) && bcast(other, bytes_);
    for (std::uint32_t step = 1; step < ranks_; step *= 2) {
      const std::size_t bytes = std::min(step, ranks_ - step) * block_bytes_;
      messages_.exchange((rank_ + ranks_ - step) % ranks_, data_, bytes, (rank_ + step) % ranks_, block(step), bytes);
    }
    return true;
  }

  // In a ring: with each other rank in turn. By doubling as Bruck et al. do: in each step half of the blocks, which are
  // collected first.
  bool alltoall(Other other) {
    if (other == Other::ring) {
      for (std::uint32_t step = 1; step < ranks_; ++step) {
        const std::uint32_t to = (rank_ + step) % ranks_, from = (rank_ + ranks_ - step) % ranks_;
        messages_.exchange(to, block(to), block_bytes_, from, spare_ + from * block_bytes_, block_bytes_);
      }
      return true;
    }
    if (other != Other::doubling) return false;
    for (std::uint32_t step = 1; step < ranks_; step *= 2) {
      std::uint32_t count = 0;
      for (std::uint32_t each = 0; each < ranks_; ++each) count += (each & step) != 0;
      const std::size_t bytes = count * block_bytes_;
      messages_.copy(spare_, data_, bytes);
      messages_.exchange((rank_ + step) % ranks_, spare_, bytes, (rank_ + ranks_ - step) % ranks_, data_, bytes);
    }
    return true;
  }

  // By doubling: halves, of a power of two.
  bool reduce_scatter(Other other) {
    if (other == Other::ring) {
      go_round(true, 1);
      return true;
    }
    if (other == Other::doubling && std::has_single_bit(ranks_)) {
      std::size_t bytes = bytes_;
      for (std::uint32_t step = ranks_ / 2; step != 0; step /= 2) {
        bytes /= 2;
        messages_.exchange(rank_ ^ step, data_, bytes, rank_ ^ step, spare_, bytes);
        fold(spare_, data_, bytes);
      }
      return true;
    }
    return (other == Other::flat || other == Other::binomial) && reduce(other, bytes_) && scatter(other);
  }

  // Flat: along a chain. Exscan takes as long.
  bool scan(Other other) {
    if (other == Other::flat) {
      if (rank_ != 0) take(rank_ - 1, bytes_);
      if (rank_ + 1 < ranks_) messages_.send(rank_ + 1, data_, bytes_);
      return true;
    }
    if (other != Other::doubling) return false;
    for (std::uint32_t step = 1; step < ranks_; step *= 2) {
      if (rank_ + step < ranks_) messages_.begin_send(rank_ + step, data_, bytes_);
      if (rank_ >= step) take(rank_ - step, bytes_);
      if (rank_ + step < ranks_) messages_.end_send(rank_ + step, bytes_);
    }
    return true;
  }

  char* block(std::uint32_t index) const { return data_ + index * block_bytes_; }
  // Of `count` ranks from `first` on, as far as there are some.
  std::size_t blocks(std::uint32_t first, std::uint32_t count) const {
    return std::min(count, ranks_ - first) * block_bytes_;
  }

  // The largest step to a child in a binomial tree; 0: none.
  std::uint32_t below() const {
    return rank_ == 0 ? std::bit_floor(std::max(1u, ranks_ - 1)) : (rank_ & (0u - rank_)) / 2;
  }
  std::uint32_t subtree() const { return rank_ & (0u - rank_); }
  char* at(std::uint32_t rank) const { return data_ + bytes_ * std::min(rank, ranks_) / ranks_; }
  std::size_t part(std::uint32_t first, std::uint32_t last) const {
    return static_cast<std::size_t>(at(last) - at(first));
  }
  void fold(const char* in, char* inout, std::size_t bytes) {
    if (bytes != 0) messages_.reduce(in, inout, bytes);
  }
  void take(std::uint32_t from, std::size_t bytes) {
    messages_.receive(from, spare_, bytes);
    fold(spare_, data_, bytes);
  }
  // ranks - 1 steps to the next rank, with the part that came in the step before.
  void go_round(bool reduces, std::uint32_t offset) {
    const std::uint32_t next = (rank_ + 1) % ranks_, before = (rank_ + ranks_ - 1) % ranks_;
    for (std::uint32_t step = 0; step + 1 < ranks_; ++step) {
      const std::uint32_t sent = (rank_ + 2 * ranks_ - step - offset) % ranks_;
      const std::uint32_t received = (sent + ranks_ - 1) % ranks_;
      char* const to = reduces ? spare_ : at(received);
      messages_.exchange(next, at(sent), part(sent, sent + 1), before, to, part(received, received + 1));
      if (reduces) fold(spare_, at(received), part(received, received + 1));
    }
  }

  Messages& messages_;
  const std::size_t bytes_, block_bytes_;
  const std::uint32_t rank_, ranks_;
  char *const data_, *const spare_;
};

}  // namespace

const char* other_name(Other other) {
  switch (other) {
    case Other::flat: return "flat";
    case Other::binomial: return "binomial";
    case Other::doubling: return "doubling";
    case Other::ring: return "ring";
    case Other::sc18: return "sc18";
  }
  return "?";
}

Answer simulate_other(const Question& question, Other other) {
  Answer answer;
  answer.algorithm = other_name(other);
  if (!Fiber::can_switch()) {
    answer.failure = "this processor or kernel has no fibers of ours";
    return answer;
  }
  const bool has_blocks = moves_blocks(question.kind) || question.kind == Kind::reduce_scatter;
  const std::size_t bytes = question.kind == Kind::barrier ? 0 : question.bytes * (has_blocks ? question.ranks : 1);
  if (question.kind > Kind::allreduce && (other == Other::sc18 || question.nodes > 1)) {
    answer.failure = "there is no such algorithm for this call";
    return answer;
  }
  if (question.nodes > 1 && (other == Other::doubling || other == Other::ring)) {
    answer.failure = "over several nodes there are flat, binomial and sc18";
    return answer;
  }
  if (question.nodes > 1 && question.ranks > question.machine.core_count()) {
    answer.failure = "over several nodes each rank needs a core";
    return answer;
  }
  Clockwork clockwork(question.machine, question.costs, question.ranks, 2 * static_cast<double>(bytes));
  clockwork.keeps_events = question.keeps_events;
  Messages messages;
  FixedTrees trees;
  const std::size_t each_bytes = (2 * bytes + 8192) / 4096 * 4096;
  if (other == Other::sc18 ? !trees.open(clockwork, question, bytes, each_bytes)
                           : !messages.open(clockwork, question.ranks, each_bytes)) {
    answer.failure = "no memory for the buffers of all ranks: fewer ranks or bytes";
    return answer;
  }
  bool is_known = true;
  const auto cross = [&] {
    if (clockwork.rank() != 0) return;
    const WireTime time =
        wire_time(question.kind, question.nodes, bytes, question.wire, question.costs.copy_bytes_per_ns);
    clockwork.crossed(time.total_ns, time.wire_ns);
  };
  const auto step = [&](Kind kind) {
    if (other == Other::sc18)
      trees.call(kind);
    else
      is_known = Calls(messages, bytes).call(kind, other) && is_known;
  };
  const auto call = [&] {
    clockwork.spend(question.costs.call_ns);
    if (question.nodes > 1) {
      if (question.kind != Kind::bcast) step(Kind::reduce);
      cross();
      if (question.kind != Kind::reduce) step(Kind::bcast);
      return;
    }
    step(question.kind);
  };
  const char* const failure = clockwork.run([&](std::uint32_t) {
    for (int before = 0; before < 2; ++before) call();
    clockwork.begin_measured();
    for (std::uint32_t each = 0; each < question.calls; ++each) call();
    clockwork.end_measured();
  });
  answer.failure = is_known ? failure : "there is no such algorithm for this call";
  answer.is_right = answer.failure.empty();
  answer.ranks = clockwork.take_timelines();
  for (const Timeline& rank : answer.ranks) answer.call_ns = std::max(answer.call_ns, rank.left_ns - rank.came_ns);
  answer.call_ns /= question.calls;
  answer.moved_bytes = clockwork.moved_bytes();
  return answer;
}

}  // namespace millrace::model
