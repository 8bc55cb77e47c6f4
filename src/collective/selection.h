// Which algorithm does a call: data that the plan fills in from its table and from settings, equal on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::collective {

enum class BcastAlgorithm : std::uint8_t { cells, chunks };
enum class ReduceAlgorithm : std::uint8_t { cells, chunks, slices };
enum class AllreduceAlgorithm : std::uint8_t { cells, slices };

// Messages of up to so many bytes go through cells, if these are large enough; the rest in chunks.
struct Selection {
  std::uint32_t bcast_cells_bytes = 4096;
  std::uint32_t reduce_cells_bytes = 4096;
  std::uint32_t allreduce_cells_bytes = 4096;
  std::uint32_t bcast_chunk_bytes = 32 << 10;
  std::uint32_t reduce_chunk_bytes = 32 << 10;
  std::uint32_t allreduce_chunk_bytes = 32 << 10;
  std::uint32_t pair_chunk_bytes = 64 << 10;
  bool pair = true;                       // groups of two ranks have algorithms of their own for Barrier and Allreduce
  std::uint32_t reduce_slices_ranks = 3;  // from so many ranks on, large reductions are shared out among all
};

const Selection& standard_selection();

}  // namespace millrace::collective
