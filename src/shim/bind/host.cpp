#include "shim/bind/host.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <string>
#include <vector>

namespace millrace::shim {
namespace {

constexpr const char* libmpi_function = "PMPI_Init";  // every host has it, and no tool

// Names are collected first and opened after: dl_iterate_phdr holds a lock of the dynamic linker that dlopen wants.
int collect(dl_phdr_info* object, std::size_t, void* data) {
  auto& paths = *static_cast<std::vector<std::string>*>(data);
  if (object->dlpi_name && *object->dlpi_name) paths.emplace_back(object->dlpi_name);
  return 0;
}

bool looks_like_libmpi(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.compare(slash == std::string::npos ? 0 : slash + 1, 6, "libmpi") == 0;
}

const void* own_base() {
  Dl_info self;
  return dladdr(reinterpret_cast<const void*>(&find_next_function), &self) ? self.dli_fbase : nullptr;
}

void* find_in_object(const std::string& path, const char* name) {
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return nullptr;
  void* address = dlsym(handle, name);
  dlclose(handle);  // gives back only the reference that dlopen took
  Dl_info where;
  if (!address || !dladdr(address, &where) || where.dli_fbase == own_base()) return nullptr;
  return address;
}

// Objects named libmpi* first, so that another library with a symbol of that name does not come before.
void* find_in_loaded_objects(const char* name) {
  std::vector<std::string> paths;
  dl_iterate_phdr(collect, &paths);
  std::stable_partition(paths.begin(), paths.end(), looks_like_libmpi);
  for (const std::string& path : paths)
    if (void* address = find_in_object(path, name)) return address;
  return nullptr;
}

}  // namespace

void* find_next_function(const char* name) {
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  return find_in_loaded_objects(name);
}

void* find_host_object(const char* name) {
  if (void* object = dlsym(RTLD_DEFAULT, name)) return object;
  return find_in_loaded_objects(name);
}

// To look through all objects takes 25 us for each name, and 300 us where a rank has loaded forty.
void* find_libmpi_object(const char* name) {
  if (void* object = dlsym(RTLD_DEFAULT, name)) return object;
  return dlsym(RTLD_NEXT, libmpi_function) ? nullptr : find_in_loaded_objects(name);
}

void* find_libmpi_function(const char* name) {
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  return dlsym(RTLD_NEXT, libmpi_function) ? nullptr : find_in_loaded_objects(name);
}

const char* host_abi_name(HostAbi abi) {
  switch (abi) {
    case HostAbi::openmpi: return "Open MPI";
    case HostAbi::mpich: return "MPICH";
    case HostAbi::mpi_abi: return "MPI-5 ABI";
    case HostAbi::none: break;
  }
  return "no MPI";
}

const char* host_abi_option(HostAbi abi) {
  switch (abi) {
    case HostAbi::openmpi: return "openmpi";
    case HostAbi::mpich: return "mpich";
    case HostAbi::mpi_abi: return "abi";
    case HostAbi::none: break;
  }
  return "none";
}

HostAbi detect_host_abi() {
  if (find_libmpi_object("ompi_mpi_comm_world")) return HostAbi::openmpi;
  // MPICH's own libmpi.so.12 has this function too and answers with a major version below 1.
  if (void* get_version = find_libmpi_function("MPI_Abi_get_version")) {
    int major = 0;
    int minor = 0;
    const int error = reinterpret_cast<int (*)(int*, int*)>(get_version)(&major, &minor);
    if (error == 0 && major > 0) return HostAbi::mpi_abi;
  }
  return find_next_function("MPI_Init") ? HostAbi::mpich : HostAbi::none;
}

}  // namespace millrace::shim
