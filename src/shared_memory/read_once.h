// Reading memory that others may write at any time, whoever they are.
#pragma once

#include <type_traits>

namespace millrace::shared_memory {

// The value as it stands there now. A plain read may be done again by the compiler, after the value was checked.
template <class Number>
Number read_once(const Number& value) {
  static_assert(std::is_integral_v<Number> || std::is_enum_v<Number>);
  return *const_cast<const volatile Number*>(&value);
}

}  // namespace millrace::shared_memory
