// Nodes of a collective: one of them is run, the others are taken to be in the same state at the same time, and what
// the host MPI does between them takes the time of the best of the usual algorithms (wire_time()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "collective/across/across.h"
#include "model/clockwork.h"
#include "model/costs.h"

namespace millrace::model {

struct WireTime {
  double total_ns = 0;  // from the call to its end
  double wire_ns = 0;   // of that, for which the way into and out of a node is taken
};

// A collective of one rank on each of `nodes`. Bcast and Reduce along a binomial tree, or in parts (scatter and
// allgather; reduce_scatter and gather); Allreduce by recursive doubling, or as in Rabenseifner's; Barrier by
// dissemination (Thakur, Rabenseifner, Gropp, IJHPCA 2005): whichever is the fastest. `fold_bytes_per_ns`: at which a
// rank reduces what came.
WireTime wire_time(collective::Kind kind, std::uint32_t nodes, std::size_t bytes, const WireCosts& costs,
                   double fold_bytes_per_ns);

// Of one rank of the node that is run. What the other nodes would send comes from `fill`.
class ModelWire final : public collective::Wire {
 public:
  // What a call between nodes leaves at `data`, of what this node has there.
  using Fill = std::function<void(collective::Kind kind, void* data, std::size_t bytes)>;

  ModelWire(Clockwork& clockwork, std::uint32_t nodes, const WireCosts& costs, double fold_bytes_per_ns, Fill fill)
      : clockwork_(clockwork),
        nodes_(nodes),
        costs_(costs),
        fold_bytes_per_ns_(fold_bytes_per_ns),
        fill_(std::move(fill)) {}

  void begin(std::uint64_t) override {}
  void refuse() override {}
  collective::Result barrier(collective::Line) override;
  collective::Result bcast(collective::Line, void* data, std::size_t bytes, std::uint32_t root) override;
  collective::Result allreduce(collective::Line, void* in_out, std::size_t elements, const collective::Reducer& reducer,
                               std::span<char> spare) override;
  collective::Result reduce(collective::Line, const void* in, void* out, std::size_t elements,
                            const collective::Reducer& reducer, std::uint32_t root) override;
  // Nothing that is modelled over nodes uses these.
  collective::Result reduce_scatter(collective::Line, const void*, void*, std::span<const std::size_t>,
                                    const collective::Reducer&, std::span<char>) override {
    return collective::Result::not_supported;
  }
  collective::Result exscan(collective::Line, void*, std::size_t, const collective::Reducer&) override {
    return collective::Result::not_supported;
  }
  collective::Result allgather(collective::Line, char*, std::span<const std::size_t>) override {
    return collective::Result::not_supported;
  }
  bool reaches(std::span<char* const>, std::size_t) const override { return false; }
  collective::Result allgather_rows(collective::Line, std::span<char* const>, std::size_t) override {
    return collective::Result::not_supported;
  }
  collective::Result gather(collective::Line, char*, std::span<const std::size_t>, std::uint32_t) override {
    return collective::Result::not_supported;
  }
  collective::Result scatter(collective::Line, char*, std::span<const std::size_t>, std::uint32_t) override {
    return collective::Result::not_supported;
  }
  collective::Result alltoall(collective::Line, const char*, char*, std::span<const std::size_t>,
                              std::size_t) override {
    return collective::Result::not_supported;
  }

 private:
  void cross(collective::Kind kind, std::size_t bytes);

  Clockwork& clockwork_;
  const std::uint32_t nodes_;
  const WireCosts costs_;
  const double fold_bytes_per_ns_;
  const Fill fill_;
};

// The steps in the node. Those that no Observer hears of, for they move what lies in pieces, take the time of their
// bytes: each rank copies what all have, out of the others' caches.
class ModelHere final : public collective::Here {
 public:
  ModelHere(collective::Group& group, Clockwork& clockwork, const Costs& costs)
      : here_(group), group_(group), clockwork_(clockwork), costs_(costs) {}

  collective::Result barrier() override;
  collective::Result bcast(void* data, std::size_t bytes, std::uint32_t root) override;
  collective::Result reduce(const void* in, void* out, std::size_t elements, const collective::Reducer& reducer,
                            std::uint32_t root) override;
  collective::Result reduce_scatter(const void* in, void* out, const collective::Blocking& blocks,
                                    const collective::Reducer& reducer) override;
  collective::Result scan(const void* in, void* out, std::size_t elements, const collective::Reducer& reducer,
                          bool inclusive) override;
  collective::Result exchange(std::uint64_t label, std::span<const collective::Message> sends,
                              std::span<const collective::Message> receives) override;
  collective::Result publish(std::uint64_t label, const collective::Data& own,
                             std::span<const collective::Data> receives, std::size_t block_bytes) override;
  void fail(collective::Result result) override;

 private:
  collective::GroupHere here_;
  collective::Group& group_;
  Clockwork& clockwork_;
  const Costs& costs_;
};

}  // namespace millrace::model
