#include "record/peers.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "record/thread_block.h"

namespace millrace::record {

struct PeerCounters {
  std::uint64_t key;  // rank + 1; 0: free
  std::uint64_t messages;
  std::uint64_t bytes;
};

// One anonymous mapping: a header of a cache line, then 2^slots_log2 slots, of which at most half are in use. A table
// that is full is copied into one of twice its size and stays mapped, for a reader may be in it.
struct PeerTable {
  std::uint64_t slots_log2;
  std::uint64_t used;
  PeerCounters others;
  std::uint64_t unused[3];

  PeerCounters* slots() { return reinterpret_cast<PeerCounters*>(this + 1); }
  std::size_t slot_count() const { return std::size_t{1} << slots_log2; }
};
static_assert(sizeof(PeerTable) == 64);

namespace {

constexpr std::uint64_t first_slots_log2 = 7;  // with the header less than a page
static_assert(sizeof(PeerTable) + (sizeof(PeerCounters) << first_slots_log2) <= 4096);

std::size_t bytes_of(std::uint64_t slots_log2) { return sizeof(PeerTable) + (sizeof(PeerCounters) << slots_log2); }

PeerTable* allocate(std::uint64_t slots_log2) {
  void* const memory = mmap(nullptr, bytes_of(slots_log2), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const table = static_cast<PeerTable*>(memory);
  table->slots_log2 = slots_log2;
  return table;
}

// The slot of a key, or the free one where it would be: there always is one.
PeerCounters& slot_of(PeerTable& table, std::uint64_t key) {
  std::size_t index = spread(key) >> (64 - table.slots_log2);
  for (;; index = (index + 1) & (table.slot_count() - 1)) {
    PeerCounters& slot = table.slots()[index];
    const std::uint64_t found = read(slot.key);
    if (found == key || found == 0) return slot;
  }
}

// Release; partner: the acquire in table_of(), which then sees the slots.
void publish(ThreadBlock& block, PeerTable* table) {
  std::atomic_ref<PeerTable*>(block.peers).store(table, std::memory_order_release);
}
PeerTable* table_of(ThreadBlock& block) {
  return std::atomic_ref<PeerTable*>(block.peers).load(std::memory_order_acquire);
}

PeerTable* larger(ThreadBlock& block, PeerTable& full) {
  PeerTable* const table = allocate(full.slots_log2 + 1);
  if (!table) return nullptr;
  table->used = full.used;
  table->others = full.others;
  for (std::size_t index = 0; index < full.slot_count(); ++index)
    if (const PeerCounters& from = full.slots()[index]; from.key != 0) slot_of(*table, from.key) = from;
  publish(block, table);
  return table;
}

// For a rank that has no slot yet: one of its own, or that of the others.
__attribute__((noinline)) PeerCounters& new_slot(ThreadBlock& block, PeerTable& full, std::uint64_t key) {
  PeerTable* table = &full;
  if (table->used == most_peers) return table->others;
  if (2 * (table->used + 1) > table->slot_count()) table = larger(block, *table);
  if (!table) return full.others;
  PeerCounters& slot = slot_of(*table, key);
  ++table->used;
  // Relaxed; partner: read(slot.key) in add_up(). A reader that sees the key early sees counts of zero.
  std::atomic_ref<std::uint64_t>(slot.key).store(key, std::memory_order_relaxed);
  return slot;
}

__attribute__((noinline)) PeerTable* first_table(ThreadBlock& block) {
  PeerTable* const table = allocate(first_slots_log2);
  if (table) publish(block, table);
  return table;
}

void add_up(PeerCount& sum, PeerCounters& from) {
  sum.messages += read(from.messages);
  sum.bytes += read(from.bytes);
}

}  // namespace

void add_message(std::int32_t rank, std::uint64_t bytes) {
  ThreadBlock* const block = this_thread_block();
  if (!block) return;
  PeerTable* table = block->peers;  // written by this thread alone
  if (!table) [[unlikely]]
    table = first_table(*block);
  if (!table) return;
  PeerCounters* counters = &table->others;
  if (rank >= 0) {
    const std::uint64_t key = static_cast<std::uint64_t>(rank) + 1;
    counters = &slot_of(*table, key);
    if (counters->key != key) [[unlikely]]
      counters = &new_slot(*block, *table, key);
  }
  add(counters->messages, 1);
  add(counters->bytes, bytes);
}

Peers peers_until_now() {
  Peers all;
  std::map<std::int32_t, PeerCount> by_rank;
  for (ThreadBlock* block = first_block(); block; block = block->next) {
    PeerTable* const table = table_of(*block);
    if (!table) continue;
    add_up(all.others, table->others);
    for (std::size_t index = 0; index < table->slot_count(); ++index) {
      PeerCounters& slot = table->slots()[index];
      const std::uint64_t key = read(slot.key);
      if (key != 0 && read(slot.messages) != 0) add_up(by_rank[static_cast<std::int32_t>(key - 1)], slot);
    }
  }
  all.to.reserve(by_rank.size());
  for (auto& [rank, count] : by_rank) {
    count.rank = rank;
    all.to.push_back(count);
  }
  return all;
}

void keep_foremost(Peers& peers, std::size_t most) {
  if (peers.to.size() <= most) return;
  std::ranges::stable_sort(peers.to, [](const PeerCount& left, const PeerCount& right) {
    return left.bytes != right.bytes ? left.bytes > right.bytes : left.messages > right.messages;
  });
  for (std::size_t index = most; index < peers.to.size(); ++index) {
    peers.others.messages += peers.to[index].messages;
    peers.others.bytes += peers.to[index].bytes;
  }
  peers.to.resize(most);
  std::ranges::sort(peers.to, {}, &PeerCount::rank);
}

void reset_peers(ThreadBlock& block) {
  PeerTable* const table = table_of(block);
  if (!table) return;
  const auto zero = [](PeerCounters& counters) {
    std::atomic_ref<std::uint64_t>(counters.messages).store(0, std::memory_order_relaxed);
    std::atomic_ref<std::uint64_t>(counters.bytes).store(0, std::memory_order_relaxed);
  };
  zero(table->others);
  for (std::size_t index = 0; index < table->slot_count(); ++index) zero(table->slots()[index]);
}

}  // namespace millrace::record
