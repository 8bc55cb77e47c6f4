// Which file a command runs: the search in PATH as execvp does it, and the interpreters of scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::tools {

struct Program {
  std::string path;  // the file that the kernel would be given; empty if there is none
  int error = 0;     // why not, as errno of execvp: ENOENT, EACCES, ...; EISDIR for a path that is a directory
};

// `search_path` is the value of PATH.
Program find_program(std::string_view name, std::string_view search_path);

// The words of a "#!" line: the interpreter and at most one argument, as Linux splits it; empty if there is no such
// line.
std::vector<std::string> script_interpreter(const std::string& path);

// Follows "#!" lines, and /usr/bin/env, from `path` to the binary that really runs. A text file without "#!" is run by
// /bin/sh, as execvp does.
Program find_binary(const std::string& path, std::string_view search_path);

std::string_view base_name(std::string_view path);
std::string_view directory_name(std::string_view path);  // without the slash; "." if there is none

}  // namespace millrace::tools
