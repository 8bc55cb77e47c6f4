#include "tools/own_ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/executables.h"
#include "tools/launch.h"

namespace millrace::tools {

std::string restart_under_preload(std::vector<std::string> words, const std::optional<std::string>& mpi) {
  const std::string own = own_path();
  // A program that needs no MPI itself: so what is around it tells which one is meant.
  char shell[] = "/bin/sh";
  char* program[] = {shell, nullptr};
  Request request;
  request.program = program;
  request.mpi = mpi;
  const Environment environment(environ);
  const Plan plan = make_plan(request, environment, own);
  std::optional<MpiLibrary> library = plan.host.library;
  if (!library && mpi) library = host_from_surroundings(shell, environment).library;
  if (plan.preload.empty() || !library || library->abi != plan.host.abi)
    return mpi ? fmt::format("--mpi {}: no library of it was found; give the library's path", *mpi)
               : "it belongs to no MPI that Millrace knows; give the launcher of one";
  setenv("LD_PRELOAD", plan.ld_preload.c_str(), 1);
  words.insert(words.begin(), own);
  words.insert(words.end(), {abi_word(library->abi), library->path});
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(own.c_str(), pointers.data());
  return fmt::format("{} cannot be started again: {}", own, std::strerror(errno));
}

std::string load_host(const std::string& library) {
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) return {};
  const char* const why = dlerror();
  return fmt::format("{} cannot be loaded: {}", library, why ? why : "");
}

}  // namespace millrace::tools
