// Which kernels a mask of levels stands for. The flags are those of op_avx_support, so that a value for the one does
// for the other; each level includes the older ones.
#include <cstdlib>
#include <cstring>

#include "component.h"
#include "handlers.h"
#include "kernel/isa.h"

namespace millrace::openmpi {
namespace {

using kernel::IsaUnit;

struct UnitLevels {
  const char* unit;
  int brings;  // the levels that a machine with this unit has, beyond those of narrower units
  int all_of;  // allowed if the mask holds all of these
  int any_of;  // and any of these; the first unit needs no permission
};

#if defined(__x86_64__)
enum { sse = 0x001, sse2 = 0x002, sse3 = 0x004, sse41 = 0x008, avx = 0x010, avx2 = 0x020, f = 0x100, bw = 0x200 };
constexpr UnitLevels unit_levels[] = {
    {"scalar", sse | sse2, 0, 0},
    {"sse42", sse3 | sse41, 0, sse41 | avx | avx2 | f | bw},  // there is no unit for AVX without AVX2
    {"avx2", avx | avx2, 0, avx2 | f | bw},
    {"avx512", f | bw, f | bw, f},
};
#else
enum { neon = 0x1, sve = 0x2 };
constexpr UnitLevels unit_levels[] = {
    {"scalar", 0, 0, 0},
    {"neon", neon, 0, neon | sve},
    {"sve", sve, 0, sve},
};
#endif

const UnitLevels* levels_of(const IsaUnit& unit) {
  for (const UnitLevels& levels : unit_levels)
    if (std::strcmp(levels.unit, unit.name) == 0) return &levels;
  return nullptr;
}

bool allowed(const UnitLevels& levels, int mask) {
  return (mask & levels.all_of) == levels.all_of && (mask & levels.any_of) != 0;
}

}  // namespace
}  // namespace millrace::openmpi

#if defined(__x86_64__)
const millrace_level millrace_levels[] = {{0x001, "SSE"},     {0x002, "SSE2"},     {0x004, "SSE3"},
                                          {0x008, "SSE4.1"},  {0x010, "AVX"},      {0x020, "AVX2"},
                                          {0x100, "AVX512F"}, {0x200, "AVX512BW"}, {0, nullptr}};
#else
const millrace_level millrace_levels[] = {{0x1, "NEON"}, {0x2, "SVE"}, {0, nullptr}};
#endif

int millrace_levels_available() {
  int available = 0;
  for (const auto& unit : millrace::kernel::isa_units())
    if (const auto* levels = millrace::openmpi::levels_of(unit); levels && unit.usable) available |= levels->brings;
  return available;
}

const char* millrace_use_levels(int mask) {
  using namespace millrace;
  // MILLRACE_ISA holds for all of Millrace: whichever of the two asks for less wins. Units are in order of width.
  const char* setting = std::getenv("MILLRACE_ISA");
  const kernel::IsaUnit* widest = kernel::choose_isa(setting ? setting : "auto").unit;
  const kernel::IsaUnit* choice = kernel::isa_units().data();
  for (const kernel::IsaUnit& unit : kernel::isa_units()) {
    const openmpi::UnitLevels* levels = openmpi::levels_of(unit);
    if (levels && unit.usable && &unit <= widest && openmpi::allowed(*levels, mask)) choice = &unit;
  }
  kernel::use_isa(choice->name);
  openmpi::take_active_kernels();
  return choice->name;
}
