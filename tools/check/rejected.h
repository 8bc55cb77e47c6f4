// The generated Fortran source, without the calls that a host's compiler or linker does not take.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace millrace::tools::check {

class CallSource {
 public:
  explicit CallSource(const std::filesystem::path& path);

  void write(const std::filesystem::path& path) const;
  void leave_out(const std::set<std::string>& entries);

  // The entries whose lines a compiler complains about: FILE:LINE or FILE(LINE), as all compilers have it.
  std::set<std::string> rejected_by_compiler(const std::string& output, const std::string& file) const;
  // The entries in whose functions a linker misses something.
  std::set<std::string> rejected_by_linker(const std::string& output, const std::string& language) const;

 private:
  struct Line {
    std::string text;
    std::string entry;  // empty outside the functions of entries
  };
  std::vector<Line> lines_;
};

}  // namespace millrace::tools::check
