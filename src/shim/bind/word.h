// Every MPI argument, in every ABI that we stand in front of, is an integer or a pointer. On the psABIs that we
// support (x86-64 and AArch64 Linux) each of them travels in one integer register or one 8-byte stack slot, and the
// callee ignores the bits above its own type. So a call that is passed on as machine words reaches the host exactly
// as it was made, even when this preload is not the one for this host and must step aside.
#pragma once

#include <cstdint>

namespace millrace::shim {

using Word = std::uintptr_t;
static_assert(sizeof(Word) == 8, "Millrace forwards MPI arguments as 8-byte words");

inline int as_int(Word word) { return static_cast<int>(static_cast<std::uint32_t>(word)); }
inline void* as_pointer(Word word) { return reinterpret_cast<void*>(word); }  // NOLINT(performance-no-int-to-ptr)
template <class T>
Word as_word(T* pointer) {
  return reinterpret_cast<Word>(pointer);
}
inline Word as_word(int value) { return static_cast<Word>(static_cast<std::intptr_t>(value)); }

}  // namespace millrace::shim
