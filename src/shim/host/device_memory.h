// Memory that the processor cannot touch: a program with a GPU-aware host MPI gives us addresses of a GPU's memory.
// Where a GPU runtime (CUDA, HIP, Level Zero) is in the process it is asked before anything is read or written; where
// there is none, a call pays a comparison.
//
// A runtime is looked for among the loaded objects, never linked and never loaded. It may come late (a Python module, a
// runtime linked statically that loads its driver at the program's first use). So each thread remembers in which pieces
// of the address space it has seen addresses: one elsewhere makes it look whether objects have been loaded since (15
// ns). What that cannot see: a runtime that comes late and gives out an address in a piece in which the program's own
// memory was before.
#pragma once

#include <array>
#include <atomic>

#include "shim/bind/word.h"

namespace millrace::shim {

// Once true, for ever. Relaxed: what the asking thread needs more than that is found with an acquire.
extern std::atomic<bool> device_runtime_loaded;

// Pieces of 64 KiB in which this thread has seen addresses, and those of the last call with two buffers.
struct SeenPieces {
  std::array<Word, 64> pieces;
  Word first, second;
};
extern constinit thread_local SeenPieces seen_pieces __attribute__((tls_model("initial-exec")));
inline constexpr int piece_bits = 16;
inline constexpr std::size_t piece_slot(Word piece) { return piece % 64; }

bool ask_for_device_memory(Word address) noexcept;
bool ask_for_device_memory(Word first, Word second) noexcept;

// Whether the byte at an address can be touched by a GPU only: false for memory that is managed by the runtime, pinned
// by it, or unknown to it. Thread-safe. Less than a nanosecond without a runtime.
inline bool is_device_memory(Word address) {
  if (__builtin_expect(!device_runtime_loaded.load(std::memory_order_relaxed), 1)) {
    const Word piece = address >> piece_bits;
    if (__builtin_expect(seen_pieces.pieces[piece_slot(piece)] == piece, 1)) return false;
  }
  return ask_for_device_memory(address);
}
// The same of any of two: one comparison where the last call had buffers near these.
inline bool is_device_memory(Word first, Word second) {
  if (__builtin_expect(!device_runtime_loaded.load(std::memory_order_relaxed), 1)) {
    const SeenPieces& seen = seen_pieces;
    if (__builtin_expect(((first ^ seen.first) | (second ^ seen.second)) >> piece_bits == 0, 1)) return false;
  }
  return ask_for_device_memory(first, second);
}

}  // namespace millrace::shim
