#include "shim/reduce/reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>

#include "entries.h"
#include "plan/reduce_local.h"
#include "shim/call/disabled_entries.h"
#include "shim/host/predefined.h"
#include "shim/host/quiet_comm.h"

namespace millrace::shim {

constinit Reduction reduction_table[reduction_slots] = {};

namespace {

constinit std::array<Word, kernel::op_count> covered_ops{};  // by kernel::Op; 0 is no op's handle

// A datatype that the host may be asked for.
struct Askable {
  Word handle = 0;  // 0: an empty slot
  const KnownType* of_c = nullptr;
  std::atomic<bool> is_asked{false};
};
constexpr std::size_t askable_slots = 256;  // the upper 8 bits of a hash

// Written before any pair is looked for, but for `is_asked`.
constinit Askable askables[askable_slots] = {};
const SettingValues* settings_in_force = nullptr;
bool may_ask = false;

// One thread asks at a time: the questions are collective calls of one rank.
std::timed_mutex asking;
std::mutex inserting;  // held for no call of the host's

// A function of an op may make this call, inside of a host that holds a lock of its own, for which the thread that asks
// may be waiting. So it waits so long, which no question takes, and then has the host do it.
constexpr std::chrono::milliseconds longest_wait{100};

Askable& askable(Word handle) {
  std::size_t slot = spread(handle) >> 56;
  while (askables[slot].handle != 0 && askables[slot].handle != handle) slot = (slot + 1) % askable_slots;
  return askables[slot];
}

// With the lock `inserting`.
void insert(const KnownType& type, const KnownOp& op) {
  std::size_t slot = reduction_slot(type.handle, op.handle);
  while (reduction_table[slot].datatype.load(std::memory_order_relaxed) != 0) slot = (slot + 1) % reduction_slots;
  Reduction& pair = reduction_table[slot];
  const SettingValues& settings = *settings_in_force;
  pair.op = op.handle;
  if (plan::host_reduces_faster(op.op, type.type)) pair.refusal = record::Reason::host_is_faster;
  if (is_disabled(settings, "Reduce_local") || is_disabled(settings, kernel::kernel_name(op.op, type.type)))
    pair.refusal = record::Reason::disabled;
  if (pair.refusal == record::Reason::none) pair.reduce = kernel::find_reduce2(op.op, type.type);
  pair.element_bytes = static_cast<std::uint32_t>(kernel::type_bytes(type.type));
  pair.algorithm = static_cast<std::uint16_t>(kernel::kernel_index(op.op, type.type));
  pair.datatype.store(type.handle, std::memory_order_release);  // partner: find_reduction()
}

bool is_entry(std::string_view name) {
  const std::span<const char* const> names = entry_names();
  return std::any_of(names.begin(), names.end(), [name](const char* entry) { return name == entry; });
}

bool is_kernel(std::string_view name) {
  return kernel::kernel_index_by_name(name.data(), name.size()) != kernel::no_kernel;
}

std::vector<std::string> check_names(const SettingValues& settings) {
  std::vector<std::string> complaints;
  for (const std::string& name : settings.disabled) {
    const std::string entry = name.starts_with("MPI_") ? name : "MPI_" + name;
    if (!is_entry(entry) && !is_kernel(name))
      complaints.push_back(fmt::format("MILLRACE_DISABLE: '{}' is neither an MPI call nor a kernel", name));
  }
  return complaints;
}

// Every MPI has these, with all their ops.
bool needs_no_question(const Askable& asked) {
  return asked.of_c && (asked.of_c->group == OpGroup::c_integer || asked.of_c->group == OpGroup::floating);
}

std::vector<KnownOp> ops_with_kernel(const KnownType& type) {
  std::vector<KnownOp> ops;
  std::ranges::copy_if(known_ops(), std::back_inserter(ops), [&](const KnownOp& op) {
    return kernel::find_reduce2(op.op, type.type) && allows(type.group, op.op);
  });
  return ops;
}

// With the lock `asking`.
void ask_host(const Askable& asked) {
  if (!may_ask || quiet_comm() == 0) return;  // without a world nobody can make the host return from an error
  const std::optional<KnownType> type = asked.of_c ? *asked.of_c : ask_for_type(asked.handle);
  if (!type) return;
  std::vector<KnownOp> ops = ops_with_kernel(*type);
  // What is refused for one op has no more reductions on this host.
  ops.erase(std::ranges::find_if_not(ops, [&](const KnownOp& op) { return host_reduces(asked.handle, op.handle); }),
            ops.end());
  const std::lock_guard lock(inserting);
  for (const KnownOp& op : ops) insert(*type, op);
}

}  // namespace

std::vector<std::string> prepare_reductions(const SettingValues& settings, bool has_world) {
  std::vector<std::string> complaints = check_names(settings);
  const kernel::IsaChoice choice = kernel::use_isa(settings.isa);
  if (*choice.complaint) complaints.emplace_back(choice.complaint);

  settings_in_force = &settings;
  may_ask = has_world && host_returns_errors();
  for (const KnownOp& op : known_ops()) covered_ops[static_cast<std::size_t>(op.op)] = op.handle;
  // Never destroyed: a program may call MPI while it ends.
  static const auto& c_types = *new std::vector<KnownType>(known_c_types());
  for (const KnownType& type : c_types) {
    Askable& slot = askable(type.handle);
    slot.handle = type.handle;
    slot.of_c = &type;
  }
  if (may_ask)
    for (const Word type : askable_types()) askable(type).handle = type;
  return complaints;
}

const Reduction* ask_for_reduction(Word datatype, Word op, Asking how) noexcept try {
  Askable& asked = askable(datatype);
  if (asked.handle == 0 || asked.is_asked.load(std::memory_order_acquire)) return nullptr;
  if (needs_no_question(asked)) {
    const std::lock_guard lock(inserting);
    if (!asked.is_asked.load(std::memory_order_relaxed))
      for (const KnownOp& known : ops_with_kernel(*asked.of_c)) insert(*asked.of_c, known);
    asked.is_asked.store(true, std::memory_order_release);
  } else {
    std::unique_lock lock(asking, std::defer_lock);
    if (how == Asking::surely)
      lock.lock();
    else if (!lock.try_lock_for(longest_wait))
      return nullptr;
    if (!asked.is_asked.load(std::memory_order_relaxed)) ask_host(asked);
    asked.is_asked.store(true, std::memory_order_release);
  }
  return find_reduction(datatype, op, how);
} catch (...) {  // no memory
  return nullptr;
}

bool covers_op(Word op) { return std::ranges::find(covered_ops, op) != std::end(covered_ops); }

}  // namespace millrace::shim
