// The MPICH ABI (libmpi.so.12, Debian's libmpich.so.12, Intel MPI and others): handles are 32-bit integers with fixed
// values for what is predefined.
#pragma once

#include "shim/bind/host.h"
#include "shim/bind/word.h"

namespace millrace::shim::abi {

inline constexpr HostAbi host_abi = HostAbi::mpich;
inline constexpr int err_buffer = 1;
inline constexpr int err_intern = 16;
inline constexpr int err_truncate = 14;
inline constexpr int err_other = 15;
inline constexpr int thread_multiple = 3;
inline constexpr int proc_null = -1;
inline constexpr int any_source = -2;
inline constexpr int any_tag = -1;
inline constexpr int topology_cartesian = 2;
inline constexpr int topology_graph = 1;
inline constexpr int topology_distributed_graph = 3;
inline constexpr Word in_place = ~Word{0};

// How a handle lies in memory, in arrays and behind a pointer.
using HandleStorage = std::uint32_t;

// The handle in a variable of the program.
inline Word handle_at(Word address) { return *static_cast<const HandleStorage*>(as_pointer(address)); }
inline Word handle(Word word) { return static_cast<std::uint32_t>(word); }
// MPI_BOTTOM and MPI_IN_PLACE, which are not addresses of data.
inline bool is_special_address(Word address) { return address == 0 || address == in_place; }

inline Word comm_world() { return 0x44000000; }
inline Word comm_self() { return 0x44000001; }
inline Word comm_null() { return 0x04000000; }
inline Word request_null() { return 0x2c000000; }
inline Word errors_return() { return 0x54000001; }
inline Word errors_are_fatal() { return 0x54000000; }
inline Word null_type() { return 0x0c000000; }
inline Word byte_type() { return 0x4c00010d; }
inline Word int_type() { return 0x4c000405; }
inline Word min_op() { return 0x58000002; }
inline Word max_op() { return 0x58000001; }
inline Word sum_op() { return 0x58000003; }

// MPI_Status, and the arguments that stand for none.
inline constexpr std::size_t status_bytes = 20;
inline constexpr std::size_t status_error_offset_bytes = 16;
inline constexpr Word status_ignore = 1;
inline constexpr Word statuses_ignore = 1;
inline constexpr int err_in_status = 17;
inline constexpr int err_pending = 18;
inline constexpr int undefined = -32766;

// Handles, and what else its hosts do in ways of their own; see openmpi/abi.h.
inline constexpr FortranHandles fortran_handles = FortranHandles::same;
inline Word predefined_handle(const char*, std::uint32_t number, std::uint16_t) { return number; }
inline bool may_be_comm(Word comm) { return (comm >> 30) != 0 && ((comm >> 26) & 0xf) == 1; }
inline constexpr bool handles_are_addresses = false;
inline bool is_predefined_type(Word handle) {
  return (handle >> 30) < 2 || (handle >= 0x8c000000 && handle <= 0x8c000004);  // built-in kinds; pair types
}
inline constexpr bool writes_past_receive_buffers = false;
inline constexpr bool isendrecv_tells_length = false;
inline constexpr bool ialltoallw_reads_beyond = false;
inline constexpr bool allgatherv_cuts_by_extent = true;
// How many messages that have come the host takes in at one look, at least.
inline constexpr std::uint32_t messages_in_a_look = 1;
inline constexpr bool algorithms_ignore_predefined_ops = false;
inline constexpr const char* survives_failures_object = nullptr;
inline constexpr const char* more_event_users = nullptr;
inline constexpr const char* fewer_event_users = nullptr;
inline constexpr bool may_die_of_returned_errors = false;

}  // namespace millrace::shim::abi
