// From a pair of MPI handles (datatype, op) to the kernel that does it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/settings.h"
#include "kernel/kernel.h"
#include "record/record.h"
#include "shim/bind/word.h"

namespace millrace::shim {

struct Reduction {
  std::atomic<Word> datatype{0};  // 0: an empty slot; written last, release: partner find_reduction()
  Word op = 0;
  kernel::Reduce2 reduce = nullptr;               // null: known, but the host's
  record::Reason refusal = record::Reason::none;  // why `reduce` is null
  std::uint32_t element_bytes = 0;
  std::uint16_t algorithm = 0;  // kernel::kernel_index
};

// Chooses the instruction set and fills the table from the predefined handles of this ABI; needs a host that is
// initialised. Returns complaints about MILLRACE_ISA and MILLRACE_DISABLE, one line each. Called by one thread,
// before ModeBit::accelerating is set for the first time. `has_world`: MPI_COMM_WORLD exists (not so with sessions
// only).
std::vector<std::string> prepare_reductions(const SettingValues& settings, bool has_world);

// Open addressing. Holds the pairs of each datatype that some call has named: hosts take 1 us to say that they have a
// pair and 20 us to say that they have not, and programs use few.
inline constexpr std::size_t reduction_slots = 4096;
extern Reduction reduction_table[reduction_slots];

inline std::size_t reduction_slot(Word datatype, Word op) {
  const std::uint64_t mixed = spread(datatype) ^ (op * 0xc2b2ae3d27d4eb4fu);
  return spread(mixed) >> 52;
}
static_assert(reduction_slots == std::size_t{1} << 12, "the shift in reduction_slot keeps the upper 12 bits");

// Of a call that all ranks make, the answer must be the same on all: it is waited for. One of this rank alone may be
// made by a function of an op, inside of the host, and passes on where another thread asks for long.
enum class Asking : std::uint8_t { surely, in_bounded_time };

// For a pair that is not in the table: if its datatype has not been asked for yet, that is done. Null: no kernel.
const Reduction* ask_for_reduction(Word datatype, Word op, Asking how) noexcept;

// The reduction of a pair of handles, or nullptr if no kernel covers it. A few nanoseconds, but for the first with its
// datatype; thread-safe. Within a call of MPI.
inline const Reduction* find_reduction(Word datatype, Word op, Asking how = Asking::surely) {
  for (std::size_t slot = reduction_slot(datatype, op);; slot = (slot + 1) % reduction_slots) {
    const Reduction& candidate = reduction_table[slot];
    const Word found = candidate.datatype.load(std::memory_order_acquire);  // partner: insert()
    if (found == 0) return ask_for_reduction(datatype, op, how);
    if (found == datatype && candidate.op == op) return &candidate;
  }
}

// Whether any kernel exists for this op: says which of the two handles was the one that is not covered.
bool covers_op(Word op);

}  // namespace millrace::shim
