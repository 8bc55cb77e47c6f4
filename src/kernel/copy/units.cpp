#include "kernel/copy/units.h"

#include <pthread.h>

#include <atomic>
#include <string_view>

#include "kernel/cpu.h"

namespace millrace::kernel {
namespace {

struct CopyUnits {
  const CopySet* usable[8];
  std::size_t count;
  const CopySet* of_isa[8];  // as isa_units()
  const IsaUnit* first_isa;
};

pthread_once_t units_once = PTHREAD_ONCE_INIT;
CopyUnits units;
// release in fill_units(), acquire in filled_units(): cheaper at every call than pthread_once.
std::atomic<bool> units_filled{false};

#if defined(__x86_64__)
bool has_vbmi() { return read_cpu().leaf7_ecx & 2u; }
#endif

void add(const IsaUnit& isa, std::size_t place, const CopySet& set) {
  units.of_isa[place] = &set;
  if (isa.usable) units.usable[units.count++] = &set;
}

void fill_units() {
  std::size_t place = 0;
  for (const IsaUnit& isa : isa_units()) {
    const std::string_view name = isa.name;
    units.of_isa[place] = &scalar_copy_unit;
    if (name == "scalar") add(isa, place, scalar_copy_unit);
#if defined(__x86_64__)
    if (name == "sse42") add(isa, place, sse42_copy_unit);
    if (name == "avx2") add(isa, place, avx2_copy_unit);
    if (name == "avx512") add(isa, place, avx512_copy_unit);
    if (name == "avx512" && isa.usable && has_vbmi()) add(isa, place, avx512_vbmi_copy_unit);
#elif defined(__aarch64__)
    if (name == "neon") add(isa, place, neon_copy_unit);
    if (name == "sve") add(isa, place, sve_copy_unit);
#endif
    ++place;
  }
  units.first_isa = isa_units().data();
  units_filled.store(true, std::memory_order_release);
}

const CopyUnits& filled_units() {
  if (!units_filled.load(std::memory_order_acquire)) pthread_once(&units_once, fill_units);
  return units;
}

}  // namespace

const CopySet& copies_of(const IsaUnit& unit) {
  const CopyUnits& filled = filled_units();
  return *filled.of_isa[&unit - filled.first_isa];
}

const CopySet& active_copies() { return copies_of(active_isa()); }

std::span<const CopySet* const> usable_copies() { return {filled_units().usable, filled_units().count}; }

}  // namespace millrace::kernel
