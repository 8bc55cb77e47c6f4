#include "kernel/copy/tuning.h"

#include <pthread.h>

#include <atomic>

#include "kernel/cpu.h"
#include "kernel/isa.h"

namespace millrace::kernel {
namespace {

constexpr std::size_t no_limit = ~std::size_t{0};

// Measured on a Xeon "Emerald Rapids". Masked stores: one in a cycle, where stores of blocks are two in a cycle.
constexpr CopyTuning intel{.permute_from_bytes = 384,
                           .fixed_permute_from_bytes = 192,
                           .permute_pack_to_block_bytes = 16,
                           .masked_from_moves_a_vector = 3,
                           .short_masked_from_moves = 5,
                           .masked_to_touched_bytes = no_limit,
                           .twice_from_blocks = no_limit,
                           .gather_lists = true,
                           .scatter_lists = false,
                           .fetch_unpacked_from_blocks = 0,
                           .listed_to_bytes = std::size_t{4} << 20,
                           .stream_from_bytes = no_limit};
// Measured on Zen 5: gathers and scatters slower than blocks at every size; masked stores of 64 bytes fine in memory
// too since their lines are asked for before (without that, half as fast as blocks); lists unpacked a sixth faster
// without that while a third-level cache holds them, a sixth slower when it does not; lists of 16 MiB 1.1 to 1.4 times
// as fast as the fastest host.
constexpr CopyTuning amd{.permute_from_bytes = 384,
                         .fixed_permute_from_bytes = 192,
                         .permute_pack_to_block_bytes = 16,
                         .masked_from_moves_a_vector = 3,
                         .short_masked_from_moves = 5,
                         .masked_to_touched_bytes = no_limit,
                         .twice_from_blocks = no_limit,
                         .gather_lists = false,
                         .scatter_lists = false,
                         .fetch_unpacked_from_blocks = std::size_t{1} << 19,
                         .listed_to_bytes = no_limit,
                         .stream_from_bytes = no_limit};
constexpr CopyTuning zen_5 = [] {
  CopyTuning tuning = amd;
  tuning.twice_from_blocks = 96;
  return tuning;
}();
// AMD's processors without AVX-512 (before Zen 4) take a dozen cycles and more for a masked store of AVX2, according to
// the published tables of instructions; none was at hand.
constexpr CopyTuning amd_without_avx512 = [] {
  CopyTuning tuning = amd;
  tuning.short_masked_from_moves = 0;
  return tuning;
}();
// Nothing was measured on Arm: gathers, which SVE processors do element by element, only where nothing else is wide.
constexpr CopyTuning arm{.permute_from_bytes = 128,
                         .fixed_permute_from_bytes = 128,
                         .permute_pack_to_block_bytes = 16,
                         .masked_from_moves_a_vector = 3,
                         .short_masked_from_moves = 0,
                         .masked_to_touched_bytes = no_limit,
                         .twice_from_blocks = no_limit,
                         .gather_lists = false,
                         .scatter_lists = false,
                         .fetch_unpacked_from_blocks = 0,
                         .listed_to_bytes = std::size_t{4} << 20,
                         .stream_from_bytes = no_limit};

pthread_once_t default_once = PTHREAD_ONCE_INIT;
const CopyTuning* chosen_default;
std::atomic<const CopyTuning*> in_use{nullptr};  // release in use_copy_tuning(), acquire in copy_tuning()

void choose_default() {
#if defined(__x86_64__)
  chosen_default = &intel;
  if (is_amd()) {
    const bool avx512 = read_cpu().leaf7_ebx & 1u << 16;
    chosen_default = is_zen_5() ? &zen_5 : avx512 ? &amd : &amd_without_avx512;
  }
#else
  chosen_default = &arm;
#endif
  (void)intel;
  (void)amd_without_avx512;
  (void)zen_5;
  (void)arm;
}

}  // namespace

const CopyTuning& default_copy_tuning() {
  pthread_once(&default_once, choose_default);
  return *chosen_default;
}

const CopyTuning& copy_tuning() {
  if (const CopyTuning* tuning = in_use.load(std::memory_order_acquire)) return *tuning;
  const CopyTuning& first = default_copy_tuning();
  // Only the first to get here publishes: a use_copy_tuning() in between must not be undone.
  const CopyTuning* expected = nullptr;
  return in_use.compare_exchange_strong(expected, &first, std::memory_order_acq_rel) ? first : *expected;
}

void use_copy_tuning(const CopyTuning& tuning) {
  in_use.store(&tuning, std::memory_order_release);
  choices_epoch.fetch_add(1, std::memory_order_release);
}

}  // namespace millrace::kernel
