// The predefined datatypes and ops that kernels can cover, with their handle in each ABI.
#pragma once

#include <cstdint>
#include <span>

#include "kernel/kernel.h"
#include "shim/word.h"

namespace millrace::shim {

struct PredefinedType {
  const char* name;            // "MPI_INT"
  const char* openmpi_object;  // the host's object whose address is the handle
  std::uint32_t mpich_handle;
  std::uint16_t mpi_abi_handle;
  kernel::Type type;
  std::uint32_t bytes;
};

struct PredefinedOp {
  const char* name;
  const char* openmpi_object;
  std::uint32_t mpich_handle;
  std::uint16_t mpi_abi_handle;
  kernel::Op op;
};

std::span<const PredefinedType> predefined_types();
std::span<const PredefinedOp> predefined_ops();

// The handle in this variant's ABI; 0 if the host does not have it.
Word handle_of(const PredefinedType& type);
Word handle_of(const PredefinedOp& op);

}  // namespace millrace::shim
