// Memory that the processor cannot touch: a program with a GPU-aware host MPI gives us addresses of a GPU's memory. Where
// a GPU runtime (CUDA, HIP, Level Zero) is in the process it is asked before anything is read or written; where there is
// none, a call pays a comparison.
//
// A runtime is looked for among the loaded objects, never linked and never loaded. It may come late (a Python module, a
// runtime linked statically that loads its driver at the program's first use). So each thread remembers in which pieces
// of the address space it has seen addresses since it looked last: an address elsewhere makes it look whether objects
// have been loaded since (15 ns). What that cannot see: a runtime that comes late and gives out an address in a piece in
// which the program's own memory was before.
#pragma once

#include <array>
#include <atomic>

#include "shim/word.h"

namespace millrace::shim {

// Once true, for ever. Relaxed: what the asking thread needs more than that is found with an acquire.
extern std::atomic<bool> device_runtime_loaded;

// Pieces of 64 KiB in which this thread has seen addresses while there was no runtime.
inline constexpr std::size_t device_pieces = 64;
extern thread_local std::array<Word, device_pieces> pieces_without_device __attribute__((tls_model("initial-exec")));
inline constexpr Word piece_of(Word address) { return address >> 16; }
inline constexpr std::size_t piece_slot(Word piece) { return (piece * 0x9e3779b97f4a7c15u) >> 58; }
static_assert(device_pieces == std::size_t{1} << 6, "the shift in piece_slot() keeps the upper 6 bits");

bool ask_for_device_memory(Word address) noexcept;

// Whether the byte at an address can be touched by a GPU only: false for memory that is managed by the runtime, pinned
// by it, or unknown to it. Thread-safe. A nanosecond without a runtime.
inline bool is_device_memory(Word address) {
  if (__builtin_expect(!device_runtime_loaded.load(std::memory_order_relaxed), 1)) {
    const Word piece = piece_of(address);
    if (__builtin_expect(pieces_without_device[piece_slot(piece)] == piece, 1)) return false;
  }
  return ask_for_device_memory(address);
}

}  // namespace millrace::shim
