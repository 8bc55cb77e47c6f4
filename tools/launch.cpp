#include "tools/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/settings.h"
#include "tools/elf.h"
#include "tools/learn/srun_options.h"
#include "tools/parents.h"
#include "tools/privileges.h"
#include "tools/program.h"
#include "tools/variant.h"

namespace millrace::tools {
namespace {

// What stops a command from running, with the fix.
std::string failure(std::string_view name, int error) {
  if (name.empty()) return "the program's name is empty";
  const bool has_directory = name.find('/') != std::string_view::npos;
  if (error == ENOENT && !has_directory) {
    if (access(fmt::format("./{}", name).c_str(), F_OK) == 0)
      return fmt::format("{}: not found in PATH; to run the one in this directory: ./{}", name, name);
    return fmt::format("{}: not found in PATH; check the name, or give its path", name);
  }
  if (error == ENOENT) return fmt::format("{}: no such file; check the path", name);
  if (error == EISDIR) return fmt::format("{}: is a directory; give the path of a program in it", name);
  if (error == EACCES) return fmt::format("{}: may not be executed; if it is a program: chmod +x {}", name, name);
  return fmt::format("{}: {}", name, std::strerror(error));
}

// Why a binary cannot take a preload; empty if it can.
std::string obstacle(const ElfFile& file, const std::string& binary) {
  if (!file.is_native())
    return fmt::format("it is built for {}, Millrace for another machine", machine_name(file.machine()));
  if (file.loader().empty()) return "it is statically linked; link it to a shared MPI library";
  if (gains_privileges(binary)) return "it is setuid, setgid or has capabilities, so the system ignores preloads";
  return {};
}

Host find_host(const Request& request, const Environment& environment, const std::string& binary, const ElfFile& file) {
  if (request.mpi) return host_from_option(*request.mpi);
  if (auto host = host_of_program(file, binary, environment)) return std::move(*host);
  return host_from_surroundings(binary, environment);
}

std::vector<std::string> words_of(char** words) {
  std::vector<std::string> result;
  for (char** word = words; *word; ++word) result.emplace_back(*word);
  return result;
}

// Slurm's commands that ask for nodes: MPI programs run in what they start.
bool starts_jobs(std::string_view program) { return base_name(program) == "sbatch" || base_name(program) == "salloc"; }

// As execvp, but a binary for another machine is not handed to the shell. Returns the errno.
int replace_process(const Plan& plan, char** arguments) {
  execv(plan.program.c_str(), arguments);
  const int error = errno;
  if (error != ENOEXEC || ElfFile::open(plan.program)) return error;
  std::vector<char*> words{const_cast<char*>("/bin/sh"), const_cast<char*>(plan.program.c_str())};
  for (char** word = arguments + 1; *word; ++word) words.push_back(*word);
  words.push_back(nullptr);
  execv(words[0], words.data());
  return errno;
}

}  // namespace

int exit_code_of(int error) { return error == ENOENT ? 127 : 126; }

Plan make_plan(const Request& request, const Environment& environment, const std::string& command) {
  Plan plan;
  const std::string_view name = request.program[0];
  const std::string_view search_path = environment.get("PATH").value_or("/bin:/usr/bin");
  Program program = find_program(name, search_path);
  if (program.error) {
    plan.error = program.error;
    plan.notice = failure(name, program.error);
    return plan;
  }
  plan.program = std::move(program.path);
  Program binary = find_binary(plan.program, search_path);
  if (binary.error) {
    plan.error = binary.error;
    plan.notice = fmt::format("{}: its interpreter cannot be run; check its first line", plan.program);
    return plan;
  }
  plan.binary = std::move(binary.path);

  plan.is_quiet = !read_settings(environment.entries()).enabled || is_same_file(plan.binary, command);
  if (plan.is_quiet) return plan;
  const auto runs_without = [&](const std::string& why) {
    plan.notice = fmt::format("{} runs without Millrace: {}", name, why);
    return plan;
  };
  if (has_multi_prog(words_of(request.program)))
    return runs_without(
        "its programs stand in the file of --multi-prog: write millrace in front of each of them there");
  if (is_mpi_launcher(plan.program))
    return runs_without(fmt::format("millrace belongs after it: {} ... millrace PROGRAM", base_name(plan.program)));
  if (starts_jobs(plan.program))
    return runs_without("it starts no ranks; write millrace where the job does: srun ... millrace PROGRAM");
  const auto file = ElfFile::open(plan.binary);
  if (!file) return runs_without("it is not an ELF program");
  if (const std::string why = obstacle(*file, plan.binary); !why.empty()) return runs_without(why);
  plan.host = find_host(request, environment, plan.binary, *file);
  if (plan.host.abi == Abi::unknown) {
    if (!plan.host.reason.empty()) return runs_without(plan.host.reason);
    return runs_without("it needs no MPI library; if it loads one later, --mpi openmpi, mpich or abi says which");
  }

  const std::string directory = preload_directory(command);
  if (directory.find_first_of(" :$") != std::string::npos)
    return runs_without(
        fmt::format("LD_PRELOAD cannot name {}; move Millrace to a path without blanks, ':' and '$'", directory));
  const std::vector<ExportList> lists = read_export_lists(directory, plan.host.abi);
  if (lists.empty())
    return runs_without(fmt::format("no preload for {} is installed with {}", abi_title(plan.host.abi), command));
  const MpiLibrary* library =
      plan.host.library && plan.host.library->abi == plan.host.abi ? &*plan.host.library : nullptr;
  Defines defines;
  if (library) defines = [library](std::string_view entry) { return library->file->defines(entry); };
  const ExportList* list = choose_export_list(lists, plan.host.abi, defines);
  if (!list && library)
    return runs_without(
        fmt::format("{} is too old, it lacks {}", library->path, missing_entry(lists.front(), defines)));
  if (!list) return runs_without(fmt::format("{} holds no base list for {}", directory, abi_title(plan.host.abi)));
  // The loader would complain of it in each rank, and go on without.
  if (const auto preload = ElfFile::open(list->path); !preload || !preload->is_native())
    return runs_without(fmt::format("{} is damaged; install Millrace anew, all of it", list->path));
  plan.preload = list->path;
  plan.ld_preload = with_preload(environment.get("LD_PRELOAD").value_or(""), list->path);
  return plan;
}

int run(const Plan& plan, const Request& request) {
  const std::pair<const std::optional<std::string>&, const char*> variables[] = {{request.isa, "MILLRACE_ISA"},
                                                                                 {request.disable, "MILLRACE_DISABLE"},
                                                                                 {request.report, "MILLRACE_REPORT"},
                                                                                 {request.learn, "MILLRACE_LEARN"},
                                                                                 {request.log, "MILLRACE_LOG"}};
  for (const auto& [value, variable] : variables)
    if (value) setenv(variable, value->c_str(), 1);
  if (!plan.preload.empty()) setenv("LD_PRELOAD", plan.ld_preload.c_str(), 1);
  if (plan.error) return exit_code_of(plan.error);
  const int error = replace_process(plan, request.program);
  log(LogLevel::error, fmt::format("{}: {}", plan.program,
                                   error == ENOENT ? "its dynamic loader is missing: is it built for another system?"
                                                   : std::strerror(error)));
  return exit_code_of(error);
}

}  // namespace millrace::tools
