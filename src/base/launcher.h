// Numbers in environment variables, as launchers set them.
#pragma once

#include <cstdlib>

namespace millrace {

// 0 if the variable is not set or is no number.
inline int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

}  // namespace millrace
