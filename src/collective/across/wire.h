// What ranks of different nodes do together: the host MPI's collectives, as src/shim makes them (tests make others).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/reducer.h"
#include "collective/result.h"

namespace millrace::collective {

// A rank is on one or two lines, whose members are numbered by their node.
enum class Line : std::uint8_t {
  leaders,  // of each node the rank at place 0
  places    // of each node the rank at this rank's own place; only where all nodes have as many
};

// What is done with the pieces of a broadcast in which they follow each other: before the piece at `first` of so many
// bytes crosses, and when it is here and on its way to whom it is to go to. (No virtual functions: who calls them may
// be built with run-time types, and who has them without.)
struct PieceSteps {
  using Step = Result (*)(void* self, std::size_t first, std::size_t length);
  void* self;
  Step before_, after_;

  Result before(std::size_t first, std::size_t length) const { return before_(self, first, length); }
  Result after(std::size_t first, std::size_t length) const { return after_(self, first, length); }
};

// Every member of the line makes the same call. mismatch: some of them are in different calls of Across, of which all
// that can know get the same; other results but ok: it failed, here, and nothing more can be said of the line.
class Wire {
 public:
  // A call of Across begins: `label` is made of what it is and of all calls before, and so the same on all members, or
  // they are in different calls.
  virtual void begin(std::uint64_t label) = 0;
  // Members that wait for this one, or will, get mismatch; which this one has, or a rank of its node. For good.
  virtual void refuse() = 0;

  virtual Result barrier(Line line) = 0;
  virtual Result bcast(Line line, void* data, std::size_t bytes, std::uint32_t root) = 0;
  // The same in pieces. Where a step fails the call has failed, for all members that come after this one, too.
  virtual Result bcast_pieces(Line line, char* data, std::size_t bytes, std::size_t piece_bytes, std::uint32_t root,
                              const PieceSteps& steps) {
    for (std::size_t first = 0; first < bytes; first += piece_bytes) {
      const std::size_t length = std::min(piece_bytes, bytes - first);
      if (const Result result = steps.before(first, length); result != Result::ok) return result;
      if (const Result result = bcast(line, data + first, length, root); result != Result::ok) return result;
      if (const Result result = steps.after(first, length); result != Result::ok) return result;
    }
    return Result::ok;
  }
  // `spare`, here and below: of the caller's, as long on all members, for whatever is on its way.
  virtual Result allreduce(Line line, void* in_out, std::size_t elements, const Reducer& reducer,
                           std::span<char> spare) = 0;
  // `out`: null but at the root. Not in one place: MPICH 4.0 reads MPI_IN_PLACE as an address where 16 KiB and more are
  // reduced to a root that is not rank 0.
  virtual Result reduce(Line line, const void* in, void* out, std::size_t elements, const Reducer& reducer,
                        std::uint32_t root) = 0;
  // `counts[node]` elements for each node, one behind the other in `in`: `out` gets the reduced ones of the own node.
  virtual Result reduce_scatter(Line line, const void* in, void* out, std::span<const std::size_t> counts,
                                const Reducer& reducer, std::span<char> spare) = 0;
  // in_out[0 .. elements) becomes the fold of the nodes before; undefined on node 0.
  virtual Result exscan(Line line, void* in_out, std::size_t elements, const Reducer& reducer) = 0;
  // Block `node` of `all`, which node `node` has filled, to all, or to the root; from the root to node `node`.
  // `bytes[node]` of each, one behind the other. The own block lies in its place in `all` on every rank.
  virtual Result allgather(Line line, char* all, std::span<const std::size_t> bytes) = 0;
  // The same of blocks alike that lie anywhere: that of node `node` at `blocks[node]`. `reaches`: whether it can; what
  // it cannot must be laid one behind the other. It may differ between the members.
  virtual bool reaches(std::span<char* const> blocks, std::size_t bytes) const = 0;
  virtual Result allgather_rows(Line line, std::span<char* const> blocks, std::size_t bytes) = 0;
  virtual Result gather(Line line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) = 0;
  virtual Result scatter(Line line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) = 0;
  // `bytes[node]` to each node, and as many from it, one behind the other. `most_bytes` is the same on all nodes and
  // no less than what any two send each other: by that alone may be chosen how.
  virtual Result alltoall(Line line, const char* in, char* out, std::span<const std::size_t> bytes,
                          std::size_t most_bytes) = 0;

 protected:
  ~Wire() = default;
};

}  // namespace millrace::collective
