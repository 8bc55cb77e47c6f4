// `millrace preload`: the path that `millrace` would put into LD_PRELOAD for a program, for those who do so themselves.
#pragma once

#include <optional>
#include <string>

#include "tools/environment.h"

namespace millrace::tools {

// `arguments`: "preload" and what follows it, ended by null. `command` is the path of this executable; `mpi` what was
// said before the subcommand. Prints the path. Without one, a line says why: 1, or 126 and 127 for a program that
// cannot be run; 2 for a wrong command line.
int preload_command(char** arguments, const Environment& environment, const std::string& command,
                    std::optional<std::string> mpi);

}  // namespace millrace::tools
