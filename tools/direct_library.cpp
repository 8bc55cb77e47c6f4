#include "tools/direct_library.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "tools/program.h"

namespace millrace::tools {
namespace {

#if defined(__x86_64__)
constexpr std::string_view usual_loader = "/lib64/ld-linux-x86-64.so.2";
constexpr std::int32_t our_cache_flags = 0x0303;  // an ELF library for glibc, x86-64 of 64 bits
#elif defined(__aarch64__)
constexpr std::string_view usual_loader = "/lib/ld-linux-aarch64.so.1";
constexpr std::int32_t our_cache_flags = 0x0a03;
#else
constexpr std::string_view usual_loader;  // not known: the loader is asked
constexpr std::int32_t our_cache_flags = -1;
#endif

// The form that glibc writes since 2.32.
struct CacheHeader {
  char magic[20];  // "glibc-ld.so.cache1.1"
  std::uint32_t libraries;
  std::uint32_t strings_bytes;
  std::uint32_t unused[5];
};
struct CacheEntry {
  std::int32_t flags;
  std::uint32_t name, path;  // offsets in the file
  std::uint32_t unused;
  std::uint64_t variant;  // for which processors; 0: for all
};
constexpr std::string_view cache_magic = "glibc-ld.so.cache1.1";

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Loaders look into these first. (The older ones combine what the processor can; each begins with one of these.)
bool holds_variants(const std::string& directory) {
  for (const char* variant : {"glibc-hwcaps", "tls", "haswell", "avx512_1", "x86_64", "atomics"})
    if (exists(fmt::format("{}/{}", directory, variant))) return true;
  const auto* platform = reinterpret_cast<const char*>(getauxval(AT_PLATFORM));
  return platform && exists(fmt::format("{}/{}", directory, platform));
}

// nullopt: the loader has to be asked.
using Answer = std::optional<std::string>;

// `directories`: as in LD_LIBRARY_PATH. The empty answer: not in these.
Answer search(std::string_view directories, std::string_view separators, const std::string& origin,
              std::string_view name) {
  while (!directories.empty()) {
    const std::size_t end = std::min(directories.find_first_of(separators), directories.size());
    std::string directory(directories.substr(0, end));
    directories.remove_prefix(std::min(end + 1, directories.size()));
    for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"})
      for (std::size_t at = 0; (at = directory.find(word, at)) != std::string::npos; at += origin.size())
        directory.replace(at, word.size(), origin);
    if (directory.empty() || directory.find('$') != std::string::npos || holds_variants(directory)) return std::nullopt;
    std::string path = fmt::format("{}/{}", directory, name);
    if (!exists(path)) continue;
    const auto file = ElfFile::open(path);  // the loader goes on from a file for another machine
    if (!file || !file->is_native()) return std::nullopt;
    return path;
  }
  return std::string();
}

// Mapped: each rank looks into the loader's cache, of which a look touches a part. It is never written to, but
// replaced.
class WholeFile {
 public:
  explicit WholeFile(const char* path) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      memory_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    close(descriptor);
  }
  ~WholeFile() {
    if (memory_ != MAP_FAILED) munmap(memory_, size_);
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  std::string_view bytes() const {
    return memory_ == MAP_FAILED ? std::string_view() : std::string_view(static_cast<const char*>(memory_), size_);
  }

 private:
  void* memory_ = MAP_FAILED;
  std::size_t size_ = 0;
};

std::string_view text_at(std::string_view bytes, std::size_t offset) {
  if (offset >= bytes.size()) return {};
  return bytes.substr(offset, strnlen(bytes.data() + offset, bytes.size() - offset));
}

}  // namespace

std::string cached_library(std::string_view cache, std::string_view name) {
  CacheHeader header;
  if (cache.size() < sizeof header || cache.substr(0, cache_magic.size()) != cache_magic) return {};
  std::memcpy(&header, cache.data(), sizeof header);
  if (header.libraries > (cache.size() - sizeof header) / sizeof(CacheEntry)) return {};
  std::string_view found;
  for (std::uint32_t i = 0; i < header.libraries; ++i) {
    CacheEntry entry;
    std::memcpy(&entry, cache.data() + sizeof header + i * sizeof entry, sizeof entry);
    if (entry.flags != our_cache_flags) continue;
    // How long it is costs more to find out, and of some hundred entries one is looked for.
    const std::string_view from_name = cache.substr(std::min<std::size_t>(entry.name, cache.size()));
    if (!from_name.starts_with(name) || text_at(cache, entry.name) != name) continue;
    if (entry.variant != 0 || !found.empty()) return {};
    found = text_at(cache, entry.path);
  }
  return std::string(found);
}

std::string direct_library(const ElfFile& program, const std::string& path, std::string_view name,
                           const Environment& environment) {
  if (usual_loader.empty() || program.loader() != usual_loader || program.has_special_search() ||
      name.find('/') != std::string_view::npos || exists("/etc/ld.so.preload"))
    return {};
  for (const char* variable : {"LD_PRELOAD", "LD_AUDIT"})
    if (!environment.get(variable).value_or("").empty()) return {};

  std::error_code error;
  const std::string origin(directory_name(std::filesystem::canonical(path, error).native()));
  if (error) return {};
  const struct {
    std::string_view directories, separators;
  } places[] = {{program.runpath().empty() ? program.rpath() : std::string_view{}, ":"},
                {environment.get("LD_LIBRARY_PATH").value_or(""), ":;"},
                {program.runpath(), ":"}};
  for (const auto& place : places) {
    const Answer answer = search(place.directories, place.separators, origin, name);
    if (!answer) return {};
    if (!answer->empty()) return *answer;
  }
  std::string found = cached_library(WholeFile("/etc/ld.so.cache").bytes(), name);
  return exists(found) ? found : std::string();
}

}  // namespace millrace::tools
