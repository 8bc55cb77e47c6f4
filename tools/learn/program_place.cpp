#include "tools/learn/program_place.h"

#include <algorithm>

#include "tools/learn/srun_options.h"
#include "tools/parents.h"
#include "tools/program.h"

namespace millrace::tools {
namespace {

// Options of launchers whose values could be taken for programs (Open MPI, MPICH, Intel MPI), without dashes.
// srun_options.h has Slurm's.
struct Option {
  std::string_view name;
  std::size_t values;
};
constexpr Option options_with_values[] = {
    {"mca", 2},
    {"gmca", 2},
    {"omca", 2},
    {"prtemca", 2},
    {"pmixmca", 2},
    {"env", 2},
    {"genv", 2},
    {"n", 1},
    {"np", 1},
    {"c", 1},
    {"N", 1},
    {"x", 1},
    {"host", 1},
    {"hosts", 1},
    {"hostfile", 1},
    {"f", 1},
    {"machinefile", 1},
    {"map-by", 1},
    {"bind-to", 1},
    {"rank-by", 1},
    {"wdir", 1},
    {"wd", 1},
    {"path", 1},
    {"launcher", 1},
    {"iface", 1},
    {"ppn", 1},
    {"launcher-exec", 1},
    {"rmk", 1},
    {"envlist", 1},
    {"genvlist", 1},
    {"prefix", 1},
    {"preload-files", 1},
    {"output-filename", 1},
    {"bootstrap", 1},
    {"bootstrap-exec", 1},
    {"personality", 1},
    {"pmix-prefix", 1},
    {"configfile", 1},
};

std::size_t values_of(std::string_view option) {
  if (option.find('=') != std::string_view::npos) return 0;
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  for (const Option& known : options_with_values)
    if (option == known.name) return known.values;
  return 0;
}

bool is_program(const std::string& word, std::string_view search_path) {
  const bool is_named = word.find_first_not_of("0123456789") != std::string::npos;
  return is_named && find_program(word, search_path).error == 0;
}

}  // namespace

std::vector<std::size_t> program_places(const std::vector<std::string>& words, std::string_view search_path) {
  if (words.empty()) return {};
  if (!is_mpi_launcher(words.front())) return {0};
  if (has_multi_prog(words)) return {};
  const auto values = is_srun(words.front()) ? values_of_srun_option : values_of;
  std::vector<std::size_t> places;
  std::size_t index = 1;
  while (index < words.size()) {
    // The options of one part, its program, and what is the program's.
    while (index < words.size() && words[index] != ":" &&
           !(words[index][0] != '-' && is_program(words[index], search_path)))
      index += words[index].starts_with('-') ? 1 + values(words[index]) : 1;
    if (index >= words.size() || words[index] == ":") return {};
    places.push_back(index);
    while (index < words.size() && words[index] != ":") ++index;
    if (index++ == words.size() - 1) return {};  // nothing behind the colon
  }
  return places;
}

}  // namespace millrace::tools
