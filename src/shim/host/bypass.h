// Calls of the program that may reach the host without us: a tool that is linked into the program, or loaded before us,
// defines MPI_Wait and calls PMPI_Wait; a library calls PMPI_Test. Read off the symbol tables of what is loaded.
//
// A tool between us and the host is no matter: what it calls comes back to us (process/tools.h), but for what is noted
// here.
#pragma once

#include <link.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "entries.h"

namespace millrace::shim {

// In MPI_Init, and again whenever something may depend on what was loaded since. Cheap if nothing was. Thread-safe.
void find_bypassed_entries() noexcept;

// The host's own libraries other than libmpi, of which the path without symbolic links is given. Throws std::bad_alloc.
bool is_part_of_host(const dl_phdr_info& object, const std::string& host_path);
// Where the object lies, without links, that holds the address; empty if none does.
std::string path_of_object(const void* address);
// "MPI_...", "mpi_..." and so on.
bool starts_with_mpi(const char* name);

// Calls of this entry reach the host past us. Throws std::bad_alloc.
void note_bypassed(Entry entry, const std::string& where);
// Whether it is one that starts, completes, frees or asks about requests.
bool is_about_requests(Entry entry);

// Whether this process may make collectives, or communicators, past us, so that another rank sees one where this one
// does not. Looks again where something was loaded since. Throws std::bad_alloc.
enum class Numbered : std::uint8_t { blocking, nonblocking };
bool numbers_may_be_wrong(Numbered which);

// Whether that is so of a call that starts, completes, frees or asks about requests. Never false again.
extern std::atomic<bool> completions_bypassed;
inline bool completions_may_be_unseen() {
  return __builtin_expect(completions_bypassed.load(std::memory_order_relaxed), 0);
}
// Says so.
void expect_unseen_completions(const char* why) noexcept;

}  // namespace millrace::shim
