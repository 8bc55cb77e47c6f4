#include "tools/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace millrace::tools {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t our_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t our_machine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr std::uint16_t our_machine = EM_PPC64;
#elif defined(__riscv)
constexpr std::uint16_t our_machine = EM_RISCV;
#else
#error "name the ELF machine of this platform"
#endif
constexpr unsigned char our_byte_order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// Whether the symbols of other files may be bound to this one.
bool may_be_bound_to(const Elf64_Sym& symbol) {
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE) &&
         visibility != STV_HIDDEN && visibility != STV_INTERNAL;
}

}  // namespace

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct stat status;
  void* memory = MAP_FAILED;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= EI_NIDENT)
    memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) return std::nullopt;
  ElfFile file({static_cast<const std::byte*>(memory), static_cast<std::size_t>(status.st_size)});
  if (std::memcmp(memory, ELFMAG, SELFMAG) != 0) return std::nullopt;
  file.read_headers();
  return file;
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      word_bits_(other.word_bits_),
      machine_(other.machine_),
      is_native_(other.is_native_),
      is_dynamic_(other.is_dynamic_),
      has_special_search_(other.has_special_search_),
      loader_(other.loader_),
      soname_(other.soname_),
      rpath_(other.rpath_),
      runpath_(other.runpath_),
      needed_(std::move(other.needed_)),
      segments_(std::move(other.segments_)),
      strings_(other.strings_),
      symbols_(other.symbols_),
      hash_(other.hash_),
      gnu_hash_(other.gnu_hash_) {}

ElfFile::~ElfFile() {
  if (bytes_.empty()) return;
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

// Every read goes through here or text_at: offsets in a damaged file may point anywhere.
template <class Value>
std::optional<Value> ElfFile::value_at(std::uint64_t offset) const {
  if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes_.data() + offset, sizeof value);
  return value;
}

std::string_view ElfFile::text_at(std::size_t offset) const {
  if (offset >= bytes_.size()) return {};
  const char* start = reinterpret_cast<const char*>(bytes_.data()) + offset;
  return {start, strnlen(start, bytes_.size() - offset)};
}

bool ElfFile::begins_at(std::size_t offset, std::string_view begin) const {
  if (begin.empty()) return true;
  if (offset > bytes_.size() || bytes_.size() - offset < begin.size()) return false;
  return std::memcmp(bytes_.data() + offset, begin.data(), begin.size()) == 0;
}

std::size_t ElfFile::file_offset(std::uint64_t address) const {
  for (const Segment& segment : segments_)
    if (address >= segment.address && address - segment.address < segment.size)
      return address - segment.address + segment.offset;
  return absent;
}

void ElfFile::read_headers() {
  const auto identity = [&](int index) {
    return std::to_integer<unsigned char>(bytes_[static_cast<std::size_t>(index)]);
  };
  word_bits_ = identity(EI_CLASS) == ELFCLASS64 ? 64 : identity(EI_CLASS) == ELFCLASS32 ? 32 : 0;
  // e_machine lies at the same place in both classes, but in the file's byte order.
  machine_ = value_at<std::uint16_t>(offsetof(Elf64_Ehdr, e_machine)).value_or(0);
  const bool same_order = identity(EI_DATA) == our_byte_order;
  if (!same_order) machine_ = static_cast<std::uint16_t>(machine_ << 8 | machine_ >> 8);
  const auto header = value_at<Elf64_Ehdr>(0);
  is_native_ = header && same_order && word_bits_ == 64 && machine_ == our_machine;
  if (!is_native_) return;

  std::optional<Elf64_Phdr> dynamic;
  for (unsigned index = 0; index < header->e_phnum; ++index) {
    const auto segment = value_at<Elf64_Phdr>(header->e_phoff + std::uint64_t{index} * sizeof(Elf64_Phdr));
    if (!segment) break;
    if (segment->p_type == PT_LOAD) segments_.push_back({segment->p_vaddr, segment->p_offset, segment->p_filesz});
    if (segment->p_type == PT_INTERP) loader_ = text_at(segment->p_offset);
    if (segment->p_type == PT_DYNAMIC) dynamic = segment;
  }
  is_dynamic_ = dynamic.has_value();
  if (dynamic) read_dynamic(dynamic->p_offset, dynamic->p_filesz);
}

