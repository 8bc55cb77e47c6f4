// `millrace compare`: a user's job with and without Millrace, in turns, and what differs (docs/compare.md).
#pragma once

namespace millrace::tools {

// `arguments`: "compare" and what follows it, ended by null.
int compare_command(char** arguments);

}  // namespace millrace::tools
