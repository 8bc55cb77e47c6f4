#include "shim/host/device_memory.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "shim/host/device_runtimes.h"

namespace millrace::shim {

constinit std::atomic<bool> device_runtime_loaded{false};
thread_local constinit SeenPieces seen_pieces __attribute__((tls_model("initial-exec"))) = {};

namespace {

// Runtimes that were found; only ever added to. Release by who finds one, acquire by who asks.
std::array<std::atomic<DeviceQuestion>, device_runtime_count> questions{};

// The number of objects that the process has ever loaded, when we looked last. Release by who has looked, acquire by
// who would have to: it then knows of the runtimes that were found.
constinit std::atomic<unsigned long long> objects_seen{0};
std::mutex& looking = *new std::mutex;  // never destroyed: calls may come from other libraries' destructors

int first_object(dl_phdr_info* object, std::size_t, void* added) {
  *static_cast<unsigned long long*>(added) = object->dlpi_adds;
  return 1;
}

int every_object(dl_phdr_info* object, std::size_t, void* paths) {
  if (object->dlpi_name && *object->dlpi_name)
    static_cast<std::vector<std::string>*>(paths)->emplace_back(object->dlpi_name);
  return 0;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The library stays open: what was found in it may be called for ever.
void bind(std::size_t index, const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  const DeviceQuestion question = library ? device_runtimes()[index].bind(library, path) : nullptr;
  if (!question) return;
  questions[index].store(question, std::memory_order_release);
  device_runtime_loaded.store(true, std::memory_order_release);
  log(LogLevel::info, fmt::format("{} is loaded: it is asked whether the processor can touch a buffer", path));
}

// Names are collected first: dl_iterate_phdr holds a lock of the dynamic linker that dlopen wants.
void look_for_runtimes() {
  unsigned long long added = 0;
  dl_iterate_phdr(first_object, &added);
  if (added == objects_seen.load(std::memory_order_acquire)) return;
  const std::lock_guard hold(looking);
  std::vector<std::string> paths;
  dl_iterate_phdr(every_object, &paths);
  for (std::size_t i = 0; i < device_runtime_count; ++i) {
    if (questions[i].load(std::memory_order_relaxed)) continue;
    for (const std::string& path : paths)
      if (file_name(path).starts_with(device_runtimes()[i].library) && !questions[i].load(std::memory_order_relaxed))
        bind(i, path);
  }
  objects_seen.store(added, std::memory_order_release);
}

// Whether the runtimes that are there know it as theirs.
bool asked_of_runtimes(Word address) {
  for (const std::atomic<DeviceQuestion>& one : questions) {
    const DeviceQuestion question = one.load(std::memory_order_acquire);
    if (question && question(address)) return true;
  }
  return false;
}

bool ask(Word address) {
  Word& seen = seen_pieces.pieces[piece_slot(address >> piece_bits)];
  if (seen != address >> piece_bits) {
    look_for_runtimes();
    seen = address >> piece_bits;
  }
  return device_runtime_loaded.load(std::memory_order_acquire) && asked_of_runtimes(address);
}

}  // namespace

bool ask_for_device_memory(Word address) noexcept try { return ask(address); } catch (...) {
  return false;  // no memory for the names of objects: they are looked at again with the next address
}

bool ask_for_device_memory(Word first, Word second) noexcept {
  if (ask_for_device_memory(first) || ask_for_device_memory(second)) return true;
  seen_pieces.first = first;
  seen_pieces.second = second;
  return false;
}

}  // namespace millrace::shim
