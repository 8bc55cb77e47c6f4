// The table of settings: the one place that says which MILLRACE_ variables exist, what they mean and what they
// hold by default. Everything that reads, lists or checks a setting goes through it (model: ucx config parser).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace millrace {

struct SettingValues;

struct Setting {
  const char* variable;  // "MILLRACE_ISA"
  // Reads a text that is not empty into its member. The value in force as a user would write it; nothing, and nothing
  // is stored, if the text is malformed.
  std::optional<std::string> (*read)(const Setting& setting, std::string_view text, SettingValues& values);
  const char* values;    // what may be given, as a user reads it: choices are separated by '|'
  const char* standard;  // the value when the variable is absent or empty
  const char* doc;       // one line
};

std::span<const Setting> settings();
const Setting* find_setting(std::string_view variable);  // null if there is none of that name

// What choices mean; their words are in settings.cpp.
enum class When : std::uint8_t {
  automatic,
  always,
  never
};  // where that was measured to be faster; wherever it can be
enum class ReductionOrder : std::uint8_t { automatic, rank };
enum class WaitMode : std::uint8_t { automatic, spin, yield, sleep };
enum class PmpiCalls : std::uint8_t { host, alike };
enum class RegionMarks : std::uint8_t { level, named, off };  // what MPI_Pcontrol says

// Values taken from one environment, checked. Reading never fails: what is unknown or malformed falls back to the
// standard value and is described in `complaints`, one line each, for rank 0 to say once. The table in settings.cpp has
// a row for each.
struct SettingValues {
  SettingValues();  // the standard values

  bool enabled{};
  std::vector<std::string> disabled;  // calls as in the standard without MPI_, and kernels
  std::string isa;
  When substitute{};
  std::int64_t buffers_bytes{};
  std::uint32_t threads{};  // 0: as many as there are cores that nobody else uses
  std::int64_t threads_bytes{};
  When collectives{};
  When layouts{};
  std::string tuning;  // a file, "none", or nothing
  ReductionOrder order{};
  WaitMode wait{};
  std::string tree;
  std::string algorithm;
  When single_copy{};
  When measure{};
  std::string learn;  // a file, or nothing; names of files are patterns (base/file_name.h)
  PmpiCalls pmpi{};
  When nodes{};
  std::uint32_t nodes_wait_seconds{};
  std::uint32_t agree_after_calls{};
  std::string node_split;   // or nothing
  bool report_table{};      // on standard error
  std::string report_file;  // or nothing
  RegionMarks regions{};
  LogLevel log{};
  std::vector<std::string> complaints;

  bool reports() const { return report_table || !report_file.empty(); }
};

// `environment` is an environ-style array ended by a null pointer.
SettingValues read_settings(const char* const* environment);

// What is wrong with a value for a setting, as one line; nothing if it is right.
std::optional<std::string> setting_complaint(const Setting& setting, std::string_view text);

// "4096", "64KiB", "10GB": KB, MB and GB are powers of 1000, KiB, MiB and GiB of 1024, in any case. Nothing if it is
// malformed, negative or more than 1 TiB.
std::optional<std::int64_t> bytes_of(std::string_view text);

// The value in force for one setting, as text (for `millrace info`); `standard` if not given or malformed. Texts that
// mean the same give the same: ranks compare them.
std::string setting_text(const Setting& setting, const char* const* environment);

}  // namespace millrace
