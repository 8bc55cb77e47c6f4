// Whom a call needs that names a rank: of a window, of a communicator, or through a request that was made for one. If
// that rank sleeps in a collective of ours it is woken, and no other: ranks that nobody needs would take the core from
// those that work.
#pragma once

#include <cstdint>
#include <span>

#include "entries.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// All thread-safe. Only where all ranks of the job are on this node: elsewhere the host may need more ranks than the
// one that is named, for what they do for their node. What memory does not suffice for is left out.

// A window (C handle) that the host has just made, and one that it is about to free.
void remember_window(Word win) noexcept;
void forget_window(Word win) noexcept;

// The request that a call with these words and this result has made, and one that the call with these words is about to
// free. Of persistent and partitioned requests: others do not live for long.
void remember_request(Symbol symbol, Word result, std::span<const Word> words) noexcept;
void forget_request(Symbol symbol, std::span<const Word> words) noexcept;

// Rings those that a call with these words needs if they sleep; everybody who sleeps if it is not known who that
// is. Returns whom the call needs (shared_memory::Attention::Seat::inside).
[[gnu::cold, gnu::noinline]] std::uint32_t ring_target(Symbol symbol, std::span<const Word> words) noexcept;

}  // namespace millrace::shim
