// Measures on the user's host, under the user's launcher, which messages of derived datatypes are better packed here.
#pragma once

#include <string>
#include <vector>

#include "plan/tuning.h"

namespace millrace::tools {

struct MessageOptions {
  std::vector<std::string> launcher;  // "mpirun", "-n", "2"
  std::string table;                  // in force meanwhile, for its copies; "none" for no table
  bool quick = false;                 // few sizes and turns: to try it out
};

// Whether the launcher starts two ranks of a host that tables have a name for; if not, one line names the fix.
bool can_measure_messages(const MessageOptions& options);

// Starts this command again under the launcher, on two ranks. Fills in one host's rows of `tuning` and says on standard
// error what they are; false, with one line that names the fix, if nothing was measured.
bool measure_messages(const MessageOptions& options, plan::Tuning& tuning);

// What is started there: goes on under the preload of the host that the launcher belongs to, as `millrace` would start
// a program. Returns the exit code.
int measure_messages_on_rank(const char* pace_word, const char* library);

}  // namespace millrace::tools
