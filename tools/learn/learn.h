// `millrace learn`: runs a user's program with its launcher, has every rank find out who does its collectives faster,
// and keeps that in a tuning table by which later runs choose (src/plan/learned.h).
#pragma once

namespace millrace::tools {

// `arguments`: "learn" and what follows it, ended by null. Returns the exit code of what was run, or 2.
int learn_command(char** arguments);

}  // namespace millrace::tools
