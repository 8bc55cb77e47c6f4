#include "collective/data.h"

#include <algorithm>

#include "kernel/copy/row.h"

namespace millrace::collective {
namespace {

// So that what was packed is still in the first cache when it is unpacked.
constexpr std::size_t piece_bytes = 16 << 10;

void unpack_part_of(void* context, std::size_t first, std::size_t length, void* packed) {
  const auto& [of, begin] = *static_cast<const DataPart*>(context);
  if ((of->row || of->move) && begin + first < of->bytes)
    unpack(*of, begin + first, std::min(length, of->bytes - begin - first), packed);
}

}  // namespace

void pack(const Data& from, std::size_t first, std::size_t length, void* packed) {
  if (length == 0) return;
  if (from.row) {
    kernel::copy_row(packed, static_cast<const char*>(from.row) + first, length);
  } else {
    from.move(from.context, first, length, packed);
  }
}

void leave(const Group& group, const Data& from, std::size_t first, std::size_t length, char* packed) {
  if (!group.past_caches) return pack(from, first, length, packed);
  if (from.row) return group.leave(packed, static_cast<const char*>(from.row) + first, length);
  const std::size_t piece = std::min(piece_bytes, group.scratch_bytes());
  for (const std::size_t end = first + length; first < end; first += piece, packed += piece) {
    const std::size_t part = std::min(piece, end - first);
    from.move(from.context, first, part, group.scratch());
    group.leave(packed, group.scratch(), part);
  }
}

void unpack(const Data& to, std::size_t first, std::size_t length, const void* packed) {
  if (length == 0) return;
  if (to.row) {
    kernel::copy_row(static_cast<char*>(to.row) + first, packed, length);
  } else {
    to.move(to.context, first, length, const_cast<void*>(packed));
  }
}

Data part_of(const Data& of, std::size_t first, std::size_t length, DataPart& part) {
  if (of.row && of.bytes >= first + length) return {length, static_cast<char*>(of.row) + first, nullptr, nullptr};
  part = {&of, first};
  return {length, nullptr, unpack_part_of, &part};
}

void move_all(const Data& from, const Data& to, std::size_t bytes, void* scratch, std::size_t scratch_bytes) {
  if (to.row) return pack(from, 0, bytes, to.row);
  if (from.row) return unpack(to, 0, bytes, from.row);
  const std::size_t piece = std::min(piece_bytes, scratch_bytes);
  for (std::size_t first = 0; first < bytes; first += piece) {
    const std::size_t length = std::min(piece, bytes - first);
    pack(from, first, length, scratch);
    unpack(to, first, length, scratch);
  }
}

Result read_part(Group& group, std::uint32_t rank, std::uint64_t address, const Data& to, std::size_t first,
                 std::size_t length) {
  if (to.row) return group.read_from(rank, address + first, static_cast<char*>(to.row) + first, length);
  const std::size_t piece = group.scratch_bytes();
  for (const std::size_t end = first + length; first < end; first += piece) {
    const std::size_t part = std::min(piece, end - first);
    if (const Result result = group.read_from(rank, address + first, group.scratch(), part); result != Result::ok)
      return result;
    unpack(to, first, part, group.scratch());
  }
  return Result::ok;
}

}  // namespace millrace::collective
