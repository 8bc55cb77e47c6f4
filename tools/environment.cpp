#include "tools/environment.h"

#include <charconv>

#include "base/launcher.h"

namespace millrace::tools {
namespace {

struct Mark {
  const char* variable;
  Abi abi;
  const char* who;
};

// In order of how much they prove. Intel's hydra leaves MPICH's variables as well: both lead to the same interface.
constexpr Mark marks[] = {
    {"OMPI_COMM_WORLD_SIZE", Abi::openmpi, "Open MPI's launcher"},
    {"I_MPI_HYDRA_UUID", Abi::mpich, "Intel MPI's launcher"},
    {"HYDI_CONTROL_FD", Abi::mpich, "MPICH's launcher"},
    {"MPI_LOCALNRANKS", Abi::mpich, "MPICH's launcher"},
    {"MV2_COMM_WORLD_SIZE", Abi::mpich, "MVAPICH's launcher"},
    {"PALS_RANKID", Abi::mpich, "Cray's launcher"},
    {"PMI_FD", Abi::mpich, "a launcher of the MPICH family"},
};

// Variables that name an installation, if the launcher or a module set them.
constexpr Mark prefix_variables[] = {
    {"OPAL_PREFIX", Abi::openmpi, ""},
    {"MPI_HOME", Abi::unknown, ""},
    {"I_MPI_ROOT", Abi::mpich, ""},
};

}  // namespace

std::optional<std::string_view> Environment::get(std::string_view variable) const {
  for (const char* const* entry = entries_; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (text.size() > variable.size() && text[variable.size()] == '=' && text.substr(0, variable.size()) == variable)
      return text.substr(variable.size() + 1);
  }
  return std::nullopt;
}

EnvironmentHint hint_from_environment(const Environment& environment) {
  EnvironmentHint hint;
  for (const Mark& mark : marks) {
    if (!environment.get(mark.variable)) continue;
    hint.abi = mark.abi;
    hint.reason = std::string(mark.variable) + " was set by " + mark.who;
    break;
  }
  for (const Mark& mark : prefix_variables) {
    const auto prefix = environment.get(mark.variable);
    const bool fits = mark.abi == Abi::unknown || hint.abi == Abi::unknown || mark.abi == hint.abi;
    if (prefix && !prefix->empty() && fits) hint.prefixes.emplace_back(*prefix);
  }
  return hint;
}

std::optional<int> rank_from_environment(const Environment& environment) {
  for (const char* variable : rank_variables) {
    const auto text = environment.get(variable);
    if (!text) continue;
    int rank = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), rank);
    if (error == std::errc{} && end == text->data() + text->size() && rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace millrace::tools
