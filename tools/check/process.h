// Runs one command to its end, with what it prints kept.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::tools::check {

struct Command {
  std::vector<std::string> words;
  std::string directory;
  std::vector<std::pair<std::string, std::string>> environment;  // set on top of ours, which loses every MILLRACE_
};

struct Finished {
  int exit_code = -1;      // -1: it did not end by itself, or could not be run; 128 + N: ended by signal N
  std::string output;      // both streams
  bool timed_out = false;  // or interrupted, or ended by on_output
};

// `on_output` is shown all that was printed whenever there is more. If it returns false, what was printed says enough:
// the command is ended, as by a time-out.
Finished run_to_end(const Command& command, int timeout_seconds,
                    const std::function<bool(const std::string& output)>& on_output = {});

// The last line of what a launcher has printed is where it says what is wrong: "it said: ...".
std::string last_line(const std::string& output);

// Set by SIGINT, SIGTERM and SIGHUP once catch_interrupts() has been called: stop, clean up, and leave.
void catch_interrupts();
bool is_interrupted();
int interrupted_by();  // the signal, or 0

}  // namespace millrace::tools::check