void ElfFile::read_dynamic(std::size_t offset, std::size_t size) {
  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> soname, rpath, runpath;
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= size; at += sizeof(Elf64_Dyn)) {
    const auto entry = value_at<Elf64_Dyn>(offset + at);
    if (!entry || entry->d_tag == DT_NULL) break;
    switch (entry->d_tag) {
      case DT_NEEDED: needed.push_back(entry->d_un.d_val); break;
      case DT_SONAME: soname = entry->d_un.d_val; break;
      case DT_RPATH: rpath = entry->d_un.d_val; break;
      case DT_RUNPATH: runpath = entry->d_un.d_val; break;
      case DT_FLAGS_1: has_special_search_ = has_special_search_ || (entry->d_un.d_val & DF_1_NODEFLIB) != 0; break;
      case DT_CONFIG:
      case DT_AUDIT:
      case DT_DEPAUDIT: has_special_search_ = true; break;
      case DT_STRTAB: strings_ = file_offset(entry->d_un.d_ptr); break;
      case DT_SYMTAB: symbols_ = file_offset(entry->d_un.d_ptr); break;
      case DT_HASH: hash_ = file_offset(entry->d_un.d_ptr); break;
      case DT_GNU_HASH: gnu_hash_ = file_offset(entry->d_un.d_ptr); break;
      default: break;
    }
  }
  if (strings_ == absent) return;
  for (const std::uint64_t name : needed) needed_.push_back(text_at(strings_ + name));
  if (soname) soname_ = text_at(strings_ + *soname);
  if (rpath) rpath_ = text_at(strings_ + *rpath);
  if (runpath) runpath_ = text_at(strings_ + *runpath);
}

// The dynamic symbol table does not say how long it is; the hash tables over it do.
std::size_t ElfFile::symbol_count() const {
  if (hash_ != absent) return value_at<std::uint32_t>(hash_ + 4).value_or(0);
  if (gnu_hash_ == absent) return 0;
  const std::uint32_t buckets = value_at<std::uint32_t>(gnu_hash_).value_or(0);
  const std::uint32_t first = value_at<std::uint32_t>(gnu_hash_ + 4).value_or(0);
  const std::uint32_t bloom_words = value_at<std::uint32_t>(gnu_hash_ + 8).value_or(0);
  const std::uint64_t bucket_offset = gnu_hash_ + 16 + std::uint64_t{bloom_words} * 8;
  const std::uint64_t chain_offset = bucket_offset + std::uint64_t{buckets} * 4;
  if (chain_offset > bytes_.size()) return 0;
  std::uint32_t last = 0;
  for (const std::byte* bucket = bytes_.data() + bucket_offset; bucket < bytes_.data() + chain_offset; bucket += 4) {
    std::uint32_t start;
    std::memcpy(&start, bucket, sizeof start);
    last = std::max(last, start);
  }
  if (last < first) return first;
  for (;; ++last) {  // the chain of the last bucket ends with an odd hash
    const auto hash = value_at<std::uint32_t>(chain_offset + std::uint64_t{last - first} * 4);
    if (!hash) return 0;
    if (*hash & 1) return std::size_t{last} + 1;
  }
}

template <class Visit>
void ElfFile::for_each_export(std::string_view begin, Visit visit) const {
  if (strings_ == absent || symbols_ == absent) return;
  const std::size_t count = symbol_count();
  for (std::size_t index = 1; index < count; ++index) {
    const auto symbol = value_at<Elf64_Sym>(symbols_ + index * sizeof(Elf64_Sym));
    if (!symbol) break;
    // Of most the rest of the name is not wanted.
    if (may_be_bound_to(*symbol) && begins_at(strings_ + symbol->st_name, begin))
      visit(text_at(strings_ + symbol->st_name), symbol->st_value);
  }
}

