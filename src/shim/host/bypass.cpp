#include "shim/host/bypass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/log.h"
#include "shim/bind/dynamic_symbols.h"
#include "shim/bind/host.h"
#include "shim/host/fortran.h"

namespace millrace::shim {

constinit std::atomic<bool> completions_bypassed{false};

namespace {

using Entries = std::bitset<entry_count>;

constexpr Entry request_entries[] = {Entry::Wait,
                                     Entry::Test,
                                     Entry::Waitall,
                                     Entry::Testall,
                                     Entry::Waitany,
                                     Entry::Testany,
                                     Entry::Waitsome,
                                     Entry::Testsome,
                                     Entry::Request_free,
                                     Entry::Request_get_status,
                                     Entry::Start,
                                     Entry::Request_get_status_all,
                                     Entry::Startall,
                                     Entry::Request_get_status_any,
                                     Entry::Request_get_status_some};

// Whose numbers on a communicator are what ranks agree by.
constexpr Entry numbered_entries[] = {
    Entry::Barrier,
    Entry::Bcast,
    Entry::Reduce,
    Entry::Allreduce,
    Entry::Reduce_scatter,
    Entry::Reduce_scatter_block,
    Entry::Scan,
    Entry::Exscan,
    Entry::Gather,
    Entry::Gatherv,
    Entry::Scatter,
    Entry::Scatterv,
    Entry::Allgather,
    Entry::Allgatherv,
    Entry::Alltoall,
    Entry::Alltoallv,
    Entry::Alltoallw,
    Entry::Neighbor_allgather,
    Entry::Neighbor_allgatherv,
    Entry::Neighbor_alltoall,
    Entry::Neighbor_alltoallv,
    Entry::Neighbor_alltoallw,
    Entry::Comm_create,
    Entry::Comm_create_group,
    Entry::Comm_dup,
    Entry::Comm_dup_with_info,
    Entry::Comm_split,
    Entry::Comm_split_type,
    Entry::Cart_create,
    Entry::Cart_sub,
    Entry::Dist_graph_create,
    Entry::Dist_graph_create_adjacent,
    Entry::Graph_create,
};

constexpr Entry numbered_background_entries[] = {
    Entry::Ibarrier,
    Entry::Ibcast,
    Entry::Ireduce,
    Entry::Iallreduce,
    Entry::Ireduce_scatter,
    Entry::Iscan,
    Entry::Iexscan,
    Entry::Igather,
    Entry::Igatherv,
    Entry::Ireduce_scatter_block,
    Entry::Iscatter,
    Entry::Iscatterv,
    Entry::Ialltoall,
    Entry::Iallgather,
    Entry::Iallgatherv,
    Entry::Ialltoallv,
    Entry::Ialltoallw,
    Entry::Ineighbor_allgather,
    Entry::Ineighbor_allgatherv,
    Entry::Ineighbor_alltoall,
    Entry::Ineighbor_alltoallv,
    Entry::Ineighbor_alltoallw,
    // Persistent ones are known by their numbers.
    Entry::Barrier_init,
    Entry::Bcast_init,
    Entry::Reduce_init,
    Entry::Allreduce_init,
    Entry::Reduce_scatter_init,
    Entry::Reduce_scatter_block_init,
    Entry::Scan_init,
    Entry::Exscan_init,
    Entry::Gather_init,
    Entry::Gatherv_init,
    Entry::Scatter_init,
    Entry::Scatterv_init,
    Entry::Allgather_init,
    Entry::Allgatherv_init,
    Entry::Alltoall_init,
    Entry::Alltoallv_init,
    Entry::Alltoallw_init,
    Entry::Neighbor_allgather_init,
    Entry::Neighbor_allgatherv_init,
    Entry::Neighbor_alltoall_init,
    Entry::Neighbor_alltoallv_init,
    Entry::Neighbor_alltoallw_init,
};

std::mutex search_mutex;
Entries bypassed;            // under the mutex
std::string bypassed_where;  // likewise; the last object that does so

char folded(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter; }

// As strcmp() has it, of what is the same in upper and lower case.
int compare_folded(std::string_view one, std::string_view other) {
  for (std::size_t i = 0; i < one.size() && i < other.size(); ++i)
    if (const int difference = folded(one[i]) - folded(other[i]); difference != 0) return difference;
  return one.size() == other.size() ? 0 : one.size() < other.size() ? -1 : 1;
}

// The entry behind a name of C or Fortran ("MPI_Wait", "mpi_wait__", "MPI_WAIT", "mpi_wait_f08_") without the P of
// PMPI; entry_count if it is none. (Entries are in this order: the generator sees to it.)
std::size_t entry_named(std::string_view name) {
  while (name.ends_with('_')) name.remove_suffix(1);
  for (const std::string_view suffix : {"_f08ts", "_f08", "_f"})
    if (name.size() > suffix.size() && compare_folded(name.substr(name.size() - suffix.size()), suffix) == 0) {
      name.remove_suffix(suffix.size());
      break;
    }
  const auto names = entry_names();
  const auto found = std::lower_bound(names.begin(), names.end(), name, [](const char* entry, std::string_view key) {
    return compare_folded(entry, key) < 0;
  });
  const bool is_there = found != names.end() && compare_folded(*found, name) == 0;
  return is_there ? static_cast<std::size_t>(found - names.begin()) : entry_count;
}

}  // namespace

bool starts_with_mpi(const char* name) {
  return (name[0] | 0x20) == 'm' && (name[1] | 0x20) == 'p' && (name[2] | 0x20) == 'i' && name[3] == '_';
}

namespace {

void note_definition(const char* name, void* entries) {
  if (!starts_with_mpi(name)) return;
  const std::size_t entry = entry_named(name);
  if (entry == entry_count) return;
  static_cast<Entries*>(entries)->set(entry);
  // With a large count it is the same call.
  if (const std::string_view full = name; full.ends_with("_c"))
    note_definition(std::string(full.substr(0, full.size() - 2)).c_str(), entries);
}

bool is_pmpi(const char* name) { return (name[0] | 0x20) == 'p' && starts_with_mpi(name + 1); }

void note_reference(const char* name, void* entries) { note_definition(name + 1, entries); }

std::string real_path(const char* path) {
  char resolved[PATH_MAX];
  return realpath(path, resolved) ? resolved : path;
}

struct Wanted {
  const void* address;
  std::string path;
};
int find_path(dl_phdr_info* object, std::size_t, void* data) {
  auto& wanted = *static_cast<Wanted*>(data);
  if (!holds(*object, wanted.address)) return 0;
  wanted.path = real_path(object->dlpi_name);
  return 1;
}

// Directories of which one holds the other.
bool belong_together(const std::string& one, const std::string& other) {
  const auto directory = [](const std::string& path) { return path.substr(0, path.rfind('/') + 1); };
  const std::string a = directory(one), b = directory(other);
  return a.starts_with(b) || b.starts_with(a);
}

}  // namespace

std::string path_of_object(const void* address) {
  Wanted wanted{address, {}};
  dl_iterate_phdr(find_path, &wanted);
  return wanted.path;
}

// The host's Fortran bindings and components call PMPI by right; we stand before the former with Fortran names of our
// own, and the latter complete what they have begun themselves. They lie where the host lies, are called as hosts call
// them, and define no C entry, as tools do (libmpiP.so, libmpi_wrapper.so).
bool is_part_of_host(const dl_phdr_info& object, const std::string& host_path) {
  const std::string path = real_path(object.dlpi_name);
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  bool is_named_so = name.starts_with("mca_") || name.starts_with("libmca_");
  for (const std::string_view known : {"libmpi.", "libmpi_", "libmpi-", "libmpich.", "libmpichfort", "libmpichf90",
                                       "libmpichcxx", "libmpifort", "libmpicxx", "libfmpich"})
    is_named_so = is_named_so || name.starts_with(known);
  if (!is_named_so || !belong_together(path, host_path)) return false;
  return !defines(object, "MPI_Wait") && !defines(object, "MPI_Init");
}

namespace {

struct BypassSearch {
  unsigned long long loads = 0;  // that there have been in this process
  const void* host = nullptr;    // something in the host's library
  std::string host_path;
  bool is_behind_us = false;
  bool is_behind_host = false;
  Entries found;
  std::string where;
};

int read_loads(dl_phdr_info* object, std::size_t, void* loads) {
  *static_cast<unsigned long long*>(loads) = object->dlpi_adds;
  return 1;
}

// In the order in which symbols are looked for.
int search_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<BypassSearch*>(data);
  if (holds(*object, reinterpret_cast<const void*>(&find_bypassed_entries))) {
    search.is_behind_us = true;
    return 0;
  }
  if (holds(*object, search.host)) {
    search.is_behind_host = true;
    return 0;
  }
  // The host's Fortran library has thousands of such names: who it is comes first.
  if ((search.is_behind_us && !refers_to(*object, is_pmpi)) || is_part_of_host(*object, search.host_path)) return 0;
  Entries references, definitions;
  visit_references(*object, is_pmpi, note_reference, &references);
  if (search.is_behind_us && references.none()) return 0;
  visit_definitions(*object, note_definition, &definitions);
  Entries own = references;
  if (!search.is_behind_us)
    own |= definitions;
  else if (!search.is_behind_host)
    own &= ~definitions;  // called by ours; behind the host they never are
  if (own.none()) return 0;
  search.found |= own;
  search.where = *object->dlpi_name ? object->dlpi_name : "the program";
  return 0;
}

void search_process() {
  static unsigned long long searched_loads = 0;
  unsigned long long loads = 0;
  dl_iterate_phdr(read_loads, &loads);
  const std::lock_guard lock(search_mutex);
  if (loads == searched_loads) return;
  BypassSearch search;
  search.host = find_next_function("PMPI_Wait");
  search.host_path = path_of_object(search.host);
  dl_iterate_phdr(search_object, &search);
  bypassed |= search.found;
  if (search.found.any()) bypassed_where = search.where;
  searched_loads = loads;
  if (fortran::statuses_differ()) expect_unseen_completions("in mpi_f08 of this host a status is not that of C");
  for (const Entry entry : request_entries)
    if (search.found.test(static_cast<std::size_t>(entry)))
      return expect_unseen_completions(
          fmt::format("{} may call P{} behind us", search.where, entry_names()[static_cast<std::size_t>(entry)])
              .c_str());
}

}  // namespace

