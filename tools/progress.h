// Long work says on standard error what it is at: on a terminal in one line that is written over, elsewhere a line for
// each step, and one every ten seconds within a step whose end is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::tools {

class Progress {
 public:
  // `name`: what begins each line, "millrace tune".
  explicit Progress(std::string name);
  Progress(std::string name, int descriptor);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::string_view what);
  // Of the step's work; with an estimate of the time left, from the time that it has taken so far.
  void part(std::size_t done, std::size_t all);
  // Before something else is printed.
  void clear();

 private:
  void write(const std::string& line);

  std::string name_, step_;
  int descriptor_;
  bool is_terminal_, is_dirty_ = false;
  std::uint64_t begin_ns_ = 0, said_ns_ = 0;
};

// "12 s", "3 min", "2 h".
std::string rough_time(double seconds);

}  // namespace millrace::tools
