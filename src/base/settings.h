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

namespace millrace {

enum class SettingKind {
  on_off,  // 0 1 off on no yes false true
  choice,  // one of `values`, separated by '|'
  count,   // an integer of at least 1, or a word that `values` begins with: "auto|N"
  names,   // names separated by commas, each checked by whoever uses them
  bytes,   // 4096, 512KiB, 32MiB, 1GiB
  text,    // anything
};

struct Setting {
  const char* variable;  // "MILLRACE_ISA"
  SettingKind kind;
  const char* values;    // what may be given, as a user reads it
  const char* standard;  // the value when the variable is absent or empty
  const char* doc;       // one line
};

std::span<const Setting> settings();
const Setting* find_setting(std::string_view variable);  // null if there is none of that name

// Values taken from one environment, checked. Reading never fails: what is unknown or malformed falls back to the
// standard value and is described in `complaints`, one line each, for rank 0 to say once.
struct SettingValues {
  bool enabled = true;                                  // MILLRACE
  std::vector<std::string> disabled;                    // MILLRACE_DISABLE
  std::string isa = "auto";                             // MILLRACE_ISA
  std::string substitute = "auto";                      // MILLRACE_SUBSTITUTE
  std::string collectives = "auto";                     // MILLRACE_COLLECTIVES
  std::int64_t buffers_bytes = std::int64_t{32} << 20;  // MILLRACE_BUFFERS
  std::string threads = "auto";                         // MILLRACE_THREADS
  std::int64_t threads_bytes = std::int64_t{8} << 20;   // MILLRACE_THREADS_BYTES
  std::string order = "auto";                           // MILLRACE_ORDER
  std::string wait = "auto";                            // MILLRACE_WAIT
  std::string tree;                                     // MILLRACE_TREE
  std::string algorithm;                                // MILLRACE_ALGORITHM
  std::string single_copy = "auto";                     // MILLRACE_SINGLE_COPY
  std::string pmpi = "host";                            // MILLRACE_PMPI
  std::string report = "0";                             // MILLRACE_REPORT: "0", "1" or a file name
  std::string log = "warning";                          // MILLRACE_LOG
  std::vector<std::string> complaints;

  bool reports() const { return report != "0"; }
};

// `environment` is an environ-style array ended by a null pointer.
SettingValues read_settings(const char* const* environment);

// What is wrong with a value for a setting, as one line; nothing if it is right.
std::optional<std::string> setting_complaint(const Setting& setting, std::string_view text);

// The value in force for one setting, as text (for `millrace info`); `standard` if not given or malformed.
std::string setting_text(const Setting& setting, const char* const* environment);

}  // namespace millrace
