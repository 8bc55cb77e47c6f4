// `millrace learn --advise`: what settings of the host MPI do to a user's program, measured on its own calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace millrace::tools {

struct AdviceRequest {
  std::vector<std::string> words;     // the program with its launcher
  std::vector<std::string> settings;  // "NAME=VALUE", to be tried beside those of the table
  int repeats = 3;
  bool only_shows = false;  // says what would be tried of the settings that it was given, and runs nothing
};

// Runs the program without and with each setting, in turns, and prints what was measured. The exit code of the first
// run if that failed, else 0; 2: no program in the words.
int advise_settings(const AdviceRequest& request);

// One run, out of its report.
struct RunTimes {
  std::uint64_t wall_ns = 0, mpi_ns = 0;       // the longest of a rank; of all ranks together
  std::map<std::string, std::uint64_t> calls;  // time by call, of all ranks together
};

// A setting against none, of runs in turns.
struct Verdict {
  double wall_ratio = 1, mpi_ratio = 1;  // medians: with the setting / without
  bool faster = false, slower = false;   // every run with it is on one side of every run without, and the median by 3 %
  std::string call;                      // whose time changed most
  double call_ratio = 1;
};
// Neither is empty.
Verdict judge(const std::vector<RunTimes>& without, const std::vector<RunTimes>& with);

// What of the table is worth trying: calls with a twentieth of the time inside MPI, the longest first, at most
// `most` settings.
std::vector<std::vector<std::string>> settings_worth_trying(const std::string& host, const RunTimes& run,
                                                            std::size_t most);

}  // namespace millrace::tools
