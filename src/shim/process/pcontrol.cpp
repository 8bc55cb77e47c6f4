#include "shim/process/pcontrol.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "record/regions.h"
#include "shim/bind/host.h"
#include "shim/bind/mode.h"
#include "shim/process/region_name.h"
#include "shim/process/runtime.h"

namespace millrace::shim {
namespace {

// The standard's own: recording off, on, on and written out. Profilers heed them; the report is of the whole run.
constexpr int least_region = 3;

// MPICH's MPI_PCONTROL calls MPI_Pcontrol, and without the name: what Fortran says is noted once.
thread_local bool from_fortran __attribute__((tls_model("initial-exec"))) = false;

int nothing_to_call() { return 0; }

void note_level(int level) noexcept {
  if (level > -least_region && level < least_region) return;
  std::array<char, 32> text = {"MPI_Pcontrol("};
  char* const digits = text.data() + std::strlen(text.data());
  // Also of the least number, which has no opposite.
  const auto region = level < 0 ? -static_cast<std::int64_t>(level) : level;
  char* const end = std::to_chars(digits, text.data() + text.size() - 1, region).ptr;
  *end = ')';
  const std::string_view name(text.data(), static_cast<std::size_t>(end + 1 - text.data()));
  if (level > 0)
    record::change_region(name);
  else
    record::end_region(name);
}

// `most`: where the program has said how long the name is.
void note_name(int level, Word address, std::size_t most) noexcept {
  if (level != 1 && level != -1) return;
  std::array<char, record::longest_region_name> room;
  const std::string_view name = read_region_name(address, std::span(room).first(std::min(most, room.size())));
  if (name.empty())
    record::note_nameless_region();
  else if (level > 0)
    record::begin_region(name);
  else
    record::end_region(name);
}

void note(int level, Word name, std::size_t most) noexcept {
  if (!(current_mode() & recording)) return;
  switch (runtime().settings.regions) {
    case RegionMarks::level: return note_level(level);
    case RegionMarks::named: return note_name(level, name, most);
    case RegionMarks::off: break;
  }
}

// The next definition, found once. Relaxed: the address is the whole message.
void* next_of(std::atomic<void*>& known, const char* name) {
  void* next = known.load(std::memory_order_relaxed);
  if (next) return next;
  next = find_next_function(name);
  if (!next) return reinterpret_cast<void*>(&nothing_to_call);
  known.store(next, std::memory_order_relaxed);
  return next;
}

// One of Fortran's spellings. Hosts read the level alone; a profiler may read a name and, behind it, its length.
struct FortranName {
  const char* name;
  bool takes_names = true;  // that of mpi_f08 has an error where others have a name
  std::atomic<void*> next{nullptr};

  Word operator()(Word level, Word second, Word third) {
    if (current_mode() & checking) return 0;
    int value = 0;
    std::memcpy(&value, as_pointer(level), sizeof value);
    constexpr std::size_t longest = 1024;  // more is no length, but what happens to be there
    if (!from_fortran) note(value, takes_names ? second : 0, third > 0 && third <= longest ? third : longest);
    const bool before = from_fortran;
    from_fortran = true;
    void* const function = next_of(next, name);
    const Word result = reinterpret_cast<Word (*)(Word, Word, Word)>(function)(level, second, third);
    from_fortran = before;
    return result;
  }
};

constinit FortranName one_underscore{"mpi_pcontrol_"};
constinit FortranName none{"mpi_pcontrol"};
constinit FortranName two_underscores{"mpi_pcontrol__"};
constinit FortranName upper_case{"MPI_PCONTROL"};
constinit FortranName of_openmpi{"ompi_pcontrol_f", false};  // where mpi_f08 of Open MPI goes
constinit FortranName of_f08{"mpi_pcontrol_f08_", false};
constinit std::atomic<void*> next_in_c{nullptr};

}  // namespace
}  // namespace millrace::shim

using millrace::shim::Word;

void* millrace_before_pcontrol(Word level, Word name) {
  using namespace millrace::shim;
  if (current_mode() & checking) return reinterpret_cast<void*>(&nothing_to_call);
  if (!from_fortran) {
    constexpr std::size_t unknown = ~std::size_t{0};
    note(as_int(level), name, unknown);
  }
  return next_of(next_in_c, "MPI_Pcontrol");
}

// The preloads' version scripts say which of these a host has (generate/write_exports.py).
extern "C" {
[[gnu::visibility("default"), gnu::used]] Word shim_mpi_pcontrol_(Word level, Word name, Word length) {
  return millrace::shim::one_underscore(level, name, length);
}
[[gnu::visibility("default"), gnu::used]] Word shim_mpi_pcontrol(Word level, Word name, Word length) {
  return millrace::shim::none(level, name, length);
}
[[gnu::visibility("default"), gnu::used]] Word shim_mpi_pcontrol__(Word level, Word name, Word length) {
  return millrace::shim::two_underscores(level, name, length);
}
[[gnu::visibility("default"), gnu::used]] Word shim_MPI_PCONTROL(Word level, Word name, Word length) {
  return millrace::shim::upper_case(level, name, length);
}
[[gnu::visibility("default"), gnu::used]] Word shim_ompi_pcontrol_f(Word level, Word second, Word third) {
  return millrace::shim::of_openmpi(level, second, third);
}
[[gnu::visibility("default"), gnu::used]] Word shim_mpi_pcontrol_f08_(Word level, Word second, Word third) {
  return millrace::shim::of_f08(level, second, third);
}
}
asm(".symver shim_mpi_pcontrol_,mpi_pcontrol_@MILLRACE_1");
asm(".symver shim_mpi_pcontrol,mpi_pcontrol@MILLRACE_1");
asm(".symver shim_mpi_pcontrol__,mpi_pcontrol__@MILLRACE_1");
asm(".symver shim_MPI_PCONTROL,MPI_PCONTROL@MILLRACE_1");
asm(".symver shim_ompi_pcontrol_f,ompi_pcontrol_f@MILLRACE_1");
asm(".symver shim_mpi_pcontrol_f08_,mpi_pcontrol_f08_@MILLRACE_1");
