// A datatype that the host is given after the call that began: by a call in the background, when the program may have
// freed its own.
#pragma once

#include <utility>

#include "shim/bind/word.h"

namespace millrace::shim {

class LastingType {
 public:
  // In the background a duplicate, else the same.
  explicit LastingType(Word handle);
  ~LastingType();
  LastingType(LastingType&& other) noexcept : handle_(other.handle_), is_own_(std::exchange(other.is_own_, false)) {}
  LastingType(const LastingType&) = delete;
  LastingType& operator=(const LastingType&) = delete;
  LastingType& operator=(LastingType&&) = delete;

  Word handle() const { return handle_; }

 private:
  Word handle_;
  bool is_own_ = false;
};

}  // namespace millrace::shim
