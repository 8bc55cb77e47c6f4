// Open MPI (libmpi.so.40): handles are addresses of objects in libmpi.
#pragma once

#include "shim/bind/host.h"
#include "shim/bind/word.h"

namespace millrace::shim::abi {

inline constexpr HostAbi host_abi = HostAbi::openmpi;
inline constexpr int err_buffer = 1;
inline constexpr int err_intern = 17;
inline constexpr int err_truncate = 15;
inline constexpr int err_other = 16;
inline constexpr int thread_multiple = 3;
inline constexpr int proc_null = -2;
inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;
inline constexpr int topology_cartesian = 1;
inline constexpr int topology_graph = 2;
inline constexpr int topology_distributed_graph = 3;
inline constexpr Word in_place = 1;

// How a handle lies in memory, in arrays and behind a pointer.
using HandleStorage = Word;

// The handle in a variable of the program.
inline Word handle_at(Word address) { return *static_cast<const HandleStorage*>(as_pointer(address)); }
inline Word handle(Word word) { return word; }
// MPI_BOTTOM and MPI_IN_PLACE, which are not addresses of data.
inline bool is_special_address(Word address) { return address <= in_place; }

inline Word comm_world() { return as_word(find_host_object("ompi_mpi_comm_world")); }
inline Word comm_self() { return as_word(find_host_object("ompi_mpi_comm_self")); }
inline Word comm_null() { return as_word(find_host_object("ompi_mpi_comm_null")); }
inline Word request_null() { return as_word(find_host_object("ompi_request_null")); }
inline Word errors_return() { return as_word(find_host_object("ompi_mpi_errors_return")); }
inline Word errors_are_fatal() { return as_word(find_host_object("ompi_mpi_errors_are_fatal")); }
inline Word null_type() { return as_word(find_host_object("ompi_mpi_datatype_null")); }
inline Word byte_type() { return as_word(find_host_object("ompi_mpi_byte")); }
inline Word int_type() { return as_word(find_host_object("ompi_mpi_int")); }
inline Word min_op() { return as_word(find_host_object("ompi_mpi_op_min")); }
inline Word max_op() { return as_word(find_host_object("ompi_mpi_op_max")); }
inline Word sum_op() { return as_word(find_host_object("ompi_mpi_op_sum")); }

// MPI_Status, and the arguments that stand for none.
inline constexpr std::size_t status_bytes = 24;
inline constexpr std::size_t status_error_offset_bytes = 8;
inline constexpr Word status_ignore = 0;
inline constexpr Word statuses_ignore = 0;
inline constexpr int err_in_status = 18;
inline constexpr int err_pending = 19;
inline constexpr int undefined = -32766;

// Handles, and what else its hosts do in ways of their own.
inline constexpr FortranHandles fortran_handles = FortranHandles::f2c;
// Of an object that is predefined: here by its name in libmpi, elsewhere a number.
inline Word predefined_handle(const char* object, std::uint32_t, std::uint16_t) {
  return *object ? as_word(find_libmpi_object(object)) : 0;
}
// Not a null handle, and nothing that no communicator can be; one that was freed may look like one.
inline bool may_be_comm(Word comm) {
  static const Word null = comm_null();
  return comm != 0 && comm != null;
}
inline constexpr bool handles_are_addresses = true;
bool is_predefined_type(Word handle);  // never called: they are objects of libmpi (datatypes/datatypes.h)
// A message that is longer than its contiguous receive buffer is written past the end of it (packed/split_types.h).
inline constexpr bool writes_past_receive_buffers = true;
// The status of MPI_Isendrecv says how much came.
inline constexpr bool isendrecv_tells_length = true;
// MPI_Ialltoallw on a communicator with a topology looks at as many datatypes as there are neighbours (4.1).
inline constexpr bool ialltoallw_reads_beyond = true;
// The blocks of MPI_Allgatherv are cut into pieces of so many elements as have a certain extent.
inline constexpr bool allgatherv_cuts_by_extent = false;
// How many messages that have come the host takes in at one look, at least.
inline constexpr std::uint32_t messages_in_a_look = 16;
// Which algorithm does a reduction does not depend on whether its op is predefined (reduce/op_substitution.h).
inline constexpr bool algorithms_ignore_predefined_ops = true;
// A bool of libmpi that says whether the host was told to survive ranks that fail; elsewhere the environment says so.
inline constexpr const char* survives_failures_object = "ompi_ftmpi_enabled";
// Sockets are looked at once in 10 ms, also by who waits for a first connection, but while somebody has said that he
// uses events: functions of no arguments in libopen-pal.
inline constexpr const char* more_event_users = "opal_progress_event_users_increment";
inline constexpr const char* fewer_event_users = "opal_progress_event_users_decrement";
// Where an error handler of the program returns errors, every host of this ABI really returns them.
inline constexpr bool may_die_of_returned_errors = false;

}  // namespace millrace::shim::abi
