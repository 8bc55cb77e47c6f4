// Which of our preloads fits a host MPI. Each interface has several, linked from the same objects and differing in
// what they export: weak references of a program are bound to whatever we export, so nothing may be exported that the
// host does not have (docs/launcher.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/mpi_library.h"

namespace millrace::tools {

struct ExportList {
  std::string path;                           // ".../libmillrace-mpich-4.0.so"
  std::span<const std::string_view> entries;  // the MPI_ names it exports (export_lists.h)
};

// The preloads for one interface in a directory: of those that are built with this launcher.
std::vector<ExportList> read_export_lists(const std::string& directory, Abi abi);

// The one with most entries all of which the host has. Without a known host: the base list, libmillrace-<abi>.so, which
// holds what every host of that interface has. Null if none fits.
const ExportList* choose_export_list(std::span<const ExportList> lists, Abi abi, const Defines& host);

// The first entry of the list that the host lacks; empty if it has them all.
std::string_view missing_entry(const ExportList& list, const Defines& host);

// The directory of the preloads belonging to the command at this path; empty if there is none.
std::string preload_directory(const std::string& command);

// The path of the command whose preloads are in this directory; nothing if there is none.
std::optional<std::string> launcher_beside(const std::string& directory);

// LD_PRELOAD with ours first and everything else kept; another preload of Millrace in it is replaced, not joined.
std::string with_preload(std::string_view ld_preload, const std::string& preload);

}  // namespace millrace::tools