bool ElfFile::is_export(std::size_t index, std::string_view name) const {
  const auto symbol = value_at<Elf64_Sym>(symbols_ + index * sizeof(Elf64_Sym));
  return symbol && may_be_bound_to(*symbol) && text_at(strings_ + symbol->st_name) == name;
}

// The table of the GNU linker: a filter of bits, then for each bucket its first symbol, then for each symbol its hash,
// whose lowest bit ends a chain.
bool ElfFile::defines_by_gnu_hash(std::string_view name) const {
  const auto buckets = value_at<std::uint32_t>(gnu_hash_);
  const auto first = value_at<std::uint32_t>(gnu_hash_ + 4);
  const auto filter_words = value_at<std::uint32_t>(gnu_hash_ + 8);
  if (!buckets || !first || !filter_words || *buckets == 0) return false;
  std::uint32_t wanted = 5381;
  for (const char letter : name) wanted = wanted * 33 + static_cast<unsigned char>(letter);
  const std::uint64_t bucket_offset = gnu_hash_ + 16 + std::uint64_t{*filter_words} * 8;
  const std::uint64_t chain_offset = bucket_offset + std::uint64_t{*buckets} * 4;
  const auto start = value_at<std::uint32_t>(bucket_offset + std::uint64_t{wanted % *buckets} * 4);
  if (!start || *start < *first) return false;
  for (std::size_t index = *start;; ++index) {
    const auto hash = value_at<std::uint32_t>(chain_offset + (index - *first) * 4);
    if (!hash) return false;
    if ((*hash | 1) == (wanted | 1) && is_export(index, name)) return true;
    if (*hash & 1) return false;
  }
}

// The table of System V: numbers of buckets and symbols, for each bucket its first symbol, for each symbol the next
// one.
bool ElfFile::defines_by_hash(std::string_view name) const {
  const auto buckets = value_at<std::uint32_t>(hash_);
  const auto symbols = value_at<std::uint32_t>(hash_ + 4);
  if (!buckets || !symbols || *buckets == 0) return false;
  std::uint32_t wanted = 0;
  for (const char letter : name) {
    wanted = (wanted << 4) + static_cast<unsigned char>(letter);
    wanted = (wanted ^ (wanted >> 24 & 0xf0)) & 0x0fffffff;
  }
  std::uint64_t place = 2 + std::uint64_t{wanted % *buckets};
  // A damaged chain may be a circle, and the number of symbols any.
  const auto most = std::min<std::size_t>(*symbols, bytes_.size() / sizeof(Elf64_Sym));
  for (std::size_t step = 0; step < most; ++step) {
    const auto index = value_at<std::uint32_t>(hash_ + place * 4);
    if (!index || *index == 0) return false;
    if (is_export(*index, name)) return true;
    place = 2 + std::uint64_t{*buckets} + *index;
  }
  return false;
}

bool ElfFile::defines(std::string_view name) const {
  if (strings_ == absent || symbols_ == absent) return false;
  return gnu_hash_ != absent ? defines_by_gnu_hash(name) : hash_ != absent && defines_by_hash(name);
}

std::vector<std::string_view> ElfFile::exports(std::string_view begin) const {
  std::vector<std::string_view> names;
  for_each_export(begin, [&](std::string_view name, std::uint64_t) { names.push_back(name); });
  return names;
}

std::string_view ElfFile::text_of(std::string_view symbol) const {
  std::string_view text;
  for_each_export(symbol, [&](std::string_view name, std::uint64_t address) {
    if (name == symbol) text = text_at(file_offset(address));
  });
  return text;
}

const char* machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_386: return "x86 (32 bits)";
    case EM_X86_64: return "x86-64";
    case EM_ARM: return "Arm (32 bits)";
    case EM_AARCH64: return "AArch64";
    case EM_PPC64: return "POWER";
    case EM_RISCV: return "RISC-V";
    case EM_S390: return "s390";
    default: return "another machine";
  }
}

}  // namespace millrace::tools
