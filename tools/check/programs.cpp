#include "tools/check/programs.h"

#include <fstream>
#include <set>

#include "tools/check/process.h"
#include "tools/check/rejected.h"

namespace millrace::tools::check {
namespace {

constexpr int compile_timeout_seconds = 300;
// What the library at hand lacks may be in the one that the program runs on: the dynamic linker decides.
constexpr const char* dynamic_weak = "-Wl,-z,dynamic-undefined-weak";
constexpr int most_rounds = 100;  // compilers stop after some number of errors

std::vector<std::string> fortran_command(const Toolchain& toolchain, std::vector<std::string> words) {
  words.insert(words.begin(), toolchain.fortran.begin(), toolchain.fortran.end());
  return words;
}

Finished run_compiler(const Toolchain& toolchain, std::vector<std::string> words) {
  return run_to_end({std::move(words), toolchain.workplace.string(), {{"LC_ALL", "C"}}}, compile_timeout_seconds);
}

// Compiles one C source of the check; returns the complaint, empty if there is none.
std::string compile_c(const Toolchain& toolchain, const std::string& name) {
  const Finished finished = run_compiler(toolchain, {toolchain.mpicc, "-w", "-fPIC", "-I", toolchain.sources, "-c",
                                                     toolchain.sources / (name + ".c"), "-o", name + ".o"});
  return finished.exit_code == 0 ? std::string{} : "cannot compile " + name + ".c:\n" + finished.output;
}

}  // namespace

Program build_c(const Toolchain& toolchain) {
  for (const char* name : {"driver", "rows_c"})
    if (std::string complaint = compile_c(toolchain, name); !complaint.empty()) return {{}, complaint};
  const Finished linked =
      run_compiler(toolchain, {toolchain.mpicc, "-w", "-o", "check_c", "driver.o", "rows_c.o", "-ldl", dynamic_weak});
  if (linked.exit_code != 0) return {{}, "cannot link:\n" + linked.output};
  return {toolchain.workplace / "check_c", {}};
}

Program build_fortran(const Toolchain& toolchain, const std::string& language) {
  const std::string calls = "calls_" + language, rows = "rows_" + language, program = "check_" + language;
  for (const std::string& name : {std::string("driver"), rows})
    if (std::string complaint = compile_c(toolchain, name); !complaint.empty()) return {{}, complaint};

  CallSource source(toolchain.sources / (calls + ".F90"));
  Finished finished;
  for (int round = 0; round < most_rounds && !is_interrupted(); ++round) {
    source.write(toolchain.workplace / (calls + ".F90"));
    finished = run_compiler(toolchain, fortran_command(toolchain, {"-w", "-c", calls + ".F90", "-o", calls + ".o"}));
    std::set<std::string> rejected = source.rejected_by_compiler(finished.output, calls + ".F90");
    if (finished.exit_code == 0) {
      finished = run_compiler(
          toolchain, fortran_command(toolchain, {"-w", "-o", program, calls + ".o", "driver.o", rows + ".o", "-ldl"}));
      if (finished.exit_code == 0) return {toolchain.workplace / program, {}};
      rejected = source.rejected_by_linker(finished.output, language);
    }
    if (rejected.empty()) break;
    source.leave_out(rejected);
  }
  return {{}, "cannot build " + calls + ".F90:\n" + finished.output};
}

bool has_module(const Toolchain& toolchain, const std::string& name) {
  const std::filesystem::path source = toolchain.workplace / ("has_" + name + ".F90");
  std::ofstream(source) << "program has\n  use " << name << "\nend program\n";
  return run_compiler(toolchain, fortran_command(toolchain, {"-w", "-c", source.string(), "-o", "has.o"})).exit_code ==
         0;
}

}  // namespace millrace::tools::check
