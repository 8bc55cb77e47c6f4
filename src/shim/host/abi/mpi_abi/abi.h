// The MPI-5 ABI (MPI 5.0, chapter 20; libmpi_abi.so.1): handles are pointers whose predefined values are small
// integers fixed by the standard.
#pragma once

#include "shim/bind/host.h"
#include "shim/bind/word.h"

namespace millrace::shim::abi {

inline constexpr HostAbi host_abi = HostAbi::mpi_abi;
inline constexpr int err_intern = 17;
inline constexpr int err_truncate = 15;
inline constexpr int err_other = 16;
inline constexpr int thread_multiple = 4096;
inline constexpr int proc_null = -3;
inline constexpr int any_source = -1;
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

// MPI_Status, and the arguments that stand for none.
inline constexpr std::size_t status_bytes = 32;
inline constexpr std::size_t status_error_offset_bytes = 8;
inline constexpr Word status_ignore = 0;
inline constexpr Word statuses_ignore = 0;
inline constexpr int err_in_status = 19;
inline constexpr int err_pending = 18;
inline constexpr int undefined = -32766;

}  // namespace millrace::shim::abi
