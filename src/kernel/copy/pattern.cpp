#include <cstring>

#include "kernel/copy/copy.h"

namespace millrace::kernel {
namespace {

constexpr std::size_t group_bytes = 64, most_source_bytes = 256, most_extent_bytes = 128;

// Where the packed bytes of one repetition come from, counted in lanes from the lowest piece.
void number_lanes(Pattern& pattern) {
  const std::size_t lane = pattern.lane_bytes, extent = static_cast<std::size_t>(pattern.extent_bytes);
  std::size_t group = group_bytes / pattern.packed_bytes;
  while (group > 0 && (group - 1) * extent + pattern.span_bytes > most_source_bytes) --group;
  std::memset(pattern.packed_lane, pattern_gap, sizeof pattern.packed_lane);
  pattern.group_repetitions = group;
  pattern.disjoint_repetitions = pattern.span_bytes <= extent && extent <= most_extent_bytes;
  const std::size_t packed_lanes = pattern.packed_bytes / lane;
  std::size_t next = 0;
  for (std::size_t i = 0; i < pattern.piece_count; ++i) {
    const std::ptrdiff_t offset = pattern.pieces[i].displacement_bytes - pattern.lowest_bytes;
    const std::size_t first = static_cast<std::size_t>(offset) / lane;
    for (std::size_t j = 0; j < pattern.pieces[i].bytes / lane; ++j, ++next) {
      for (std::size_t r = 0; r < group; ++r)
        pattern.source_lane[r * packed_lanes + next] = static_cast<unsigned char>(r * (extent / lane) + first + j);
      if (!pattern.disjoint_repetitions) continue;
      if (pattern.packed_lane[first + j] != pattern_gap) pattern.disjoint_repetitions = false;
      pattern.packed_lane[first + j] = static_cast<unsigned char>(next);
    }
  }
}

}  // namespace

void prepare_pattern(Pattern& pattern, const Piece* pieces, std::size_t piece_count, std::ptrdiff_t extent_bytes) {
  pattern = {};
  pattern.pieces = pieces;
  pattern.piece_count = piece_count;
  pattern.extent_bytes = extent_bytes;
  std::ptrdiff_t lowest = 0, highest = 0;
  std::size_t bits = 4 | static_cast<std::size_t>(extent_bytes);
  for (std::size_t i = 0; i < piece_count; ++i) {
    const Piece& piece = pieces[i];
    if (piece.bytes == 0) continue;
    const std::ptrdiff_t end = piece.displacement_bytes + static_cast<std::ptrdiff_t>(piece.bytes);
    if (pattern.packed_bytes == 0 || piece.displacement_bytes < lowest) lowest = piece.displacement_bytes;
    if (pattern.packed_bytes == 0 || end > highest) highest = end;
    pattern.packed_bytes += piece.bytes;
  }
  pattern.lowest_bytes = lowest;
  pattern.span_bytes = static_cast<std::size_t>(highest - lowest);
  for (std::size_t i = 0; i < piece_count; ++i)
    if (pieces[i].bytes) bits |= pieces[i].bytes | static_cast<std::size_t>(pieces[i].displacement_bytes - lowest);
  pattern.lane_bytes = bits & (~bits + 1);
  if (pattern.packed_bytes > 0 && pattern.packed_bytes <= group_bytes && extent_bytes > 0 &&
      extent_bytes <= static_cast<std::ptrdiff_t>(most_source_bytes))
    number_lanes(pattern);
}

}  // namespace millrace::kernel
