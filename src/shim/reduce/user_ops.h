// Ops that the program made (MPI_Op_create): collectives in shared memory must know that they exist, before they ask
// the host to apply them, and whether they commute. An op that was made out of our sight stays with the host.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/bind/word.h"

namespace millrace::shim {

// Thread-safe. Handles are C handles. If memory runs out the op is left out.
void remember_user_op(Word op, bool commutes) noexcept;
void forget_user_op(Word op) noexcept;

// Whether the op commutes; nothing if it is not a remembered one. A few nanoseconds in the usual case.
std::optional<bool> user_op_commutes(Word op);

}  // namespace millrace::shim
