#include "shim/reduce/reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "entries.h"
#include "plan/reduce_local.h"
#include "shim/call/disabled_entries.h"
#include "shim/host/host_probe.h"
#include "shim/host/predefined.h"

namespace millrace::shim {

constinit Reduction reduction_table[reduction_slots] = {};

namespace {

constinit std::array<Word, kernel::op_count> covered_ops{};  // those in the table, by kernel::Op; 0 is no op's handle

void insert(const Reduction& reduction) {
  covered_ops[reduction.algorithm / kernel::type_count] = reduction.op;
  std::size_t slot = reduction_slot(reduction.datatype, reduction.op);
  while (reduction_table[slot].element_bytes != 0) slot = (slot + 1) % reduction_slots;
  reduction_table[slot] = reduction;
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

}  // namespace

std::vector<std::string> prepare_reductions(const SettingValues& settings, bool has_world) {
  std::vector<std::string> complaints = check_names(settings);
  const kernel::IsaChoice choice = kernel::use_isa(settings.isa);
  if (*choice.complaint) complaints.emplace_back(choice.complaint);

  std::vector<KnownType> types = known_c_types();
  const std::size_t c_types = types.size();
  // Without a world nobody can make the host return from an error: then only what every MPI has to do is taken.
  const bool may_ask = has_world && host_returns_errors();
  std::optional<HostProbe> probe;
  if (may_ask) {
    probe.emplace();
    const std::vector<KnownType> fortran_types = known_fortran_types(*probe);
    types.insert(types.end(), fortran_types.begin(), fortran_types.end());
  }
  const std::vector<KnownOp> ops = known_ops();
  const bool call_disabled = is_disabled(settings, "Reduce_local");
  for (std::size_t i = 0; i < types.size(); ++i) {
    const KnownType& type = types[i];
    // Every MPI that has such a type has all its ops: one question is enough, and hosts take a microsecond for each.
    const bool has_all_ops = i < c_types && (type.group == OpGroup::c_integer || type.group == OpGroup::floating);
    bool is_known = false;
    for (const KnownOp& op : ops) {
      const kernel::Reduce2 reduce = kernel::find_reduce2(op.op, type.type);
      if (!reduce || !allows(type.group, op.op)) continue;
      if (!probe && !has_all_ops) continue;
      // What is refused for one op has no reductions on this host, and hosts take 20 us to say no.
      if (probe && !(is_known && has_all_ops) && !probe->reduces(type.handle, op.handle)) break;
      is_known = true;
      record::Reason refusal = record::Reason::none;
      if (plan::host_reduces_faster(op.op, type.type)) refusal = record::Reason::host_is_faster;
      if (call_disabled || is_disabled(settings, kernel::kernel_name(op.op, type.type)))
        refusal = record::Reason::disabled;
      insert({type.handle, op.handle, refusal == record::Reason::none ? reduce : nullptr, refusal,
              static_cast<std::uint32_t>(kernel::type_bytes(type.type)),
              static_cast<std::uint16_t>(kernel::kernel_index(op.op, type.type))});
    }
  }
  return complaints;
}

bool covers_op(Word op) { return std::ranges::find(covered_ops, op) != std::end(covered_ops); }

}  // namespace millrace::shim
