// The launcher's own options. They end at the first word that is not one; everything after it is the program's.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace millrace::tools {

enum class Action {
  launch,
  explain,
  info,
  check,
  explain_type,
  explain_call,
  simulate,
  tune,
  learn,
  preload,
  compare,
  bench,
  doctor,
  report,
  stop
};

// Words that are commands of the launcher where a program could stand. --help, manual pages and completions list them.
struct Command {
  const char* name;
  Action action;
  const char* usage;  // what follows `millrace`; several ways on lines of their own
  const char* doc;
};
std::span<const Command> commands();

inline constexpr int usage_error = 2;

struct Request {
  Action action = Action::stop;
  int exit_code = 0;    // for `stop`: help and version were printed, or the command line is wrong
  std::string mistake;  // what is wrong with it, one line
  std::optional<std::string> mpi, isa, disable, report, learn, log;
  bool whole_job = false;    // all ranks of the job are started with us
  char** program = nullptr;  // the program and its arguments, or the subcommand's: the end of argv itself
};

Request parse_command_line(int argument_count, char** arguments);

}  // namespace millrace::tools
