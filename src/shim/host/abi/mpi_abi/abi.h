// The MPI-5 ABI (MPI 5.0, chapter 20; libmpi_abi.so.1): handles are pointers whose predefined values are small
// integers fixed by the standard.
#pragma once

#include "shim/bind/host.h"
#include "shim/bind/word.h"

namespace millrace::shim::abi {

inline constexpr HostAbi host_abi = HostAbi::mpi_abi;
inline constexpr int err_buffer = 1;
inline constexpr int err_intern = 17;
inline constexpr int err_truncate = 15;
inline constexpr int err_other = 16;
inline constexpr int thread_multiple = 4096;
inline constexpr int proc_null = -3;
inline constexpr int any_source = -1;
inline constexpr int any_tag = -2;
inline constexpr int topology_cartesian = 211;
inline constexpr int topology_graph = 212;
inline constexpr int topology_distributed_graph = 213;
inline constexpr Word in_place = 1;

// How a handle lies in memory, in arrays and behind a pointer.
using HandleStorage = Word;

// The handle in a variable of the program.
inline Word handle_at(Word address) { return *static_cast<const HandleStorage*>(as_pointer(address)); }
inline Word handle(Word word) { return word; }
// MPI_BOTTOM and MPI_IN_PLACE, which are not addresses of data.
inline bool is_special_address(Word address) { return address <= in_place; }

inline Word comm_world() { return 0x101; }
inline Word comm_self() { return 0x102; }
inline Word comm_null() { return 0x100; }
inline Word request_null() { return 0x180; }
inline Word errors_return() { return 0x143; }
inline Word errors_are_fatal() { return 0x141; }
inline Word null_type() { return 0x200; }
inline Word byte_type() { return 0x247; }
inline Word int_type() { return 0x209; }
inline Word min_op() { return 0x22; }
inline Word max_op() { return 0x23; }
inline Word sum_op() { return 0x21; }

// MPI_Status, and the arguments that stand for none.
inline constexpr std::size_t status_bytes = 32;
inline constexpr std::size_t status_error_offset_bytes = 8;
inline constexpr Word status_ignore = 0;
inline constexpr Word statuses_ignore = 0;
inline constexpr int err_in_status = 19;
inline constexpr int err_pending = 18;
inline constexpr int undefined = -32766;

// Handles, and what else its hosts do in ways of their own; see openmpi/abi.h. Its hosts are MPICH and Intel MPI.
inline constexpr FortranHandles fortran_handles = FortranHandles::mpi_5;
inline Word predefined_handle(const char*, std::uint32_t, std::uint16_t number) { return number; }
inline bool may_be_comm(Word comm) { return comm > comm_null() && (comm <= comm_self() || comm >= 0x1000); }
inline constexpr bool handles_are_addresses = false;
inline bool is_predefined_type(Word handle) { return handle < 0x1000; }
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
// Intel MPI ends the program although MPI_ERRORS_RETURN is set.
inline constexpr bool may_die_of_returned_errors = true;

}  // namespace millrace::shim::abi
