#pragma once

#include <string>

#include "base/settings.h"

namespace millrace::shim {

// The name of the file that we were loaded from, without directory, "lib" and suffix: "openmpi-5.0".
std::string preload_name();

// At MILLRACE_LOG=info: which preload this is, in front of which host, with which kernels and table.
void introduce(const SettingValues& settings, int world_ranks);

}  // namespace millrace::shim
