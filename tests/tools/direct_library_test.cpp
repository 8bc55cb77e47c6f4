#include "tools/direct_library.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "scratch.h"
#include "tools/loader.h"

namespace millrace::tools {
namespace {

namespace fs = std::filesystem;

// The environment of this test with more variables in front, which are found first.
struct Surroundings {
  explicit Surroundings(std::vector<std::string> variables) : texts(std::move(variables)) {
    for (const std::string& text : texts) entries.push_back(text.c_str());
    for (char** entry = environ; *entry; ++entry)
      if (std::strncmp(*entry, "LD_", 3) != 0) entries.push_back(*entry);
    entries.push_back(nullptr);
  }
  std::vector<std::string> texts;
  std::vector<const char*> entries;
};

std::string direct(const std::string& program, std::string_view name, std::vector<std::string> variables = {}) {
  const Surroundings around(std::move(variables));
  const auto file = ElfFile::open(program);
  return direct_library(*file, program, name, Environment(around.entries.data()));
}

std::string asked(const std::string& program, std::string_view name, std::vector<std::string> variables = {}) {
  const Surroundings around(std::move(variables));
  const auto file = ElfFile::open(program);
  const auto needed = needed_libraries(std::string(file->loader()), program, around.entries.data());
  for (const NeededLibrary& library : *needed)
    if (library.name == name) return library.path;
  return {};
}

// A directory that holds the sample library under its own name.
std::string copy_of_sample(const Scratch& scratch, const std::string& directory) {
  const std::string path = scratch.path() + "/" + directory;
  fs::create_directories(path);
  fs::copy_file(fs::canonical(SAMPLE_GNU), path + "/libsample_gnu.so.5");
  return path;
}

constexpr const char* sample = "libsample_gnu.so.5";

TEST(DirectLibrary, WhatIsSaidIsWhatTheLoaderSays) {
  int said = 0;
  for (const char* program : {SAMPLE_RPATH, SAMPLE_RUNPATH, "/proc/self/exe", "/bin/sh"}) {
    const std::string path = fs::canonical(program);
    const auto file = ElfFile::open(path);
    for (const std::string_view name : file->needed()) {
      const std::string found = direct(path, name);
      if (found.empty()) continue;
      EXPECT_EQ(found, asked(path, name)) << program << " " << name;
      ++said;
    }
  }
#if defined(__x86_64__)
  EXPECT_GE(said, 6) << "the plain case is not answered";
#endif
}

#if defined(__x86_64__)

TEST(DirectLibrary, TheTagsStandOnTheirSidesOfTheVariable) {
  const Scratch scratch;
  const std::string other = copy_of_sample(scratch, "other");
  const std::string variable = "LD_LIBRARY_PATH=/no/such/place:" + other;
  EXPECT_EQ(direct(SAMPLE_RUNPATH, sample, {variable}), other + "/" + sample);
  EXPECT_EQ(direct(SAMPLE_RPATH, sample, {variable}), direct(SAMPLE_RPATH, sample));
  for (const char* program : {SAMPLE_RPATH, SAMPLE_RUNPATH})
    EXPECT_EQ(direct(program, sample, {variable}), asked(program, sample, {variable})) << program;
}

TEST(DirectLibrary, WhatIsNotPlainIsLeftToTheLoader) {
  const Scratch scratch;
  const std::string other = copy_of_sample(scratch, "other");
  const auto with = [&](const std::string& variable) { return direct(SAMPLE_RUNPATH, sample, {variable}); };
  ASSERT_NE(with("LD_LIBRARY_PATH=" + other), "");
  EXPECT_EQ(with("LD_LIBRARY_PATH=$LIB:" + other), "");
  EXPECT_EQ(with("LD_LIBRARY_PATH=:" + other), "");  // the working directory
  EXPECT_EQ(with("LD_PRELOAD=libm.so.6"), "");
  EXPECT_EQ(with("LD_AUDIT=libm.so.6"), "");
  fs::create_directories(other + "/glibc-hwcaps");
  EXPECT_EQ(with("LD_LIBRARY_PATH=" + other), "");
  const std::string torn = scratch.path() + "/torn";
  fs::create_directories(torn);
  scratch.write("torn/libsample_gnu.so.5", "not a library");
  EXPECT_EQ(with("LD_LIBRARY_PATH=" + torn), "");
  EXPECT_EQ(direct(SAMPLE_RUNPATH, "libno.such.so.1"), "");
  EXPECT_EQ(direct(SAMPLE_RUNPATH, "./libsample_gnu.so.5"), "");
}

// A cache of the given libraries: flags, name, path, variant.
struct Cached {
  std::int32_t flags;
  std::string name, path;
  std::uint64_t variant;
};
std::string cache_of(const std::vector<Cached>& libraries) {
  std::string bytes = "glibc-ld.so.cache1.1", strings;
  const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const std::size_t start = 48 + 24 * libraries.size();
  put(static_cast<std::uint32_t>(libraries.size()));
  for (int i = 0; i < 6; ++i) put(std::uint32_t{0});
  for (const Cached& library : libraries) {
    put(library.flags);
    for (const std::string& text : {library.name, library.path}) {
      put(static_cast<std::uint32_t>(start + strings.size()));
      strings += text + '\0';
    }
    put(std::uint32_t{0});
    put(library.variant);
  }
  return bytes + strings;
}

TEST(DirectLibrary, TheCacheIsRead) {
  const std::string cache = cache_of({{0x0803, "libx.so.1", "/x32/libx.so.1", 0},
                                      {0x0303, "libx.so.1", "/lib/libx.so.1", 0},
                                      {0x0303, "liby.so.1", "/lib/v3/liby.so.1", 1ull << 62},
                                      {0x0303, "liby.so.1", "/lib/liby.so.1", 0},
                                      {0x0303, "libz.so.1", "/one/libz.so.1", 0},
                                      {0x0303, "libz.so.1", "/two/libz.so.1", 0}});
  EXPECT_EQ(cached_library(cache, "libx.so.1"), "/lib/libx.so.1");
  EXPECT_EQ(cached_library(cache, "libx.so"), "");
  EXPECT_EQ(cached_library(cache, "liby.so.1"), "") << "one for some processors";
  EXPECT_EQ(cached_library(cache, "libz.so.1"), "") << "two";
  EXPECT_EQ(cached_library("ld.so-1.7.0" + cache, "libx.so.1"), "") << "an older form";
  for (std::size_t size = 0; size < cache.size(); ++size) {
    const std::string found = cached_library(cache.substr(0, size), "libx.so.1");
    EXPECT_EQ(std::string("/lib/libx.so.1").substr(0, found.size()), found);
  }
}

#endif

}  // namespace
}  // namespace millrace::tools
