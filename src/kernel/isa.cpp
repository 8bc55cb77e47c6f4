#include "kernel/isa.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "kernel/cpu.h"
#include "kernel/narrower.h"

namespace millrace::kernel {
namespace {

// No function-local statics and no constructors: both would tie us to libstdc++ and to the order of initialisation.
pthread_once_t table_once = PTHREAD_ONCE_INIT;
IsaTable table;
ActiveKernels named[max_isa_units];                 // the unit in the same place of the table, alone
ActiveKernels automatic;                            // what is fastest here
std::atomic<const ActiveKernels*> active{nullptr};  // release in use_isa(), acquire in active_kernels()

const IsaUnit* best_of(const IsaTable& of, unsigned widest_bits) {
  const IsaUnit* choice = &of.units[0];
  for (std::size_t k = 0; k < of.count; ++k)
    if (of.units[k].usable && of.units[k].vector_bits <= widest_bits) choice = &of.units[k];
  return choice;
}

void judge() {
  table = judge_cpu(read_cpu());
  for (std::size_t k = 0; k < table.count; ++k) named[k] = {&table.units[k], nullptr};
  automatic = {best_of(table, ~0u), nullptr};
  if (automatic.unit->vector_bits == 512 && is_zen_3_or_4()) automatic.narrower = best_of(table, 256)->set;
}

const IsaTable& units() {
  pthread_once(&table_once, judge);
  return table;
}

const IsaUnit* best(unsigned widest_bits) { return best_of(units(), widest_bits); }

const ActiveKernels* kernels_of(const IsaChoice& choice) {
  return choice.is_automatic ? &automatic : &named[choice.unit - table.units];
}

// Who has named a unit or a width gets its vectors, whatever the length. As it is now: of two threads that choose at a
// time the last to come here sees what both have left.
void limit_loops() {
  const bool is_automatic = active.load(std::memory_order_acquire) == &automatic;
  const std::size_t halves = is_automatic ? halves_from_bytes() : default_loop_limits.halves;
  __atomic_store_n(&loop_limits.halves, halves, __ATOMIC_RELAXED);
}

unsigned width_cap(std::string_view setting) {
  if (setting == "128") return 128;
  if (setting == "256") return 256;
  if (setting == "512") return 512;
  return 0;
}

}  // namespace

constinit std::atomic<unsigned> choices_epoch{1};
constinit LoopLimits loop_limits = default_loop_limits;

std::span<const IsaUnit> isa_units() { return {units().units, units().count}; }

IsaChoice choose_isa(std::string_view setting) {
  IsaChoice choice{best(~0u), automatic.narrower, true, ""};
  if (setting.empty() || setting == "auto") return choice;
  if (const unsigned cap = width_cap(setting)) return {best(cap), nullptr, false, ""};
  const int length = setting.size() < 40 ? static_cast<int>(setting.size()) : 40;
  for (const IsaUnit& unit : isa_units()) {
    if (setting != unit.name) continue;
    if (unit.usable) return {&unit, nullptr, false, ""};
    std::snprintf(choice.complaint, sizeof choice.complaint, "MILLRACE_ISA=%s cannot be used here (%s): using %s",
                  unit.name, unit.why, choice.unit->name);
    return choice;
  }
  std::snprintf(choice.complaint, sizeof choice.complaint, "MILLRACE_ISA=%.*s is not a unit of this build: using %s",
                length, setting.data(),  // NOLINT(bugprone-suspicious-stringview-data-usage): with its length
                choice.unit->name);
  return choice;
}

IsaChoice use_isa(std::string_view setting) {
  const IsaChoice choice = choose_isa(setting);
  active.store(kernels_of(choice), std::memory_order_release);
  limit_loops();
  choices_epoch.fetch_add(1, std::memory_order_release);
  return choice;
}

const ActiveKernels& active_kernels() {
  if (const ActiveKernels* kernels = active.load(std::memory_order_acquire)) return *kernels;
  const char* setting = std::getenv("MILLRACE_ISA");
  const ActiveKernels* chosen = kernels_of(choose_isa(setting ? setting : "auto"));
  // Only the first to get here publishes: a use_isa() in between must not be undone.
  const ActiveKernels* expected = nullptr;
  if (!active.compare_exchange_strong(expected, chosen, std::memory_order_acq_rel)) return *expected;
  limit_loops();
  return *chosen;
}

}  // namespace millrace::kernel