void find_bypassed_entries() noexcept try { search_process(); } catch (...) {
  expect_unseen_completions("no memory to look at the program's symbols");
}

bool is_about_requests(Entry entry) {
  return std::find(std::begin(request_entries), std::end(request_entries), entry) != std::end(request_entries);
}

void note_bypassed(Entry entry, const std::string& where) {
  const std::lock_guard lock(search_mutex);
  bypassed.set(static_cast<std::size_t>(entry));
  bypassed_where = where;
  if (is_about_requests(entry))
    expect_unseen_completions(
        fmt::format("{} may call P{} behind us", where, entry_names()[static_cast<std::size_t>(entry)]).c_str());
}

bool numbers_may_be_wrong(Numbered which) {
  find_bypassed_entries();
  const std::lock_guard lock(search_mutex);
  const bool waits = which == Numbered::blocking;
  for (const Entry entry : waits ? std::span<const Entry>(numbered_entries) : numbered_background_entries) {
    if (!bypassed.test(static_cast<std::size_t>(entry))) continue;
    static std::array<bool, 2> said_of{};
    bool& said = said_of[waits ? 1 : 0];
    if (!said)
      log(LogLevel::info,
          fmt::format("{} may call P{} behind us: such collectives are left to the host (MILLRACE_PMPI=alike "
                      "if all ranks do so in the same calls)",
                      bypassed_where, entry_names()[static_cast<std::size_t>(entry)]));
    said = true;
    return true;
  }
  return false;
}

void expect_unseen_completions(const char* why) noexcept try {
  if (completions_bypassed.exchange(true, std::memory_order_relaxed)) return;
  log(LogLevel::info, fmt::format("{}: what is completed later is left to the host", why));
} catch (...) {
}

}  // namespace millrace::shim
