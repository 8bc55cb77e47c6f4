// Whether this thread is in a collective of the host: what the host calls there belongs to the call of the program.
#pragma once

#include "shim/bind/word.h"

namespace millrace::shim {

// The call that a Fortran entry of the host makes of the C entry of the same name, which we see as well, is the only
// one that every host is known to make. A call that looks like another one is the program's own: it has left the former
// by other ways than its end (longjmp out of an error handler).
class ForwardedCollective {
 public:
  ForwardedCollective(std::uint16_t entry, bool from_fortran, Word comm) : former_(now_) {
    now_ = {entry, from_fortran, comm};
  }
  ~ForwardedCollective() { now_ = former_; }
  ForwardedCollective(const ForwardedCollective&) = delete;
  ForwardedCollective& operator=(const ForwardedCollective&) = delete;

  static bool is_in_fortran() { return now_.from_fortran; }
  static bool is_nested(std::uint16_t entry, bool from_fortran, Word comm) {
    return now_.from_fortran && !from_fortran && now_.entry == entry && now_.comm == comm;
  }

 private:
  struct Call {
    std::uint16_t entry;
    bool from_fortran;
    Word comm;
  };
  static thread_local Call now_ __attribute__((tls_model("initial-exec")));
  Call former_;
};

inline thread_local ForwardedCollective::Call ForwardedCollective::now_{};

}  // namespace millrace::shim
