// Questions to the host that follow a collective of ours.
//
// Ranks that meet through their host have seen there what was sent before: messages come in order, and a host that
// waits looks at all that come. Ranks that met in memory of ours have looked at nothing, and hosts look after they have
// answered: MPI_Iprobe after MPI_Barrier would say that nothing was sent. MPI promises no more than that the answer
// changes in the end, but programs stop asking. So who hears "no" after such a collective, and others have called their
// hosts since, has its host look and asks once more.
#pragma once

#include <atomic>
#include <span>

#include "entries.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// A collective of ours has been done, and no question since then has found everything seen.
extern std::atomic<bool> met_outside_host;
inline void note_meeting() { met_outside_host.store(true, std::memory_order_relaxed); }

// One look of the host at what has come; null (the default) where ranks do not meet outside it.
void use_host_driver(bool (*drive)(void*));

// After a question with these words and this result, while met_outside_host is set: whether the host has looked again,
// so that the question is worth asking again. `given` is for note_answer(), after that.
[[gnu::cold, gnu::noinline]] bool host_has_looked(Symbol symbol, Word result, std::span<const Word> words,
                                                  std::uint32_t& given) noexcept;
[[gnu::cold, gnu::noinline]] void note_answer(Symbol symbol, Word result, std::span<const Word> words,
                                              std::uint32_t given) noexcept;

}  // namespace millrace::shim
