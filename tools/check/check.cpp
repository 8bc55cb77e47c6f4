#include "tools/check/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/log.h"
#include "tools/check/process.h"
#include "tools/check/programs.h"
#include "tools/check/results.h"
#include "tools/check/workplace.h"
#include "tools/check/wrappers.h"
#include "tools/host.h"
#include "tools/progress.h"

namespace millrace::tools {
namespace {

using namespace check;

constexpr int run_timeout_seconds = 300;
constexpr const char* python_title = "mpi4py";
constexpr int preload_is_missing = 3;  // exit code of the programs

class Check {
 public:
  Check(const CheckOptions& options, Toolchain toolchain) : options_(options), toolchain_(std::move(toolchain)) {}

  bool run() {
    step("C: compiling the calls");
    check_program("C", build_c(toolchain_), {});
    if (is_uncovered_) return false;
    if (toolchain_.fortran.empty()) {
      say("Fortran: skipped: no Fortran compiler wrapper");
    } else {
      step("mpif.h: compiling the calls");
      const Results mpifh = check_program("mpif.h", build_fortran(toolchain_, "mpifh"), {});
      // The same symbols with another interface: what a host's module declares wrongly has been called already.
      check_module("mpi", "usempi", mpifh.with("seen"));
      check_module("mpi_f08", "f08", {});
    }
    check_python();
    return all_well_;
  }

 private:
  void step(const std::string& what) {
    if (!is_interrupted()) progress_.step(what);
  }
  void say(const std::string& line) {
    progress_.clear();
    std::puts(line.c_str());
  }

  Command under_millrace(std::vector<std::string> words) const {
    Command command{{}, toolchain_.workplace.string(), {}};
    for (const std::string& variable : options_.run_environment) {
      const std::size_t equals = variable.find('=');
      command.environment.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
    }
    if (options_.preload) {
      command.environment.emplace_back("LD_PRELOAD", *options_.preload);
    } else {
      command.words.push_back(options_.launcher);
      if (options_.mpi) command.words.push_back("--mpi=" + *options_.mpi);
    }
    command.words.insert(command.words.end(), words.begin(), words.end());
    return command;
  }

  void fail(const std::string& title, const std::string& why) {
    all_well_ = false;
    say(fmt::format("{}: not checked: {}", title, why));
  }

  Results check_program(const std::string& title, const Program& program, const std::set<std::string>& excused) {
    if (is_interrupted()) return {};
    if (program.path.empty()) {
      fail(title, program.complaint);
      return {};
    }
    return run_program(title, {program.path.string()}, excused);
  }

  Results run_program(const std::string& title, std::vector<std::string> words, const std::set<std::string>& excused) {
    step(title + ": making every call");
    const std::filesystem::path path = toolchain_.workplace / "results";
    std::filesystem::remove(path);
    words.push_back(path.string());
    const Finished finished = run_to_end(under_millrace(std::move(words)), run_timeout_seconds);
    if (is_interrupted()) return {};
    progress_.clear();
    Results results = read_results(path);
    if (finished.exit_code == preload_is_missing) {
      is_uncovered_ = true;
      fail(title, "Millrace is not in front of this host:\n" + finished.output);
    } else if (!results.complete) {
      const std::string how = finished.timed_out ? "did not end" : fmt::format("exit code {}", finished.exit_code);
      fail(title, fmt::format("the program failed ({}):\n{}", how, finished.output));
    } else if (title == python_title && !is_same_host(results)) {
      std::puts(fmt::format("{}: skipped: it uses {}", title, results.host).c_str());
    } else {
      say_where(results);
      all_well_ = print_results(title, results, excused, options_.verbose) && all_well_;
    }
    return results;
  }

  // A Python beside the wrapper may have chosen another MPI of the same installation. In wheels, which cannot hold
  // links, libmpi.so and libmpi.so.12 are copies.
  bool is_same_host(const Results& results) const {
    std::error_code error;
    const std::filesystem::path one(host_), other(results.host);
    return host_.empty() || std::filesystem::equivalent(one, other, error) ||
           (std::filesystem::equivalent(one.parent_path(), other.parent_path(), error) &&
            std::filesystem::file_size(one, error) == std::filesystem::file_size(other, error));
  }

  void say_where(const Results& results) {
    if (host_.empty()) std::puts(fmt::format("{} behind {}", results.host, results.preload).c_str());
    host_ = results.host;
  }

  void check_module(const std::string& name, const std::string& language, const std::set<std::string>& excused) {
    const std::string title = "use " + name;
    if (is_interrupted()) return;
    step(title + ": compiling the calls");
    if (has_module(toolchain_, name))
      check_program(title, build_fortran(toolchain_, language), excused);
    else
      say(fmt::format("{}: skipped: the Fortran compiler finds no such module", title));
  }

  void check_python() {
    const auto python = options_.python ? find_command(*options_.python) : python_beside(toolchain_.mpicc);
    if (is_interrupted()) return;
    if (!python && options_.python) return fail("mpi4py", *options_.python + ": no such command");
    if (!python) return say("mpi4py: skipped: no python3");
    const Finished found =
        run_to_end({{*python, "-c", "import mpi4py"}, toolchain_.workplace.string(), {}}, run_timeout_seconds);
    if (found.exit_code != 0) return say(fmt::format("mpi4py: skipped: {} has none", *python));
    const std::string script = (toolchain_.sources / "check_mpi4py.py").string();
    run_program(python_title, {*python, script, (toolchain_.sources / "entries.list").string()}, {});
  }

  const CheckOptions& options_;
  const Toolchain toolchain_;
  std::string host_;  // the library that the C program ran on
  Progress progress_{"millrace check"};
  bool all_well_ = true;
  bool is_uncovered_ = false;  // the launcher knows no preload for this host, or was told not to use one
};

}  // namespace

int run_check(const CheckOptions& options) {
  const auto complain = [](const std::string& what) {
    log(LogLevel::error, what);
    return 2;
  };
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::path(options.sources) / "driver.c", error))
    return complain("check: the sources of the programs are missing: share/millrace/check beside the command");
  if (const Host host = options.mpi ? host_from_option(*options.mpi) : Host{}; options.mpi && host.abi == Abi::unknown)
    return complain("check: " + host.reason);
  const auto mpicc = find_command(options.mpicc);
  if (!mpicc) return complain(fmt::format("check: {}: no such compiler wrapper; give one with --mpicc", options.mpicc));
  const auto mpif90 = options.mpif90 ? find_command(*options.mpif90) : fortran_beside(*mpicc);
  if (options.mpif90 && !mpif90) return complain(fmt::format("check: {}: no such compiler wrapper", *options.mpif90));
  std::vector<std::string> fortran(options.fortran_flags);
  if (mpif90)
    fortran.insert(fortran.begin(), *mpif90);
  else
    fortran.clear();
  catch_interrupts();
  const Workplace workplace;
  if (workplace.path().empty()) return complain("check: cannot make a temporary directory");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const bool is_well =
      Check(options, {std::filesystem::absolute(options.sources), workplace.path(), *mpicc, std::move(fortran)}).run();
  if (is_interrupted()) return 128 + 2;
  return is_well ? 0 : 1;
}

}  // namespace millrace::tools
