#include "record/record.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>

#include "base/hash.h"
#include "record/communicators.h"
#include "record/regions.h"
#include "record/thread_block.h"

namespace millrace::record {

constinit thread_local ThreadBlock* own_block = nullptr;

namespace {

std::atomic<ThreadBlock*> head{nullptr};     // release in publish(), acquire in first_block() and adopt()
std::atomic<std::uint64_t> lost{0};          // relaxed; added here, read by lost_calls()
std::atomic<std::uint64_t> thread_count{0};  // relaxed; added here, read by threads_seen()

pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t exit_key;
bool has_exit_key = false;  // written under `once`, read after it

// The counts stay; only the block becomes free, so that a program which starts threads all day long does not grow.
void release_block(void* memory) {
  own_block = nullptr;
  // Release; partner: the acquire in adopt().
  std::atomic_ref<std::uint32_t>(static_cast<ThreadBlock*>(memory)->in_use).store(0, std::memory_order_release);
}

// A child of fork() is another process with nothing recorded. The blocks are unlinked instead of zeroed, because
// writing would copy every page the parent has touched, only to run exec a moment later. A fork handler, because the
// alternative, comparing process ids, would put a system call in every add_call(); children of a bare clone() see the
// parent's counts, but no MPI library survives that either.
void start_clean_in_child() {
  head.store(nullptr, std::memory_order_relaxed);  // one thread is left: no partner
  lost.store(0, std::memory_order_relaxed);
  thread_count.store(0, std::memory_order_relaxed);
  own_block = nullptr;
}

void install_hooks() {
  has_exit_key = pthread_key_create(&exit_key, release_block) == 0;
  pthread_atfork(nullptr, nullptr, start_clean_in_child);
}

// A block whose thread has ended, or nothing.
ThreadBlock* adopt() {
  for (ThreadBlock* block = head.load(std::memory_order_acquire); block; block = block->next) {
    const std::atomic_ref<std::uint32_t> in_use(block->in_use);
    std::uint32_t expected = 0;
    // Acquire; partner: the release in release_block().
    if (in_use.compare_exchange_strong(expected, 1, std::memory_order_acquire, std::memory_order_relaxed)) return block;
  }
  return nullptr;
}

void publish(ThreadBlock* block) {
  block->in_use = 1;
  ThreadBlock* first = head.load(std::memory_order_relaxed);
  do {
    block->next = first;
    // Release; partners: the acquires in first_block() and adopt(), which then see block->next.
  } while (!head.compare_exchange_weak(first, block, std::memory_order_release, std::memory_order_relaxed));
}

ThreadBlock* allocate() {
  void* memory = mmap(nullptr, sizeof(ThreadBlock), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  ThreadBlock* block = static_cast<ThreadBlock*>(memory);
  publish(block);
  return block;
}

// The slot of (entry, algorithm). Nothing when its neighbourhood is full: the call still counts as taken by its entry,
// and the report shows the difference as "other".
PairCounters* find_pair(ThreadBlock& block, std::uint16_t entry, std::uint16_t algorithm) {
  const std::uint64_t key = pair_key(entry, algorithm);
  std::size_t index = spread(key) >> (64 - pair_slots_log2);
  for (std::size_t probe = 0; probe < pair_probes; ++probe, index = (index + 1) % pair_slots) {
    PairCounters& pair = block.pairs[index];
    const std::uint64_t found = read(pair.key);
    if (found == key) return &pair;
    if (found == 0) {
      // Relaxed; partner: read(pair.key) in snapshot.cpp. A reader that sees the key early sees counts of zero.
      std::atomic_ref<std::uint64_t>(pair.key).store(key, std::memory_order_relaxed);
      return &pair;
    }
  }
  return nullptr;
}

void zero(std::uint64_t& counter) {
  const std::atomic_ref<std::uint64_t> word(counter);
  // Reading first keeps untouched pages untouched. Relaxed; partner: read() in snapshot.cpp.
  if (word.load(std::memory_order_relaxed) != 0) word.store(0, std::memory_order_relaxed);
}

}  // namespace

// Out of line: once per thread.
ThreadBlock* take_block() {
  pthread_once(&once, install_hooks);
  ThreadBlock* block = adopt();
  if (!block) block = allocate();
  if (!block) return nullptr;
  if (has_exit_key) pthread_setspecific(exit_key, block);
  thread_count.fetch_add(1, std::memory_order_relaxed);
  own_block = block;
  return block;
}

void add_call(std::uint16_t entry, std::uint64_t bytes, std::uint64_t ticks, std::uint16_t algorithm, Reason reason,
              std::uint64_t end_ticks) {
  ThreadBlock* const block = this_thread_block();
  const auto outcome = static_cast<std::size_t>(reason);
  if (!block || entry >= max_entries || outcome >= reason_count) [[unlikely]] {
    lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (end_ticks >= block->next_slice_ticks && end_ticks != 0) [[unlikely]]  // written by this thread alone
    cross_slices(*block, end_ticks, ticks);
  std::atomic_ref<std::uint64_t>(block->last_end_ticks).store(end_ticks, std::memory_order_relaxed);  // as add() does
  add(block->entries[entry].outcome[outcome], 1);
  SizeCounters& size = block->sizes[entry][size_class(bytes)];
  add(size.calls, 1);
  add(size.bytes, bytes);
  add(size.ticks, ticks);
  add(block->sums.calls, 1);
  add(block->sums.bytes, bytes);
  add(block->sums.ticks, ticks);
  if (algorithm == no_algorithm) return;
  add(size.taken, 1);
  if (PairCounters* pair = find_pair(*block, entry, algorithm)) {
    add(pair->calls, 1);
    add(pair->bytes, bytes);
    add(pair->ticks, ticks);
  }
}

void reset() {
  for (ThreadBlock* block = first_block(); block; block = block->next) {
    for (EntryCounters& counters : block->entries)
      for (std::uint64_t& count : counters.outcome) zero(count);
    for (auto& sizes : block->sizes)
      for (SizeCounters& size : sizes)
        for (std::uint64_t* const counter : {&size.calls, &size.taken, &size.bytes, &size.ticks}) zero(*counter);
    for (PairCounters& pair : block->pairs) {
      zero(pair.key);
      zero(pair.calls);
      zero(pair.bytes);
      zero(pair.ticks);
    }
    zero(block->sums.calls);
    zero(block->sums.bytes);
    zero(block->sums.ticks);
    reset_peers(*block);
  }
  reset_regions();
  reset_communicators();
  reset_phases();
  lost.store(0, std::memory_order_relaxed);
}

ThreadBlock* first_block() { return head.load(std::memory_order_acquire); }  // partner: the release in publish()
std::uint64_t lost_calls() { return lost.load(std::memory_order_relaxed); }
std::uint64_t threads_seen() { return thread_count.load(std::memory_order_relaxed); }

}  // namespace millrace::record
