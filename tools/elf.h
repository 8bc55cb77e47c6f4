// Reads what the launcher must know about a program or a library from the file itself, without loading it: for which
// machine it is, its dynamic loader, what it needs and which dynamic symbols it defines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::tools {

class ElfFile {
 public:
  // Nothing if the file cannot be read, or is not ELF.
  static std::optional<ElfFile> open(const std::string& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&&) = delete;
  ~ElfFile();

  int word_bits() const { return word_bits_; }  // 32, 64, or 0 if the file says neither
  std::uint16_t machine() const { return machine_; }

  // Whether this process could have been built from it: same machine, word size and byte order. Everything below is
  // empty for a file that is not.
  bool is_native() const { return is_native_; }

  std::string_view loader() const { return loader_; }  // PT_INTERP; empty for libraries and static programs
  bool is_dynamic() const { return is_dynamic_; }
  std::string_view soname() const { return soname_; }
  const std::vector<std::string_view>& needed() const { return needed_; }  // DT_NEEDED, in order
  std::string_view rpath() const { return rpath_; }                        // DT_RPATH
  std::string_view runpath() const { return runpath_; }                    // DT_RUNPATH
  // Whether something changes where the loader looks: no default directories, an auditor.
  bool has_special_search() const { return has_special_search_; }

  // Names of the dynamic symbols that this file defines and others may bind to, of those that begin so.
  std::vector<std::string_view> exports(std::string_view begin = {}) const;

  // Whether one of them is called so: by the file's hash table, as the dynamic loader looks it up.
  bool defines(std::string_view name) const;

  // The zero-ended text that a dynamic symbol stands for; empty if there is no such symbol.
  std::string_view text_of(std::string_view symbol) const;

 private:
  explicit ElfFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  void read_headers();
  void read_dynamic(std::size_t offset, std::size_t size);
  std::size_t symbol_count() const;
  bool is_export(std::size_t index, std::string_view name) const;
  bool defines_by_gnu_hash(std::string_view name) const;
  bool defines_by_hash(std::string_view name) const;
  std::size_t file_offset(std::uint64_t address) const;
  std::string_view text_at(std::size_t offset) const;
  bool begins_at(std::size_t offset, std::string_view begin) const;
  template <class Visit>
  void for_each_export(std::string_view begin, Visit visit) const;  // visit(name, address)
  template <class Value>
  std::optional<Value> value_at(std::uint64_t offset) const;

  struct Segment {
    std::uint64_t address, offset, size;
  };
  std::span<const std::byte> bytes_;  // the mapped file
  int word_bits_ = 0;
  std::uint16_t machine_ = 0;
  bool is_native_ = false;
  bool is_dynamic_ = false;
  bool has_special_search_ = false;
  std::string_view loader_, soname_, rpath_, runpath_;
  std::vector<std::string_view> needed_;
  std::vector<Segment> segments_;
  // File offsets of the dynamic tables; `absent` when the file has none.
  static constexpr std::size_t absent = SIZE_MAX;
  std::size_t strings_ = absent, symbols_ = absent, hash_ = absent, gnu_hash_ = absent;
};

const char* machine_name(std::uint16_t machine);  // "x86-64", ..., "another machine"

}  // namespace millrace::tools
