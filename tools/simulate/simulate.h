// `millrace simulate`: a collective on a machine that need not be here (docs/model.md).
#pragma once

namespace millrace::tools {

// `arguments` starts with "simulate" and ends with a null pointer.
int simulate_command(char** arguments);

}  // namespace millrace::tools
