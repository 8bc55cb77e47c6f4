// What ranks of different nodes do together (collective/across/wire.h), by the host's collectives on a communicator of
// our own, and short ones by trips of our own (line_trips.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/across/wire.h"
#include "shim/bind/forward.h"
#include "shim/node/line_trips.h"

namespace millrace::shim {

class HostWire final : public collective::Wire {
 public:
  // `line`: of each node one rank, numbered by their nodes; 0 on ranks that are on no line. Where all nodes have as
  // many ranks each is on the one of its place. May throw std::bad_alloc.
  void open(Word line, std::uint32_t nodes);
  Word line() const { return line_; }

  void begin(std::uint64_t label) override { trips_.begin(label); }
  void refuse() override { trips_.refuse(); }
  collective::Result barrier(collective::Line line) override;
  collective::Result bcast(collective::Line line, void* data, std::size_t bytes, std::uint32_t root) override;
  collective::Result bcast_pieces(collective::Line line, char* data, std::size_t bytes, std::size_t piece_bytes,
                                  std::uint32_t root, const collective::PieceSteps& steps) override;
  collective::Result allreduce(collective::Line line, void* in_out, std::size_t elements,
                               const collective::Reducer& reducer, std::span<char> spare) override;
  collective::Result reduce(collective::Line line, const void* in, void* out, std::size_t elements,
                            const collective::Reducer& reducer, std::uint32_t root) override;
  collective::Result reduce_scatter(collective::Line line, const void* in, void* out,
                                    std::span<const std::size_t> counts, const collective::Reducer& reducer,
                                    std::span<char> spare) override;
  collective::Result exscan(collective::Line line, void* in_out, std::size_t elements,
                            const collective::Reducer& reducer) override;
  collective::Result allgather(collective::Line line, char* all, std::span<const std::size_t> bytes) override;
  bool reaches(std::span<char* const> blocks, std::size_t bytes) const override;
  collective::Result allgather_rows(collective::Line line, std::span<char* const> blocks, std::size_t bytes) override;
  collective::Result gather(collective::Line line, char* all, std::span<const std::size_t> bytes,
                            std::uint32_t root) override;
  collective::Result scatter(collective::Line line, char* all, std::span<const std::size_t> bytes,
                             std::uint32_t root) override;
  collective::Result alltoall(collective::Line line, const char* in, char* out, std::span<const std::size_t> bytes,
                              std::size_t most_bytes) override;

 private:
  // One call of the host, after a trip that says that all members are in it.
  template <Symbol symbol, class... Words>
  collective::Result call_host(Words... words);
  // Likewise of parts of up to so many bytes that members send each other straight: whether `spare` has room for those
  // of all and one more, and which place each has there.
  bool takes_parts(std::size_t part_bytes, std::span<char> spare) const;
  static char* part_place(std::span<char> spare, std::size_t part_bytes, std::uint32_t index);
  // The left fold of the part of this node out of what all have at part_of(node), to `out`.
  template <class PartOf>
  collective::Result reduce_parts(PartOf part_of, void* out, std::size_t most_bytes, const collective::Reducer& reducer,
                                  std::span<char> spare);
  collective::Result allreduce_parts(char* in_out, std::size_t elements, const collective::Reducer& reducer,
                                     std::size_t most_bytes, std::span<char> spare);
  // The left fold of what the first so many nodes have; `own`: of this one.
  void fold_nodes(std::uint32_t nodes, const void* own, void* out, std::size_t elements,
                  const collective::Reducer& reducer);
  // Lengths and places of the nodes' blocks, as the host wants them. True: all are equal.
  bool lay_out(std::span<const std::size_t> sizes);

  Word line_ = 0;
  std::uint32_t node_ = 0, nodes_ = 0;
  std::vector<int> lengths_, places_;
  std::vector<const void*> inputs_;
  std::vector<LineTrips::Swapped> swapped_;
  LineTrips trips_;
};

}  // namespace millrace::shim
