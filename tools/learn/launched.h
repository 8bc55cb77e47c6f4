// Running a user's program with its launcher, with our command in front of every program of it.
#pragma once

#include <string>
#include <vector>

namespace millrace::tools {

// `words` with `before` in front of every program's place (program_place.h); where `millrace` stands there already,
// what follows its name in `before` comes behind it. Empty: no program was found. `before`: words, one of them
// own_path(), its options behind it.
std::vector<std::string> in_front_of_programs(const std::vector<std::string>& words,
                                              const std::vector<std::string>& before);

// To its end; signals that are meant for it reach it. Its exit code, or 128 + the signal that ended it. `silent`: what
// it prints is thrown away.
int run_to_end(std::vector<std::string>& words, bool silent = false);
// The signal by which we were told to end while something ran, or 0.
int stopped_by();

}  // namespace millrace::tools
