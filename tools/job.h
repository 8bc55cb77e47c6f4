// Runs a user's job, with its launcher, as often as is asked for: with what it prints, how long it takes, and the
// report if one is wanted.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace millrace::tools {

// A directory of our own, gone at the end.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const std::string& path() const { return path_; }  // empty: it could not be made

 private:
  std::string path_;
};

struct JobRun {
  int exit_code = 0;  // 128 + the signal that ended it
  double seconds = 0;
  std::string output, errors;  // what it printed; its input is empty
};

enum class Millrace { off, on, reporting };
enum class Streams { kept, shown };  // shown: the job reads and prints as if it were run by itself; nothing is kept

class Job {
 public:
  explicit Job(std::vector<std::string> words) : words_(std::move(words)) {}

  // Why it cannot be run and compared, as one line that names the fix; empty if it can.
  std::string obstacle() const;
  // One run to its end.
  JobRun run(Millrace millrace, Streams streams = Streams::kept) const;
  // What the last reporting run has written: one report for each node, with one member more, `file`: its file's name,
  // which is "report.NODE.json" if there are other nodes.
  std::vector<nlohmann::json> reports() const;

 private:
  std::vector<std::string> words_;
  Workplace place_;
};

}  // namespace millrace::tools
