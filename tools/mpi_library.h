// Which MPI a library is. Its own symbols decide, not its name: MVAPICH and ParaStation are a libmpi.so.12, an old
// Open MPI was one as well, and vendors rename what they derive.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/elf.h"

namespace millrace::tools {

// The binary interfaces that a preload exists for.
enum class Abi { unknown, openmpi, mpich, mpi5 };

const char* abi_word(Abi abi);   // as in file names and --mpi: "openmpi", "mpich", "abi"
const char* abi_title(Abi abi);  // as a person says it: "Open MPI", "MPICH", "MPI-5 ABI"
std::optional<Abi> abi_from_word(std::string_view word);

// Whether a library defines a name.
using Defines = std::function<bool(std::string_view name)>;

struct MpiLibrary {
  Abi abi = Abi::unknown;
  std::string path;
  std::shared_ptr<const ElfFile> file;
};

// The interface that a library with these dynamic symbols and this soname offers.
Abi abi_of(std::string_view soname, const Defines& defines);

// Intel's libraries also carry the version of the MPICH that they derive from, and its names.
bool is_intel(const ElfFile& library);

// Nothing if the file is not an MPI library that programs can run on: a Fortran or C++ layer above one, a tool that
// intercepts (it defines MPI_Init but no PMPI_Init), a linker script.
std::optional<MpiLibrary> read_mpi_library(const std::string& path);

// Whether a file of this name is worth opening: libmpi*, libmpich*, libmpt*, ...
bool may_be_mpi_library(std::string_view path);

// The MPI library of the wanted interface in one directory; of any interface if `unknown` is wanted.
std::optional<MpiLibrary> find_mpi_library(const std::string& directory, Abi wanted);

// Those of the names that are entries of MPI in C. MPI_ABORT is a Fortran name and lives in another library than
// MPI_Abort.
std::vector<std::string_view> mpi_entries(std::span<const std::string_view> exports);

}  // namespace millrace::tools
