#include "shim/host/fortran.h"

#include <algorithm>
#include <array>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/host/library_version.h"

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

// The value of a pointer object of the host, or 0.
Word pointed_to(const char* name) {
  const void* const object = find_host_object(name);
  return object ? *static_cast<const Word*>(object) : 0;
}

// Common blocks of mpif.h and `use mpi`, objects of mpi_f08, and the addresses that hosts compare with.
const std::array<Word, 14>& status_ignore_addresses() {
  static const std::array<Word, 14> addresses = [] {
    const Manglings one = find_common("mpi_fortran_status_ignore", "mpi_fortran_status_ignore_",
                                      "mpi_fortran_status_ignore__", "MPI_FORTRAN_STATUS_IGNORE");
    const Manglings many = find_common("mpi_fortran_statuses_ignore", "mpi_fortran_statuses_ignore_",
                                       "mpi_fortran_statuses_ignore__", "MPI_FORTRAN_STATUSES_IGNORE");
    return std::array<Word, 14>{one[0],
                                one[1],
                                one[2],
                                one[3],
                                many[0],
                                many[1],
                                many[2],
                                many[3],
                                as_word(find_host_object("MPIR_F08_MPI_STATUS_IGNORE_OBJ")),
                                as_word(find_host_object("MPIR_F08_MPI_STATUSES_IGNORE_OBJ")),
                                pointed_to("MPI_F08_STATUS_IGNORE"),
                                pointed_to("MPI_F08_STATUSES_IGNORE"),
                                pointed_to("MPI_F_STATUS_IGNORE"),
                                pointed_to("MPI_F_STATUSES_IGNORE")};
  }();
  return addresses;
}

using enum FortranHandles;

// Hosts translate, where the numbers are not the same.
template <Symbol from_f, Symbol from_int>
Word to_c(Word address) {
  if (handle_bytes() == sizeof(Word)) return abi::handle_at(address);
  const Word integer = as_word(to_int(address));
  constexpr Symbol convert = abi::fortran_handles == f2c ? from_f : from_int;
  if constexpr (abi::fortran_handles == same) return abi::handle(integer);
  return host_word<convert>(integer);
}
template <Symbol to_f, Symbol to_int>
int of_c(Word handle) {
  constexpr Symbol convert = abi::fortran_handles == f2c ? to_f : to_int;
  if constexpr (abi::fortran_handles == same) return as_int(handle);
  return as_int(host_word<convert>(handle));
}

}  // namespace

Word to_datatype(Word address) { return to_c<Symbol::MPI_Type_f2c, Symbol::MPI_Type_fromint>(address); }
Word to_op(Word address) { return to_c<Symbol::MPI_Op_f2c, Symbol::MPI_Op_fromint>(address); }
Word to_comm(Word address) { return to_c<Symbol::MPI_Comm_f2c, Symbol::MPI_Comm_fromint>(address); }
Word to_request(Word address) { return to_c<Symbol::MPI_Request_f2c, Symbol::MPI_Request_fromint>(address); }
Word to_win(Word address) { return to_c<Symbol::MPI_Win_f2c, Symbol::MPI_Win_fromint>(address); }

int of_datatype(Word handle) { return of_c<Symbol::MPI_Type_c2f, Symbol::MPI_Type_toint>(handle); }
int of_op(Word handle) { return of_c<Symbol::MPI_Op_c2f, Symbol::MPI_Op_toint>(handle); }
void store_request(Word address, Word handle) {
  if (handle_bytes() == sizeof(Word))
    *static_cast<Word*>(as_pointer(address)) = handle;
  else
    *static_cast<int*>(as_pointer(address)) = of_c<Symbol::MPI_Request_c2f, Symbol::MPI_Request_toint>(handle);
}

bool has_c_handles() { return host_version().vendor == plan::Vendor::intel; }

bool statuses_differ() {
  if constexpr (abi::fortran_handles != mpi_5) return false;
  return has_c_handles() && find_next_function("mpi_waitall_f08_") != nullptr;
}

bool is_in_place(Word address) { return holds(in_place_addresses(), address); }
bool is_status_ignore(Word address) {
  const auto& addresses = status_ignore_addresses();
  return address == 0 || std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}
bool is_sentinel(Word address) { return is_in_place(address) || holds(bottom_addresses(), address); }

}  // namespace millrace::shim::fortran
