#include <filesystem>

#include "tools/check/check.h"
#include "tools/command_app.h"

namespace millrace::tools {
namespace {

// In the build tree the command lies beside share/, installed in PREFIX/bin beside PREFIX/share. In a Python
// environment everything is in lib/: of other directories, those that nobody else has used would stay behind, empty.
std::string find_sources(const std::string& launcher) {
  const std::filesystem::path directory = std::filesystem::path(launcher).parent_path();
  const auto prefix = directory.parent_path();
  for (const auto& data : {directory / "share", prefix / "share", prefix / "lib"}) {
    const auto sources = data / "millrace/check";
    if (std::filesystem::exists(sources / "driver.c")) return sources.string();
  }
  return {};
}

}  // namespace

int check_command(char** arguments, const std::string& launcher, const std::optional<std::string>& mpi) {
  int count = 0;
  while (arguments[count]) ++count;
  CheckOptions options;
  options.launcher = launcher;
  options.mpi = mpi;
  options.sources = find_sources(launcher);

  CommandApp app("Calls every entry of the host MPI under Millrace and names those that Millrace did not see.",
                 "millrace check");
  app.add_option("--mpi", options.mpi, "the MPI, when it cannot be seen from the programs")
      ->type_name("openmpi|mpich|abi|LIBRARY");
  app.add_option("--mpicc", options.mpicc, "the C compiler wrapper of the host MPI")->type_name("COMMAND");
  app.add_option("--mpif90", options.mpif90, "the Fortran compiler wrapper; the one beside mpicc if not given")
      ->type_name("COMMAND");
  app.add_option("--fortran-flag", options.fortran_flags, "one more word for it, e.g. -I and where its modules lie")
      ->type_name("FLAG")
      ->allow_extra_args(false);
  app.add_option("--python", options.python, "the Python that has mpi4py; the one beside mpicc if not given")
      ->type_name("COMMAND");
  app.add_option("--run-env", options.run_environment, "a variable for the programs, not for the compilers")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check([](const std::string& word) {
        return word.find('=') == std::string::npos ? "--run-env: " + word + ": not NAME=VALUE" : std::string{};
      });
  app.add_option("--preload", options.preload, "check this preload, whatever the launcher would choose")
      ->type_name("LIBRARY");
  app.add_option("--sources", options.sources, "where the sources of the programs lie")->type_name("DIRECTORY");
  app.add_flag("--verbose,-v", options.verbose, "name what is not in this host, and show what compilers say");
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return run_check(options);
}

}  // namespace millrace::tools
