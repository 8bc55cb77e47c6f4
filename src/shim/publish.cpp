#include "shim/publish.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "abi.h"
#include "base/log.h"
#include "kernel/kernel.h"
#include "record/rank_record.h"
#include "record/report.h"
#include "shim/forward.h"
#include "shim/layout_call.h"
#include "shim/library_version.h"
#include "shim/op_substitution.h"
#include "shim/reduce_local.h"
#include "shim/runtime.h"
#include "shim/shared_collectives.h"

namespace millrace::shim {
namespace {

// The name of the file that we were loaded from, without directory, "lib" and suffix: "millrace-openmpi-5.0".
std::string variant_name() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void*>(&variant_name), &self) || !self.dli_fname) return {};
  std::string name = self.dli_fname;
  name.erase(0, name.rfind('/') + 1);
  if (name.starts_with("libmillrace-")) name.erase(0, std::strlen("libmillrace-"));
  if (name.ends_with(".so")) name.erase(name.size() - 3);
  return name;
}

record::RankIdentity identity(int rank, int ranks) {
  record::RankIdentity who;
  who.rank = rank;
  who.ranks = ranks;
  char name[HOST_NAME_MAX + 1] = "";
  if (gethostname(name, sizeof name - 1) == 0) who.host = name;
  who.pid = getpid();
  who.isa = kernel::active_isa().name;
  who.host_mpi = library_version();
  who.variant = variant_name();
  for (const Setting& setting : settings()) who.settings.emplace_back(setting.variable, setting_text(setting, environ));
  who.wall_ns = monotonic_ns() - runtime().initialised_ns;
  return who;
}

const char* algorithm_name(std::uint16_t algorithm) {
  if (algorithm >= first_layout_algorithm) return layout_algorithm_name(algorithm);
  if (algorithm >= first_shared_algorithm) return shared_algorithm_name(algorithm);
  if (algorithm >= first_substitution_algorithm) return substitution_name(algorithm);
  return algorithm >= first_threaded_algorithm ? threaded_name(algorithm) : kernel::kernel_name(algorithm);
}

std::vector<std::byte> own_record(int rank, int ranks) {
  const record::Names names{entry_names(), algorithm_name};
  return record::pack_rank_record(identity(rank, ranks), names, runtime().tick_scale.ns_per_tick());
}

// "a.json" -> "a.<word>.json": processes that do not share a world must not overwrite one another's file.
std::string with_suffix(const std::string& destination, const std::string& word) {
  if (!destination.ends_with(".json")) return destination;
  return fmt::format("{}.{}.json", destination.substr(0, destination.size() - 5), word);
}

// Processes started by MPI_Comm_spawn have a world of their own beside that of their parents.
bool was_spawned() {
  Word parent = 0;
  if (host<Symbol::MPI_Comm_get_parent>(as_word(&parent)) != 0) return false;
  return abi::handle(parent) != abi::comm_null();
}

void publish(const std::vector<std::vector<std::byte>>& records, bool alone) {
  std::string destination = runtime().settings.report;
  if (alone) destination = with_suffix(destination, fmt::format("pid{}", getpid()));
  record::publish(records, destination);
}

// The records in one buffer on rank 0, each in a slot of the same size that starts with the record's length. Empty on
// the other ranks, and where the host failed or the slots would not fit the host's int counts.
std::vector<std::vector<std::byte>> gather_records(const std::vector<std::byte>& own, int rank, int ranks) {
  std::vector<std::vector<std::byte>> records;
  const std::int32_t own_length = static_cast<std::int32_t>(own.size());
  std::int32_t longest = 0;
  if (host<Symbol::MPI_Allreduce>(as_word(&own_length), as_word(&longest), 1, abi::int_type(), abi::max_op(),
                                  abi::comm_world()) != 0)
    return records;
  const std::size_t slot_bytes = sizeof own_length + static_cast<std::size_t>(longest);
  if (slot_bytes * static_cast<std::size_t>(ranks) > INT_MAX) return records;

  std::vector<std::byte> slot(slot_bytes);
  std::memcpy(slot.data(), &own_length, sizeof own_length);
  if (!own.empty()) std::memcpy(slot.data() + sizeof own_length, own.data(), own.size());
  std::vector<std::byte> slots(rank == 0 ? slot_bytes * static_cast<std::size_t>(ranks) : 1);
  if (host<Symbol::MPI_Gather>(as_word(slot.data()), slot_bytes, abi::byte_type(), as_word(slots.data()), slot_bytes,
                               abi::byte_type(), 0, abi::comm_world()) != 0)
    return records;
  if (rank != 0) return records;
  for (std::size_t offset = 0; offset < slots.size(); offset += slot_bytes) {
    std::int32_t length = 0;
    std::memcpy(&length, &slots[offset], sizeof length);
    const auto begin = slots.begin() + static_cast<std::ptrdiff_t>(offset + sizeof length);
    records.emplace_back(begin, begin + length);
  }
  return records;
}

}  // namespace

void publish_world() {
  int rank = 0;
  int ranks = 1;
  host<Symbol::MPI_Comm_rank>(abi::comm_world(), as_word(&rank));
  host<Symbol::MPI_Comm_size>(abi::comm_world(), as_word(&ranks));
  const auto records = gather_records(own_record(rank, ranks), rank, ranks);
  if (rank != 0) return;
  if (records.empty()) {
    log(LogLevel::error, "no report: the host MPI could not gather the records of the ranks");
    return;
  }
  publish(records, was_spawned());
}

void publish_process() { publish({own_record(0, 1)}, true); }

}  // namespace millrace::shim
