#include "shim/call/disabled_entries.h"

#include <algorithm>
#include <bitset>
#include <string>

namespace millrace::shim {
namespace {

std::bitset<entry_count> disabled_entries;

}  // namespace

bool is_disabled(const SettingValues& settings, std::string_view name) {
  return std::any_of(settings.disabled.begin(), settings.disabled.end(), [name](const std::string& disabled) {
    return name == disabled || (disabled.starts_with("MPI_") && name == std::string_view(disabled).substr(4));
  });
}

void read_disabled_entries(const SettingValues& settings) {
  for (std::size_t entry = 0; entry < entry_count; ++entry)
    disabled_entries[entry] = is_disabled(settings, std::string_view(entry_names()[entry]).substr(4));
}

bool is_disabled_entry(Symbol symbol) { return disabled_entries[static_cast<std::size_t>(symbol_entry(symbol))]; }

}  // namespace millrace::shim
