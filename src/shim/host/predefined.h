// The predefined datatypes and ops that kernels can cover, with their handles in the ABI of this variant.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernel/kernel.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// Which ops MPI allows for a datatype (MPI 4.1, 6.9.2), where the layout alone does not say.
enum class OpGroup : std::uint8_t {
  c_integer,      // arithmetic, logical and bitwise
  other_integer,  // Fortran integers and multi-language types: arithmetic and bitwise
  floating,
  complex,
  logical,
  byte,  // bitwise
  pair,  // MAXLOC, MINLOC
};
bool allows(OpGroup group, kernel::Op op);

// How a predefined object is called in each ABI: Open MPI has objects in libmpi whose address is the handle.
struct PredefinedName {
  const char* name;
  const char* openmpi_object;
  std::uint32_t mpich_handle;
  std::uint16_t mpi_abi_handle;
};

// The handle in this variant's ABI; 0 if the ABI or the host has none.
Word handle_of(const PredefinedName& name);

// A datatype that this host has, and what its elements look like.
struct KnownType {
  const char* name;
  Word handle;
  kernel::Type type;
  OpGroup group;
};

struct KnownOp {
  const char* name;
  Word handle;
  kernel::Op op;
};

// Those of the C language, whose layout the compiler of this library knows as well as the host's did.
std::vector<KnownType> known_c_types();

// Those of Fortran and optional ones, whose layout only the host knows: handles that are worth a question.
std::vector<Word> askable_types();
// One of them by its handle, asked of the host (quiet_comm.h); nothing if it lacks it, or has it in a way that no
// kernel knows.
std::optional<KnownType> ask_for_type(Word handle);

std::vector<KnownOp> known_ops();

}  // namespace millrace::shim
