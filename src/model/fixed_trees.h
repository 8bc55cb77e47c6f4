// The design of Jain et al., SC18, with the choices of its evaluation: a release and a gather step along trees of
// flags; cells of 8 KiB, four of them, of the root for Bcast and of each rank for Reduce; children read their parent's
// flag.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/selection.h"
#include "collective/tree.h"
#include "model/clockwork.h"
#include "model/pages.h"
#include "model/simulation.h"

namespace millrace::model {

class FixedTrees {
 public:
  bool open(Clockwork& clockwork, const Question& question, std::size_t bytes, std::size_t each_bytes);
  void call(collective::Kind kind);

 private:
  struct alignas(128) Flags {
    alignas(64) std::atomic<std::uint64_t> release, gather;
  };
  struct Tree {
    std::vector<collective::TreeNode> nodes;
    std::vector<std::uint32_t> children;
  };
  struct State {
    std::uint64_t bcasts = 0, reduces = 0;  // pieces so far
    std::uint64_t bcast_free = 0;           // of the root: pieces that all have read
  };
  Tree grow(const Machine& machine, const collective::TreeShape& shape) const;
  Flags& flags(std::size_t set, std::uint32_t rank) const {
    return reinterpret_cast<Flags*>(shared_.base())[set * ranks_ + rank];
  }
  char* cell(std::uint32_t rank, std::uint64_t piece) const;
  void store(std::atomic<std::uint64_t>& flag, std::uint64_t value);
  void bcast(std::size_t bytes);
  void reduce(std::size_t bytes);

  Clockwork* clockwork_ = nullptr;
  std::uint32_t ranks_ = 0, cells_ = 4;
  bool copies_at_root_ = false;
  std::size_t cell_bytes_ = 8 << 10, bytes_ = 0, each_bytes_ = 0;
  Tree down_, up_;
  Pages shared_, owned_;
  std::vector<State> states_;
};

}  // namespace millrace::model
