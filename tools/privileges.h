// Whether the system would run a file in secure mode, in which the dynamic loader ignores LD_PRELOAD.
#pragma once

#include <string>

namespace millrace::tools {

bool gains_privileges(const std::string& path);

bool is_same_file(const std::string& left, const std::string& right);

}  // namespace millrace::tools
