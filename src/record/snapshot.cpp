#include "record/snapshot.h"

#include <algorithm>
#include <map>

#include "record/thread_block.h"

namespace millrace::record {
namespace {

void merge_entries(ThreadBlock& block, std::vector<EntrySnapshot>& all) {
  for (std::size_t index = 0; index < max_entries; ++index)
    for (std::size_t reason = 0; reason < reason_count; ++reason)
      all[index].outcome[reason] += read(block.entries[index].outcome[reason]);
}

// Of an entry that was called: the pages of others stay untouched.
void add_sizes(EntrySnapshot& entry) {
  for (std::size_t index = 0; index < size_class_count; ++index) {
    SizeSnapshot sum{.size_class = index};
    for (ThreadBlock* block = first_block(); block; block = block->next) {
      SizeCounters& from = block->sizes[entry.entry][index];
      sum.calls += read(from.calls);
      sum.taken += read(from.taken);
      sum.bytes += read(from.bytes);
      sum.ticks += read(from.ticks);
    }
    if (sum.calls == 0) continue;
    entry.bytes += sum.bytes;
    entry.ticks += sum.ticks;
    entry.sizes.push_back(sum);
  }
}

void merge_pairs(ThreadBlock& block, std::map<std::uint64_t, PairSnapshot>& all) {
  for (PairCounters& from : block.pairs) {
    const std::uint64_t key = read(from.key);
    const std::uint64_t calls = key ? read(from.calls) : 0;
    if (calls == 0) continue;
    PairSnapshot& to = all[key];
    to.calls += calls;
    to.bytes += read(from.bytes);
    to.ticks += read(from.ticks);
  }
}

bool was_called(const EntrySnapshot& entry) {
  return std::any_of(entry.outcome.begin(), entry.outcome.end(), [](std::uint64_t count) { return count != 0; });
}

}  // namespace

Snapshot snapshot() {
  Snapshot result;
  result.entries.resize(max_entries);
  for (std::size_t index = 0; index < max_entries; ++index)
    result.entries[index].entry = static_cast<std::uint16_t>(index);
  std::map<std::uint64_t, PairSnapshot> pairs;
  for (ThreadBlock* block = first_block(); block; block = block->next) {
    merge_entries(*block, result.entries);
    merge_pairs(*block, pairs);
  }
  std::erase_if(result.entries, [](const EntrySnapshot& entry) { return !was_called(entry); });
  for (EntrySnapshot& entry : result.entries) add_sizes(entry);
  for (auto& [key, pair] : pairs) {
    pair.entry = pair_entry(key);
    pair.algorithm = pair_algorithm(key);
    result.pairs.push_back(pair);
  }
  result.lost_calls = lost_calls();
  result.threads = threads_seen();
  return result;
}

}  // namespace millrace::record
