// Derived datatypes of the host, compiled to layouts and found again by their handle.
//
// The life of a datatype, as we see it:
//   unknown   the first call with it goes to the host. If that succeeds, the type is valid and committed, and
//   remember()
//             hangs an attribute on it, whose delete callback tells us when the handle dies
//   seen      the second call compiles it: a type that is used once is not worth that
//   ready     find_datatype() gives the layout in 2 to 3 ns; or refused, with the reason
//
// A handle may be reused by the host as soon as its type is gone, so whatever a thread has cached counts only while
// `datatype_epoch` is what it was: every delete callback moves it on. Layouts are shared: who needs one beyond the call
// (a pending receive) keeps it alive by himself.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "abi.h"
#include "base/hash.h"
#include "layout/layout.h"
#include "record/record.h"
#include "shim/bind/word.h"

namespace millrace::shim {

struct Datatype {
  enum class State : std::uint8_t { seen, compiling, ready, refused };

  explicit Datatype(Word of) : handle(of) {}
  const Word handle;
  // Release by the compiling thread, acquire by every reader of `layout` and `refusal`.
  std::atomic<State> state{State::seen};
  std::shared_ptr<const layout::Layout> layout;  // of a ready one
  bool is_mixed = false;                         // has predefined types of different sizes, or of more than 8 bytes
  record::Reason refusal = record::Reason::type_not_covered;  // of a refused one
};

// Between prepare_datatypes() and forget_datatypes(). Relaxed: who sees the old value asks the host, which is right.
extern std::atomic<bool> datatypes_active;
bool prepare_datatypes();  // after MPI_Init, by one thread; false if this host cannot keep attributes on types
void forget_datatypes();   // before MPI_Finalize

// Where Open MPI's predefined datatypes lie: the writable segments of libmpi and, by copy relocation, of the program.
struct AddressRange {
  Word begin = 0;
  Word bytes = 0;
};
extern std::array<AddressRange, 2> predefined_ranges;

// Whether a handle is a predefined datatype (or a null handle), without asking the host. About a nanosecond.
inline bool is_predefined(Word handle) {
  if constexpr (!abi::handles_are_addresses) return abi::is_predefined_type(handle);
  return handle - predefined_ranges[0].begin < predefined_ranges[0].bytes ||
         handle - predefined_ranges[1].begin < predefined_ranges[1].bytes;
}

// Whether a call with this datatype has any chance to be ours: all that a program without derived types pays.
[[gnu::always_inline]] inline bool may_have_layout(Word handle) {
  return datatypes_active.load(std::memory_order_relaxed) && !is_predefined(handle);
}

extern std::atomic<std::uint64_t> datatype_epoch;

// Of one thread; the pointers are kept alive by the slots.
struct DatatypeSlot {
  Word handle = 0;
  std::uint64_t epoch = 0;
  std::shared_ptr<Datatype> datatype;
};
inline constexpr std::size_t datatype_slots = 64;
struct ThreadDatatypes {
  std::array<DatatypeSlot, datatype_slots> slots;
};
extern thread_local ThreadDatatypes* thread_datatypes __attribute__((tls_model("initial-exec")));
const std::shared_ptr<Datatype>* find_datatype_slowly(Word handle);

// The datatype of a handle, or null if it is unknown. The reference is valid until the next call into MPI of this
// thread.
inline const std::shared_ptr<Datatype>* find_datatype(Word handle) {
  if (ThreadDatatypes* own = thread_datatypes) {
    const DatatypeSlot& slot = own->slots[spread(handle) >> 58];
    // Acquire pairs with the release in the delete callback: a handle that is reused afterwards is not taken for the
    // old.
    if (slot.handle == handle && slot.epoch == datatype_epoch.load(std::memory_order_acquire)) return &slot.datatype;
  }
  return find_datatype_slowly(handle);
}
static_assert(datatype_slots == std::size_t{1} << 6, "the shift in find_datatype keeps the upper 6 bits");

// Notes that the host has accepted a call that moves data of this type. Thread-safe.
void remember_datatype(Word handle);

// Makes a seen datatype ready or refused; what another thread is compiling is left alone.
void compile_datatype(Datatype& datatype);

}  // namespace millrace::shim
