// `millrace tune`: measures this machine and writes a tuning table (src/plan/tuning.h).
#pragma once

#include <string>

namespace millrace::tools {

// `arguments`: "tune" and what follows it, ended by null. Returns the exit code.
int tune_command(char** arguments);

}  // namespace millrace::tools
