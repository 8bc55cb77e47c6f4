#include "shim/fortran.h"

#include <algorithm>
#include <array>

#include "abi.h"
#include "shim/forward.h"

namespace millrace::shim::fortran {
namespace {

// Fortran compilers mangle the names of common blocks in four ways; a host defines them all, or the one of its own.
using Manglings = std::array<Word, 4>;

Manglings find_common(const char* plain, const char* one, const char* two, const char* upper) {
  return {as_word(find_host_object(plain)), as_word(find_host_object(one)), as_word(find_host_object(two)),
          as_word(find_host_object(upper))};
}

bool holds(const Manglings& addresses, Word address) {
  return address != 0 && std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

const Manglings& in_place_addresses() {
  static const Manglings addresses =
      find_common("mpi_fortran_in_place", "mpi_fortran_in_place_", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE");
  return addresses;
}

const Manglings& bottom_addresses() {
  static const Manglings addresses =
      find_common("mpi_fortran_bottom", "mpi_fortran_bottom_", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM");
  return addresses;
}

// MPICH's Fortran handles are the C ones; elsewhere the host translates.
template <Symbol from_fortran>
Word to_c(Word address) {
  const Word integer = as_word(to_int(address));
  if constexpr (abi::host_abi == HostAbi::mpich) return abi::handle(integer);
  return host_word<from_fortran>(integer);
}

}  // namespace

Word to_datatype(Word address) { return to_c<Symbol::MPI_Type_f2c>(address); }
Word to_op(Word address) { return to_c<Symbol::MPI_Op_f2c>(address); }
Word to_comm(Word address) { return to_c<Symbol::MPI_Comm_f2c>(address); }

bool is_in_place(Word address) { return holds(in_place_addresses(), address); }
bool is_sentinel(Word address) { return is_in_place(address) || holds(bottom_addresses(), address); }

}  // namespace millrace::shim::fortran
