#include "shim/reduce/op_substitution.h"

#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "abi.h"
#include "base/log.h"
#include "plan/hosts/hosts.h"
#include "plan/op_substitution.h"
#include "shim/call/disabled_entries.h"
#include "shim/host/device_memory.h"
#include "shim/host/fortran.h"
#include "shim/host/library_version.h"
#include "shim/host/predefined.h"
#include "shim/reduce/reduce_local.h"

namespace millrace::shim {

constinit std::atomic<bool> op_substitution_active{false};

namespace {

using record::Reason;

// Written by prepare_op_substitution(), before op_substitution_active is set.
struct Substitute {
  Word predefined = 0;
  Word ours = 0;
  int ours_in_fortran = 0;
};
std::array<Substitute, kernel::op_count> substitutes;
const plan::HostFacts* facts = &plan::hosts::unknown;
bool always = false;

// The function behind an op of ours. The host calls it with its own handle of the datatype.
template <std::size_t op>
void reduce_with_kernel(const void* in, void* inout, const int* length, const void* datatype) {
  const Reduction* reduction = find_reduction(abi::handle_at(as_word(datatype)), substitutes[op].predefined);
  // Never null: a call is given this op only for a datatype that has a kernel.
  if (reduction && reduction->reduce && *length > 0) reduce(*reduction, in, inout, static_cast<std::size_t>(*length));
}

using UserFunction = void (*)(const void*, void*, const int*, const void*);

template <std::size_t... ops>
constexpr std::array<UserFunction, sizeof...(ops)> user_functions(std::index_sequence<ops...>) {
  return {&reduce_with_kernel<ops>...};
}

// Collectives in hardware or in a library of their own work with predefined ops only.
int find_offload(dl_phdr_info* object, std::size_t, void* found) {
  for (const char* name : {"mca_coll_hcoll", "mca_coll_ucc", "mca_coll_portals4", "libsharp", "libhcoll"})
    if (object->dlpi_name && std::strstr(object->dlpi_name, name)) *static_cast<bool*>(found) = true;
  return 0;
}

bool host_offloads() {
  bool found = false;
  dl_iterate_phdr(find_offload, &found);
  return found;
}

bool host_has_use() {
  for (int i = 0; i <= static_cast<int>(plan::OpClass::other); ++i)
    if (plan::substitution_threshold_bytes(*facts, static_cast<plan::OpClass>(i)) != plan::never) return true;
  return false;
}

bool create_ops() {
  constexpr auto functions = user_functions(std::make_index_sequence<kernel::op_count>{});
  for (const KnownOp& op : known_ops()) {
    const auto index = static_cast<std::size_t>(op.op);
    Substitute& substitute = substitutes[index];
    substitute.predefined = op.handle;
    // Every predefined op is commutative.
    if (host<Symbol::MPI_Op_create>(reinterpret_cast<Word>(functions[index]), 1, as_word(&substitute.ours)) != 0)
      return false;
    substitute.ours_in_fortran = fortran::of_op(substitute.ours);
  }
  return true;
}

// What one rank contributes. Arrays of counts are not summed, which would take the communicator's size: those calls
// (MPI_Reduce_scatter) count as 0 and keep the host's op unless MILLRACE_SUBSTITUTE=always.
std::uint64_t contribution_elements(const Posted& posted, const Arguments& arguments) {
  if (posted.shape == Shape::array || posted.shape == Shape::mine) return 0;
  const std::int64_t count = arguments.count(static_cast<std::size_t>(posted.count));
  return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

}  // namespace

void prepare_op_substitution(const SettingValues& settings) {
  if (op_substitution_active.load(std::memory_order_relaxed) || settings.substitute == When::never) return;
  if constexpr (!abi::algorithms_ignore_predefined_ops) return;
  facts = &host_facts();
  always = settings.substitute == When::always;
  if (!always && !host_has_use()) return;
  if (host_offloads()) {
    log(LogLevel::info, "this host may offload collectives: predefined ops are left as they are");
    return;
  }
  if (create_ops()) op_substitution_active.store(true, std::memory_order_relaxed);
}

void forget_op_substitution() {
  if (!op_substitution_active.exchange(false, std::memory_order_relaxed)) return;
  for (Substitute& substitute : substitutes)
    if (substitute.ours) host<Symbol::MPI_Op_free>(as_word(&substitute.ours));
}

Outcome substitute_op(Symbol symbol, std::span<Word> words) {
  if (is_disabled_entry(symbol)) return forwarded(Reason::disabled);
  const BytesRule& rule = bytes_rule(symbol_entry(symbol));
  const std::size_t op_position = static_cast<std::uint8_t>(rule.op);  // a reduction has one
  const Arguments arguments(symbol, words);
  const Word datatype = arguments.datatype(static_cast<std::size_t>(rule.first.datatype));
  const Word op = arguments.op(op_position);

  const Reduction* reduction = find_reduction(datatype, op);
  if (!reduction) return forwarded(covers_op(op) ? Reason::type_not_covered : Reason::op_not_covered);
  if (!reduction->reduce) return forwarded(reduction->refusal);
  const auto kernel_op = static_cast<kernel::Op>(reduction->algorithm / kernel::type_count);
  const auto kernel_type = static_cast<kernel::Type>(reduction->algorithm % kernel::type_count);
  const std::uint64_t bytes = contribution_elements(rule.first, arguments) * reduction->element_bytes;
  const std::uint64_t threshold = plan::substitution_threshold_bytes(*facts, plan::op_class(kernel_op, kernel_type));
  if (!always && (threshold == plan::never || bytes < threshold)) return forwarded(Reason::host_is_faster);

  // Send and receive buffer. Hosts with kernels of a device use them for predefined ops only.
  if (is_device_memory(words[0], words[1])) return forwarded(Reason::device_memory);

  const Substitute& substitute = substitutes[static_cast<std::size_t>(kernel_op)];
  words[op_position] = arguments.from_fortran() ? as_word(&substitute.ours_in_fortran) : substitute.ours;
  return taken(static_cast<std::uint16_t>(first_substitution_algorithm + reduction->algorithm));
}

const char* substitution_name(std::uint16_t algorithm) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    made.reserve(kernel::kernel_count);
    for (std::size_t i = 0; i < kernel::kernel_count; ++i) made.push_back(fmt::format("op_{}", kernel::kernel_name(i)));
    return made;
  }();
  const std::size_t index = algorithm - first_substitution_algorithm;
  return index < names.size() ? names[index].c_str() : nullptr;
}

}  // namespace millrace::shim
