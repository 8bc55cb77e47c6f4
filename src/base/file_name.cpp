#include "base/file_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <cstdlib>

namespace millrace {
namespace {

constexpr std::string_view letters = "hjp%";

// Of batch systems first: a job there may start several launchers. Then what launchers call a job: PMIx (Open MPI 5,
// Slurm), Open MPI 4, Hydra. All are the same on the ranks of a job.
constexpr std::array job_variables{
    "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",      "FLUX_JOB_ID", "COBALT_JOBID",           "OAR_JOB_ID",
    "PJM_JOBID",    "PALS_APID", "PMIX_NAMESPACE", "PMI_JOBID",   "OMPI_MCA_ess_base_jobid"};

// Of what stands in the environment no directory may come, nor anything that a shell takes apart.
std::string harmless(std::string_view text) {
  constexpr std::size_t most = 64;
  std::string name(text.substr(0, most));
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char letter) { return std::isalnum(letter) == 0 && letter != '.' && letter != '-'; }, '_');
  return name;
}

// Calls `take` with each letter behind a percent sign, 0 for one at the end, and gives the rest to `plain`.
template <class Plain, class Take>
void read_pattern(std::string_view pattern, Plain plain, Take take) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%')
      plain(pattern[at]);
    else if (++at < pattern.size())
      take(pattern[at]);
    else
      take('\0');
  }
}

}  // namespace

std::optional<std::string> unknown_percent(std::string_view pattern) {
  std::optional<std::string> unknown;
  read_pattern(
      pattern, [](char) {},
      [&](char letter) {
        if (!unknown && (letter == '\0' || letters.find(letter) == std::string_view::npos))
          unknown = letter == '\0' ? std::string("%") : std::string{'%', letter};
      });
  return unknown;
}

bool names_by(std::string_view pattern, char letter) {
  bool found = false;
  read_pattern(
      pattern, [](char) {}, [&](char behind) { found = found || behind == letter; });
  return found;
}

std::string node_name() {
  char name[HOST_NAME_MAX + 1] = "";
  return gethostname(name, sizeof name - 1) == 0 && *name ? name : "node";
}

std::string job_name(const char* (*variable)(const char*)) {
  for (const char* name : job_variables)
    if (const char* value = variable(name); value && *value) return harmless(value);
  return fmt::format("pid{}", getppid());
}

std::string file_name_of(std::string_view pattern) {
  std::string name;
  read_pattern(
      pattern, [&](char letter) { name += letter; },
      [&](char letter) {
        switch (letter) {
          case 'h': name += harmless(node_name()); break;
          case 'j': name += job_name([](const char* of) { return static_cast<const char*>(std::getenv(of)); }); break;
          case 'p': name += std::to_string(getpid()); break;
          case '%': name += '%'; break;
          default: break;  // settings have no other (unknown_percent)
        }
      });
  return name;
}

std::string literal_name(std::string_view text) {
  std::string pattern;
  for (const char letter : text) pattern.append(letter == '%' ? 2 : 1, letter);
  return pattern;
}

}  // namespace millrace
