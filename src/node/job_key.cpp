#include "node/job_key.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "shared_memory/process.h"

namespace millrace::node {
namespace {

// Equal on all ranks of a job that one daemon started, whatever scripts stand between it and them.
constexpr std::array<const char*, 12> job_variables{
    "PMIX_NAMESPACE", "PMI_PORT",    "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID", "FLUX_JOB_ID",
    "PALS_APID",      "ALPS_APP_ID", "LSB_JOBID", "LS_JOBPID",    "PBS_JOBID",     "OMPI_MCA_ess_base_jobid"};
// These tell jobs apart, if nobody has merely inherited them; the others belong to an allocation, where several jobs
// may run at once.
constexpr std::array<std::string_view, 4> of_one_job{"PMIX_NAMESPACE", "PMI_PORT", "PALS_APID", "ALPS_APP_ID"};

std::uint64_t inode_of(const char* path) {
  struct stat found {};
  return stat(path, &found) == 0 ? found.st_ino : 0;
}

std::string process_words(const char* kind, pid_t process) {
  return fmt::format("{}={}@{}", kind, process, shared_memory::start_time_of(process));
}

// Who is at the other end of the socket that the launcher left us.
pid_t pmi_daemon(const char* text) {
  if (!text) return 0;
  char* end = nullptr;
  const long descriptor = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || descriptor < 0) return 0;
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(static_cast<int>(descriptor), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
  return peer.pid;
}

// Processes of a job that was started inside another with PMIx have the variables of that one, and all of them the same
// rank there.
bool is_inherited(std::string_view variable, const KeySources& sources) {
  if (variable != "PMIX_NAMESPACE") return false;
  const char* rank = sources.environment("PMIX_RANK");
  return !rank || rank != std::to_string(sources.rank);
}

// One for each version of the protocol that the server speaks; with its port.
std::vector<std::string> server_addresses(char** variables) {
  std::vector<std::string> found;
  for (; variables && *variables; ++variables)
    if (std::string_view(*variables).starts_with("PMIX_SERVER_URI")) found.emplace_back(*variables);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

KeySources process_sources(int rank) {
  return {rank, [](const char* variable) { return static_cast<const char*>(std::getenv(variable)); }, environ};
}

std::string job_key(const KeySources& sources) {
  // Not which boot of the machine this is, which takes the kernel 16 us to say: what it names is gone with the memory.
  std::string key = fmt::format("user={} pid-ns={} net-ns={} user-ns={}", geteuid(), inode_of("/proc/self/ns/pid"),
                                inode_of("/proc/self/ns/net"), inode_of("/proc/self/ns/user"));
  bool known = false;
  for (const char* variable : job_variables) {
    const char* value = sources.environment(variable);
    if (!value || !*value) continue;
    key += fmt::format(" {}={}", variable, value);
    const bool is_of_job = std::find(of_one_job.begin(), of_one_job.end(), variable) != of_one_job.end();
    known = known || (is_of_job && !is_inherited(variable, sources));
  }
  for (const std::string& address : server_addresses(sources.all_variables)) key += ' ' + address;
  if (const pid_t daemon = pmi_daemon(sources.environment("PMI_FD")); daemon > 0) {
    key += ' ' + process_words("pmi", daemon);
    known = true;
  }
  if (!known) key += ' ' + process_words("parent", getppid());
  return key;
}

}  // namespace millrace::node
