// What ranks of different nodes do together (collective/across/wire.h), by the host's collectives on a communicator of
// our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/across/wire.h"
#include "shim/bind/word.h"

namespace millrace::shim {

class HostWire final : public collective::Wire {
 public:
  // `line`: of each node one rank, numbered by their nodes; 0 on ranks that are on no line. Where all nodes have as
  // many ranks each is on the one of its place. May throw std::bad_alloc.
  void open(Word line, std::uint32_t nodes);
  Word line() const { return line_; }

  bool barrier(collective::Line line) override;
  bool bcast(collective::Line line, void* data, std::size_t bytes, std::uint32_t root) override;
  bool allreduce(collective::Line line, void* in_out, std::size_t elements,
                 const collective::Reducer& reducer) override;
  bool reduce(collective::Line line, const void* in, void* out, std::size_t elements,
              const collective::Reducer& reducer, std::uint32_t root) override;
  bool reduce_scatter(collective::Line line, const void* in, void* out, std::span<const std::size_t> counts,
                      const collective::Reducer& reducer) override;
  bool exscan(collective::Line line, void* in_out, std::size_t elements, const collective::Reducer& reducer) override;
  bool allgather(collective::Line line, char* all, std::span<const std::size_t> bytes) override;
  bool gather(collective::Line line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) override;
  bool scatter(collective::Line line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) override;
  bool alltoall(collective::Line line, const char* in, char* out, std::span<const std::size_t> bytes) override;

 private:
  // Lengths and places of the nodes' blocks, as the host wants them. True: all are equal.
  bool lay_out(std::span<const std::size_t> sizes);

  Word line_ = 0;
  std::uint32_t node_ = 0;
  std::vector<int> lengths_, places_;
};

}  // namespace millrace::shim
