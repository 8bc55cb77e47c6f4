// Nodes that are not there: all ranks are processes of this machine, those of a node share one group, and the wire
// between nodes is made of groups, too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collective/across/across.h"
#include "collective/group.h"

namespace millrace::collective::test {

// Memory for the groups of some ranks, to be made before they are forked.
class PretendedNodes {
 public:
  explicit PretendedNodes(std::vector<std::uint32_t> node_names);
  ~PretendedNodes();
  PretendedNodes(const PretendedNodes&) = delete;
  PretendedNodes& operator=(const PretendedNodes&) = delete;

  const std::vector<std::uint32_t>& names() const { return names_; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(names_.size()); }
  // Segment `index` of a table that all ranks know: nodes, then leaders, then places.
  char* segment(std::uint32_t index) const { return base_ + index * segment_bytes_; }

 private:
  std::vector<std::uint32_t> names_;
  std::size_t segment_bytes_ = 0, bytes_ = 0;
  char* base_ = nullptr;
};

// One rank of them.
class PretendedRank {
 public:
  // Waits for all others. "" or what went wrong.
  std::string join(const PretendedNodes& nodes, std::uint32_t rank);
  Group& group() { return group_; }
  // Lets everybody go who waits for this rank, on other nodes too.
  void give_up();

 private:
  class GroupWire final : public Wire {
   public:
    Group leaders, places;
    bool has_places = false;
    Group& of(Line line) { return line == Line::leaders ? leaders : places; }

    void begin(std::uint64_t) override {}
    void refuse() override;
    Result barrier(Line line) override;
    Result bcast(Line line, void* data, std::size_t bytes, std::uint32_t root) override;
    Result allreduce(Line line, void* in_out, std::size_t elements, const Reducer& reducer,
                     std::span<char> spare) override;
    Result reduce(Line line, const void* in, void* out, std::size_t elements, const Reducer& reducer,
                  std::uint32_t root) override;
    Result reduce_scatter(Line line, const void* in, void* out, std::span<const std::size_t> counts,
                          const Reducer& reducer, std::span<char> spare) override;
    Result exscan(Line line, void* in_out, std::size_t elements, const Reducer& reducer) override;
    Result allgather(Line line, char* all, std::span<const std::size_t> bytes) override;
    // As a host's int of bytes does.
    bool reaches(std::span<char* const> blocks, std::size_t bytes) const override;
    Result allgather_rows(Line line, std::span<char* const> blocks, std::size_t bytes) override;
    Result gather(Line line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) override;
    Result scatter(Line line, char* all, std::span<const std::size_t> bytes, std::uint32_t root) override;
    Result alltoall(Line line, const char* in, char* out, std::span<const std::size_t> bytes,
                    std::size_t most_bytes) override;
  };

  Group here_, group_;
  GroupHere steps_here_{here_};
  GroupWire wire_;
  Across across_;
};

}  // namespace millrace::collective::test
