// Whom a call needs that names a rank: of a window, of a communicator, or through a request that was made for one. If
// that rank sleeps in a collective of ours it is woken, and no other: ranks that nobody needs would take the core from
// those that work.
#pragma once

#include <cstdint>

#include "entries.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// All thread-safe. Only where all ranks of the job are on this node: elsewhere the host may need more ranks than the
// one that is named, for what they do for their node. What memory does not suffice for is left out.

// A window (C handle) that the host has just made, and one that it is about to free.
void remember_window(Word win) noexcept;
void forget_window(Word win) noexcept;

// A request that a call has made, by its arguments and its error code (of Fortran, that code's address), and one, by
// its address, that is about to be freed. Of persistent and partitioned requests: others do not live for long.
void remember_request(const Target& target, const Word* words, Word error, bool fortran) noexcept;
void forget_request(Word address, bool fortran) noexcept;

// Rings those that a call with these arguments needs if they sleep; everybody who sleeps if it is not known who that
// is. Returns whom the call needs (shared_memory::Attention::Seat::inside).
[[gnu::cold, gnu::noinline]] std::uint32_t ring_target(const Target& target, const Word* words, bool fortran) noexcept;

}  // namespace millrace::shim
