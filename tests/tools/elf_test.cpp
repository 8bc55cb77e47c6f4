#include "tools/elf.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>

#include "scratch.h"

namespace millrace::tools {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ElfLibrary : public testing::TestWithParam<const char*> {};

TEST_P(ElfLibrary, ItsNamesAreRead) {
  const auto file = ElfFile::open(GetParam());
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->is_native());
  EXPECT_TRUE(file->is_dynamic());
  EXPECT_EQ(file->word_bits(), 64);
  EXPECT_EQ(file->loader(), "");
  EXPECT_EQ(file->soname().substr(0, 10), "libsample_");
  EXPECT_NE(std::find(file->needed().begin(), file->needed().end(), "libc.so.6"), file->needed().end());
}

TEST_P(ElfLibrary, ExportsAreWhatOthersCanBindTo) {
  const auto file = ElfFile::open(GetParam());
  ASSERT_TRUE(file);
  std::vector<std::string_view> names = file->exports();
  std::erase_if(names, [](std::string_view name) { return name.find("ample") == std::string_view::npos; });
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string_view>{"MPI_Sample_a", "MPI_Sample_b", "sample_data", "sample_pointer",
                                                  "sample_version_string", "sample_weak"}));
}

TEST_P(ElfLibrary, AnExportIsFoundByItsName) {
  const auto file = ElfFile::open(GetParam());
  ASSERT_TRUE(file);
  for (const std::string_view name : file->exports()) EXPECT_TRUE(file->defines(name)) << name;
  for (const char* name : {"sample_hidden", "sample_undefined", "MPI_Sample", "MPI_Sample_c", ""})
    EXPECT_FALSE(file->defines(name)) << name;
}

TEST_P(ElfLibrary, TheTextOfASymbolIsRead) {
  const auto file = ElfFile::open(GetParam());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->text_of("sample_version_string"), "7.8.9");
  EXPECT_EQ(file->text_of("sample_hidden"), "");
  EXPECT_EQ(file->text_of("sample_undefined"), "");
}

// A damaged file may say anything. Nothing is checked but that reading ends and stays inside (run with the preset
// asan).
TEST_P(ElfLibrary, DamagedFilesAreSurvived) {
  const std::string whole = bytes_of(GetParam());
  const Scratch scratch;
  std::mt19937 random(7);
  const auto look = [&](const std::string& bytes) {
    const auto file = ElfFile::open(scratch.write("damaged", bytes));
    if (!file) return;
    file->exports();
    file->defines("MPI_Sample_a");
    file->text_of("sample_version_string");
  };
  for (std::size_t size = 0; size < 600; size += 7) look(whole.substr(0, size));
  for (int round = 0; round < 300; ++round) {
    look(whole.substr(0, random() % whole.size()));
    std::string bytes = whole;
    const std::size_t range = round % 2 ? bytes.size() : std::min<std::size_t>(bytes.size(), 1024);
    for (int change = 0; change < 20; ++change)
      bytes[EI_NIDENT + random() % (range - EI_NIDENT)] = static_cast<char>(random());
    look(bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(HashTables, ElfLibrary, testing::Values(SAMPLE_GNU, SAMPLE_SYSV),
                         [](const auto& sample) { return sample.index == 0 ? "gnu" : "sysv"; });

TEST(Elf, AProgramNamesItsLoader) {
  const auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->is_native());
  EXPECT_NE(file->loader().find("/ld"), std::string_view::npos);
}

TEST(Elf, AStaticProgramHasNoLoader) {
  const auto file = ElfFile::open(SAMPLE_STATIC);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->is_native());
  EXPECT_EQ(file->loader(), "");
  EXPECT_TRUE(file->needed().empty());
  EXPECT_TRUE(file->exports().empty());
}

TEST(Elf, OtherMachinesAreToldApart) {
  const Scratch scratch;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  const auto with = [&](auto change) {
    Elf64_Ehdr changed = header;
    change(changed);
    return ElfFile::open(scratch.write("header", {reinterpret_cast<const char*>(&changed), sizeof changed}));
  };
  const auto s390 = with([](Elf64_Ehdr& h) {
    h.e_ident[EI_DATA] = ELFDATA2MSB;
    h.e_machine = EM_S390 << 8;  // as a big-endian machine writes 22
  });
  ASSERT_TRUE(s390);
  EXPECT_FALSE(s390->is_native());
  EXPECT_STREQ(machine_name(s390->machine()), "s390");

  const auto narrow = with([](Elf64_Ehdr& h) {
    h.e_ident[EI_CLASS] = ELFCLASS32;
    h.e_machine = EM_386;
  });
  ASSERT_TRUE(narrow);
  EXPECT_FALSE(narrow->is_native());
  EXPECT_EQ(narrow->word_bits(), 32);

  const auto riscv = with([](Elf64_Ehdr& h) { h.e_machine = EM_RISCV; });
  ASSERT_TRUE(riscv);
  EXPECT_FALSE(riscv->is_native());
}

TEST(Elf, OtherFilesAreNone) {
  const Scratch scratch;
  EXPECT_FALSE(ElfFile::open(scratch.write("script", "#!/bin/sh\necho a script that is longer than a header\n")));
  EXPECT_FALSE(ElfFile::open(scratch.write("short", "\177ELF")));
  EXPECT_FALSE(ElfFile::open(scratch.path()));
  EXPECT_FALSE(ElfFile::open(scratch.path() + "/none"));
}

}  // namespace
}  // namespace millrace::tools
