#include "kernel/isa.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "kernel/cpu.h"

namespace millrace::kernel {
namespace {

// No function-local statics and no constructors: both would tie us to libstdc++ and to the order of initialisation.
pthread_once_t table_once = PTHREAD_ONCE_INIT;
IsaTable table;
std::atomic<const IsaUnit*> active{nullptr};  // release in publish(), acquire in active_isa()

const IsaTable& units() {
  pthread_once(&table_once, [] { table = judge_cpu(read_cpu()); });
  return table;
}

const IsaUnit* best(unsigned widest_bits) {
  const IsaUnit* choice = &units().units[0];
  for (const IsaUnit& unit : isa_units())
    if (unit.usable && unit.vector_bits <= widest_bits) choice = &unit;
  return choice;
}

unsigned width_cap(std::string_view setting) {
  if (setting == "128") return 128;
  if (setting == "256") return 256;
  if (setting == "512") return 512;
  return 0;
}

}  // namespace

constinit std::atomic<unsigned> choices_epoch{1};

std::span<const IsaUnit> isa_units() { return {units().units, units().count}; }

IsaChoice choose_isa(std::string_view setting) {
  IsaChoice choice{best(~0u), ""};
  if (setting.empty() || setting == "auto") return choice;
  if (const unsigned cap = width_cap(setting)) {
    choice.unit = best(cap);
    return choice;
  }
  const int length = setting.size() < 40 ? static_cast<int>(setting.size()) : 40;
  for (const IsaUnit& unit : isa_units()) {
    if (setting != unit.name) continue;
    if (unit.usable) {
      choice.unit = &unit;
    } else {
      std::snprintf(choice.complaint, sizeof choice.complaint, "MILLRACE_ISA=%s cannot be used here (%s): using %s",
                    unit.name, unit.why, choice.unit->name);
    }
    return choice;
  }
  std::snprintf(choice.complaint, sizeof choice.complaint, "MILLRACE_ISA=%.*s is not a unit of this build: using %s",
                length, setting.data(), choice.unit->name);
  return choice;
}

IsaChoice use_isa(std::string_view setting) {
  const IsaChoice choice = choose_isa(setting);
  active.store(choice.unit, std::memory_order_release);
  choices_epoch.fetch_add(1, std::memory_order_release);
  return choice;
}

const IsaUnit& active_isa() {
  if (const IsaUnit* unit = active.load(std::memory_order_acquire)) return *unit;
  const char* setting = std::getenv("MILLRACE_ISA");
  const IsaUnit* chosen = choose_isa(setting ? setting : "auto").unit;
  // Only the first to get here publishes: a use_isa() in between must not be undone.
  const IsaUnit* expected = nullptr;
  if (active.compare_exchange_strong(expected, chosen, std::memory_order_acq_rel)) return *chosen;
  return *expected;
}

}  // namespace millrace::kernel
