#include "collective/group_shape.h"

#include "collective/memory.h"

namespace millrace::collective {
namespace {

bool power_of_two(std::uint32_t number) { return number != 0 && (number & (number - 1)) == 0; }

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Messages of 8 KiB go twice as fast through a ring of 64 cells than through 8 slots (docs/results/turns.md), but cells
// are most of what a small group needs.
constexpr std::uint32_t large_cells_ranks = 8, large_cell_bytes = 8192;

GroupShape shape_without_letters(std::uint32_t ranks) {
  GroupShape shape;
  shape.ranks = ranks;
  shape.letters = 0;
  return shape;
}

}  // namespace

bool valid(const GroupShape& shape) {
  return shape.ranks >= 1 && shape.ranks <= most_ranks && power_of_two(shape.calls_ahead) && shape.calls_ahead >= 2 &&
         shape.calls_ahead <= 4096 && shape.cell_bytes % pair_bytes == 0 && shape.cell_bytes >= pair_bytes &&
         power_of_two(shape.slots) && shape.slots >= 8 && shape.slot_bytes % pair_bytes == 0 &&
         shape.slot_bytes >= 1024 && (shape.letters == 0 || power_of_two(shape.letters)) && shape.letters <= 64 &&
         shape.unit_bytes % pair_bytes == 0 && shape.unit_bytes >= pair_bytes;
}

// Where slots are small memory is short, and chunks are in the first cache.
bool phases(const GroupShape& shape) { return shape.slot_bytes >= (32u << 10); }

BlockLayout block_layout(const GroupShape& shape) {
  BlockLayout layout{};
  layout.cells = round_up(sizeof(Member), pair_bytes);
  layout.cell_data = layout.cells + std::size_t{shape.calls_ahead} * sizeof(Cell);
  layout.slots = round_up(layout.cell_data + std::size_t{shape.calls_ahead} * shape.cell_bytes, page_bytes);
  layout.slot_stride = round_up(shape.slot_bytes + (phases(shape) ? line_bytes : 0), pair_bytes);
  layout.pair_buffers = round_up(layout.slots + std::size_t{shape.slots} * layout.slot_stride, page_bytes);
  layout.pair_stride = shape.ranks == 2 ? round_up(sizeof(PairHead) + shape.slot_bytes + line_bytes, pair_bytes) : 0;
  layout.mailboxes = round_up(layout.pair_buffers + pair_buffer_count * layout.pair_stride, pair_bytes);
  layout.mailbox_stride =
      shape.letters == 0 ? 0 : shape.letters * sizeof(Letter) + sizeof(NotedFlag) + sizeof(SharedRow);
  layout.outbox = round_up(layout.mailboxes + shape.ranks * layout.mailbox_stride, page_bytes);
  const std::size_t outbox_bytes = shape.letters == 0 ? 0 : outbox_units * std::size_t{shape.unit_bytes};
  layout.bytes = round_up(layout.outbox + outbox_bytes, page_bytes);
  return layout;
}

std::size_t segment_bytes(const GroupShape& shape) { return page_bytes + shape.ranks * block_layout(shape).bytes; }

OwnPart own_part(const GroupShape& shape, std::uint32_t rank) {
  const std::size_t bytes = block_layout(shape).bytes;
  if (rank == 0) return {0, page_bytes + bytes};
  return {page_bytes + rank * bytes, bytes};
}

GroupShape shape_for(std::uint32_t ranks, std::size_t most_bytes) {
  GroupShape shape;
  shape.ranks = ranks;
  if (ranks <= large_cells_ranks) shape.cell_bytes = large_cell_bytes;
  if (!valid(shape)) return {};
  // The least useful memory goes first: chunks below 16 KiB and cells below 512 bytes cost speed.
  while (segment_bytes(shape) > most_bytes) {
    if (shape.slot_bytes > (16u << 10)) {  // NOLINT(bugprone-branch-clone): slots come twice
      shape.slot_bytes /= 2;
    } else if (shape.letters > 2) {
      shape.letters /= 2;
    } else if (shape.letters != 0 && shape.unit_bytes > 1024) {
      shape.unit_bytes /= 2;
    } else if (shape.cell_bytes > 512) {
      shape.cell_bytes /= 2;
    } else if (shape.slot_bytes > 4096) {
      shape.slot_bytes /= 2;
    } else if (shape.letters != 0) {
      // Mailboxes grow with the square of the ranks: without them there are no exchanges, and the rest as before.
      shape = shape_without_letters(ranks);
    } else {
      return {};
    }
  }
  // Who gathers what several ranks have needs larger cells more than so many of them, and this is less memory.
  if (shape.cell_bytes == 512) {
    shape.cell_bytes *= 2;
    shape.calls_ahead /= 2;
  }
  return shape;
}

}  // namespace millrace::collective
