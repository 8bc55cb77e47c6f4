#include "threads/openmp.h"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>
#include <vector>

namespace millrace::threads {
namespace {

constexpr const char* own_runtime = "libgomp.so.1";

struct OpenMpRuntime {
  void (*parallel)(void (*)(void*), void*, unsigned, unsigned) = nullptr;  // GOMP_parallel
  int (*thread_number)() = nullptr;
  int (*thread_count)() = nullptr;
  int (*in_parallel)() = nullptr;
  int (*active_level)() = nullptr;
  int (*most_threads)() = nullptr;
};
OpenMpRuntime runtime;
bool could_not_load = false;

template <class Function>
bool take(void* object, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(object, name));
  return function != nullptr;
}

bool take_all(void* object, OpenMpRuntime& found) {
  return take(object, "GOMP_parallel", found.parallel) && take(object, "omp_get_thread_num", found.thread_number) &&
         take(object, "omp_get_num_threads", found.thread_count) &&
         take(object, "omp_in_parallel", found.in_parallel) &&
         take(object, "omp_get_active_level", found.active_level) &&
         take(object, "omp_get_max_threads", found.most_threads);
}

// Wheels and compilers bring theirs under names such as libgomp-a34b3233.so.1 and libomp.so.5.
bool is_openmp_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  for (const std::string_view known : {"libgomp", "libomp", "libiomp"})
    if (name.starts_with(known) && name.find_first_of(".-5", known.size()) == known.size()) return true;
  return false;
}

int collect(dl_phdr_info* object, std::size_t, void* data) {
  if (object->dlpi_name && is_openmp_name(object->dlpi_name))
    static_cast<std::vector<std::string>*>(data)->emplace_back(object->dlpi_name);
  return 0;
}

// Every runtime that is loaded, whatever its scope; nullptr: the program itself has one linked in.
std::vector<void*> loaded_runtimes() {
  std::vector<void*> found;
  std::vector<std::string> paths;
  dl_iterate_phdr(collect, &paths);
  for (const std::string& path : paths)
    if (void* object = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) found.push_back(object);  // kept: it must stay
  if (found.empty() && dlsym(RTLD_DEFAULT, "omp_get_thread_num")) found.push_back(RTLD_DEFAULT);
  return found;
}

bool asks_to_bind(const char* const* environment) {
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with("OMP_PROC_BIND=") && !entry.ends_with("=false") && !entry.ends_with("=FALSE")) return true;
    for (const std::string_view variable : {"OMP_PLACES=", "GOMP_CPU_AFFINITY=", "KMP_AFFINITY="})
      if (entry.starts_with(variable)) return true;
  }
  return false;
}

}  // namespace

OpenMpState look_at_openmp(const char* const* environment) {
  if (!runtime.parallel) {
    const std::vector<void*> objects = loaded_runtimes();
    if (objects.empty() && could_not_load) return {OpenMp::none, false, 0};
    if (objects.empty()) return {asks_to_bind(environment) ? OpenMp::would_bind : OpenMp::loadable, false, 0};
    // Of two runtimes nobody can say in whose parallel region a caller is.
    OpenMpRuntime found;
    if (objects.size() > 1 || !take_all(objects.front(), found)) return {OpenMp::foreign, false, 0};
    runtime = found;
  }
  const bool inside = runtime.in_parallel() != 0 || runtime.active_level() > 0;
  const int most = runtime.most_threads();
  return {OpenMp::present, inside, most > 0 ? static_cast<unsigned>(most) : 1};
}

bool run_on_team(void (*region)(void*), void* data, unsigned threads) {
  if (!runtime.parallel) {
    void* object = dlopen(own_runtime, RTLD_NOW | RTLD_LOCAL);
    OpenMpRuntime found;
    if (!object || !take_all(object, found)) {
      could_not_load = true;
      return false;
    }
    runtime = found;
  }
  runtime.parallel(region, data, threads, 0);
  return true;
}

unsigned team_member() { return static_cast<unsigned>(runtime.thread_number()); }
unsigned team_size() { return static_cast<unsigned>(runtime.thread_count()); }

}  // namespace millrace::threads
