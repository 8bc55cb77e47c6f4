#include "tools/mpi_library.h"

#include <algorithm>

#include "tools/elf.h"
#include "tools/program.h"

namespace millrace::tools {

const char* abi_word(Abi abi) {
  switch (abi) {
    case Abi::openmpi: return "openmpi";
    case Abi::mpich: return "mpich";
    case Abi::mpi5: return "abi";
    case Abi::unknown: break;
  }
  return "unknown";
}

const char* abi_title(Abi abi) {
  switch (abi) {
    case Abi::openmpi: return "Open MPI";
    case Abi::mpich: return "MPICH";
    case Abi::mpi5: return "MPI-5 ABI";
    case Abi::unknown: break;
  }
  return "unknown MPI";
}

std::optional<Abi> abi_from_word(std::string_view word) {
  for (const Abi abi : {Abi::openmpi, Abi::mpich, Abi::mpi5})
    if (word == abi_word(abi)) return abi;
  return std::nullopt;
}

Abi abi_of(std::string_view soname, const Defines& defines) {
  // The MPI-5 standard reserves this name; what lies behind it may still carry its makers' own symbols.
  if (soname.substr(0, 10) == "libmpi_abi") return Abi::mpi5;
  // These two stand in the makers' mpi.h, so that programs need them: MPI_COMM_WORLD and MPI_COMM_DUP_FN.
  if (defines("ompi_mpi_comm_world")) return Abi::openmpi;
  if (defines("MPIR_Dup_fn")) return Abi::mpich;
  if (defines("MPI_Abi_get_version")) return Abi::mpi5;
  return Abi::unknown;
}

bool is_intel(const ElfFile& library) { return library.defines("I_MPI_Check_image_status"); }

std::vector<std::string_view> mpi_entries(std::span<const std::string_view> exports) {
  std::vector<std::string_view> names;
  for (const std::string_view name : exports)
    if (name.substr(0, 4) == "MPI_" &&
        std::any_of(name.begin(), name.end(), [](char letter) { return letter >= 'a' && letter <= 'z'; }))
      names.push_back(name);
  return names;
}

std::optional<MpiLibrary> read_mpi_library(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file || !file->is_native() || !file->defines("MPI_Init") || !file->defines("PMPI_Init")) return std::nullopt;
  const std::string_view soname = file->soname().empty() ? base_name(path) : file->soname();
  const Abi abi = abi_of(soname, [&](std::string_view name) { return file->defines(name); });
  return MpiLibrary{abi, path, std::make_shared<const ElfFile>(*std::move(file))};
}

bool may_be_mpi_library(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.substr(0, 3) == "lib" && (name.find("mpi") != std::string_view::npos || name.substr(0, 6) == "libmpt");
}

std::optional<MpiLibrary> find_mpi_library(const std::string& directory, Abi wanted) {
  // The names are few and a library directory may hold thousands of files, so none is listed. The development link
  // comes last: it may be a linker script, or belong to another MPI (Debian's alternatives).
  constexpr const char* names[] = {"libmpi.so.40", "libmpi.so.12",    "libmpich.so.12",  "libmpi_cray.so.12",
                                   "libmpi.so",    "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so"};
  for (const char* name : names) {
    auto library = read_mpi_library(directory + '/' + name);
    if (library && library->abi != Abi::unknown && (wanted == Abi::unknown || library->abi == wanted)) return library;
  }
  return std::nullopt;
}

}  // namespace millrace::tools
