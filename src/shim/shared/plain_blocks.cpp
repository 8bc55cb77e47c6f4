#include "shim/shared/plain_blocks.h"

#include <vector>

#include "shared_memory/futex.h"
#include "shim/host/device_memory.h"

namespace millrace::shim {
namespace {

using collective::Data;

// One behind the other.
void list_rows(std::vector<Data>& blocks, std::size_t count, Word first, std::size_t bytes) {
  blocks.resize(count);
  for (std::size_t i = 0; i < count; ++i) blocks[i] = {bytes, as_pointer(first + i * bytes), nullptr, nullptr};
}

// Where they are in no cache they come while the others are waited for.
void ask_for(Word read, Word written) {
  if (read != 0) shared_memory::prefetch_to_read(as_pointer(read));
  if (written != 0) shared_memory::prefetch_to_write(as_pointer(written));
}

}  // namespace

bool PlainBlocks::list_all(Word from, Word to, ExchangeBlocks& lists) const {
  const bool gathers = kind == ExchangeKind::allgather;
  if (in_place) from = to + received_bytes * rank;
  const std::size_t each = in_place ? received_bytes : sent_bytes;
  const Word from_end = from + (gathers ? each : each * ranks), to_end = to + received_bytes * ranks;
  if (from == 0 || to == 0 || (!in_place && from < to_end && to < from_end)) return false;
  if (is_device_memory(from, to)) return false;
  ask_for(from, to);
  list_rows(lists.sent, gathers ? 1 : ranks, from, each);
  list_rows(lists.gathered, ranks, to, received_bytes);
  if (in_place) lists.gathered[rank].row = nullptr;
  return true;
}

// The root has a block of every rank, and each rank one of its own.
bool PlainBlocks::list_rooted(Word from, Word to, ExchangeBlocks& lists) const {
  const bool gathers = kind == ExchangeKind::gather, has_own = !in_place;
  const std::size_t each = gathers ? received_bytes : sent_bytes, own_bytes = gathers ? sent_bytes : received_bytes;
  const Word all = is_root() ? (gathers ? to : from) : 0, all_end = all + each * ranks;
  const Word own = has_own ? (gathers ? from : to) : all;
  if (own == 0 || (is_root() && all == 0)) return false;
  if (is_root() && has_own && own < all_end && all < own + own_bytes) return false;
  if (is_root() ? is_device_memory(all, own) : is_device_memory(own)) return false;
  ask_for(gathers ? own : all, gathers ? all : own);
  list_rows(gathers ? lists.gathered : lists.sent, is_root() ? ranks : 0, all, each);
  list_rows(gathers ? lists.sent : lists.gathered, has_own ? 1 : 0, own, own_bytes);
  return true;
}

bool PlainBlocks::list(Word from, Word to, ExchangeBlocks& lists) const noexcept try {
  return is_rooted() ? list_rooted(from, to, lists) : list_all(from, to, lists);
} catch (...) {
  return false;
}

}  // namespace millrace::shim
