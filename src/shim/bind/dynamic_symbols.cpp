#include "shim/bind/dynamic_symbols.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace millrace::shim {
namespace {

// The sections that count, at the addresses where they are mapped; null: there is none.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::size_t names_bytes = 0;
  const std::uint32_t* gnu_hash = nullptr;
  const ElfW(Word) * hash = nullptr;  // number of buckets, number of symbols, ...
  const ElfW(Rela) * relocations = nullptr;
  std::size_t relocations_bytes = 0;
  const ElfW(Rela) * calls = nullptr;  // those of the procedure linkage table
  std::size_t calls_bytes = 0;

  const char* name(const ElfW(Sym) & symbol) const {
    return symbol.st_name < names_bytes ? names + symbol.st_name : "";
  }
};

// glibc puts addresses into the dynamic section when it loads an object, but not into one that cannot be written (the
// kernel's own object).
template <class Section>
const Section* mapped(const dl_phdr_info& object, ElfW(Addr) address) {
  if (address < object.dlpi_addr) address += object.dlpi_addr;
  return reinterpret_cast<const Section*>(address);
}

Tables tables_of(const dl_phdr_info& object) {
  Tables tables;
  bool has_addends = true;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) address = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_SYMTAB: tables.symbols = mapped<ElfW(Sym)>(object, address); break;
        case DT_STRTAB: tables.names = mapped<char>(object, address); break;
        case DT_STRSZ: tables.names_bytes = entry->d_un.d_val; break;
        case DT_GNU_HASH: tables.gnu_hash = mapped<std::uint32_t>(object, address); break;
        case DT_HASH: tables.hash = mapped<ElfW(Word)>(object, address); break;
        case DT_RELA: tables.relocations = mapped<ElfW(Rela)>(object, address); break;
        case DT_RELASZ: tables.relocations_bytes = entry->d_un.d_val; break;
        case DT_JMPREL: tables.calls = mapped<ElfW(Rela)>(object, address); break;
        case DT_PLTRELSZ: tables.calls_bytes = entry->d_un.d_val; break;
        case DT_PLTREL: has_addends = entry->d_un.d_val == DT_RELA; break;
        default: break;
      }
    }
  }
  if (!tables.symbols || !tables.names) tables = {};
  if (!has_addends) tables.calls = nullptr;
  return tables;
}

// The first symbol that is defined and the number of all, by the table of the GNU linker: buckets hold the first symbol
// of each chain, and the last of a chain has the lowest bit of its hash set.
struct Defined {
  std::size_t first = 0;
  std::size_t end = 0;
};
Defined defined_by_gnu_hash(const std::uint32_t* table) {
  const std::uint32_t buckets = table[0], first = table[1], filter_words = table[2];
  const std::uint32_t* const bucket = table + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
  if (last < first) return {};  // nothing is defined
  while ((chain[last - first] & 1) == 0) ++last;
  return {first, std::size_t{last} + 1};
}

// Of the table of the GNU linker.
std::uint32_t gnu_hash_of(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

bool defines_by_gnu_hash(const Tables& tables, const char* name) {
  const std::uint32_t* const table = tables.gnu_hash;
  const std::uint32_t buckets = table[0], first = table[1], filter_words = table[2], hash = gnu_hash_of(name);
  const std::uint32_t* const bucket = table + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const chain = bucket + buckets;
  if (buckets == 0) return false;
  for (std::uint32_t i = bucket[hash % buckets]; i >= first && i != 0; ++i) {
    const std::uint32_t its = chain[i - first];
    if ((its | 1) == (hash | 1) && tables.symbols[i].st_shndx != SHN_UNDEF &&
        std::strcmp(tables.name(tables.symbols[i]), name) == 0)
      return true;
    if ((its & 1) != 0) break;
  }
  return false;
}

// Whether no undefined symbol has a wanted name: symbols are fewer than relocations, and most are defined. False if it
// cannot be told. A library has all undefined ones in front of those that its table finds, so that its other pages are
// left alone; in a program, some of which it takes the address stand among the defined. The table of a library that
// defines nothing says 1, whatever it wants from others.
bool lacks_names(const Tables& tables, bool is_of_program, IsWanted is_wanted) {
  std::size_t end = 0;
  if (tables.gnu_hash && !is_of_program)
    end = tables.gnu_hash[1] > 1 ? tables.gnu_hash[1] : 0;
  else if (tables.gnu_hash)
    end = defined_by_gnu_hash(tables.gnu_hash).end;
  else if (tables.hash)
    end = tables.hash[1];
  for (std::size_t i = 1; i < end; ++i)
    if (tables.symbols[i].st_shndx == SHN_UNDEF && is_wanted(tables.name(tables.symbols[i]))) return false;
  return end > 0;
}

#if __SIZEOF_POINTER__ == 8
std::size_t symbol_of(const ElfW(Rela) & relocation) { return ELF64_R_SYM(relocation.r_info); }
std::size_t type_of(const ElfW(Rela) & relocation) { return ELF64_R_TYPE(relocation.r_info); }
#else
std::size_t symbol_of(const ElfW(Rela) & relocation) { return ELF32_R_SYM(relocation.r_info); }
std::size_t type_of(const ElfW(Rela) & relocation) { return ELF32_R_TYPE(relocation.r_info); }
#endif

// Whether the place that it fills holds the plain address of its symbol.
bool fills_in_address(const ElfW(Rela) & relocation) {
  const std::size_t type = type_of(relocation);
#if defined(__x86_64__)
  return relocation.r_addend == 0 && (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64);
#elif defined(__aarch64__)
  return relocation.r_addend == 0 &&
         (type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64);
#else
  static_cast<void>(type);
  return false;
#endif
}

bool is_program(const dl_phdr_info& object) { return !object.dlpi_name || !*object.dlpi_name || object.dlpi_addr == 0; }

// Pages that the dynamic linker has made read-only once they were filled (RELRO), writable for as long as this lives.
class Unlocked {
 public:
  explicit Unlocked(const dl_phdr_info& object) {
    const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (int i = 0; i < object.dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = object.dlpi_phdr[i];
      if (segment.p_type != PT_GNU_RELRO) continue;
      const ElfW(Addr) first = object.dlpi_addr + segment.p_vaddr;
      first_ = first / page_bytes * page_bytes;
      bytes_ = (first + segment.p_memsz) / page_bytes * page_bytes - first_;  // as the dynamic linker rounds
    }
    succeeded_ = bytes_ == 0 || mprotect(reinterpret_cast<void*>(first_), bytes_, PROT_READ | PROT_WRITE) == 0;
  }
  ~Unlocked() {
    if (bytes_ != 0 && succeeded_) mprotect(reinterpret_cast<void*>(first_), bytes_, PROT_READ);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  bool succeeded() const { return succeeded_; }

 private:
  ElfW(Addr) first_ = 0;
  std::size_t bytes_ = 0;
  bool succeeded_ = true;
};

// Calls visit(relocation, name) for each relocation that names a wanted symbol of another object.
template <class VisitRelocation>
void for_each_reference(const dl_phdr_info& object, IsWanted is_wanted, VisitRelocation visit) {
  const Tables tables = tables_of(object);
  if (!tables.symbols || lacks_names(tables, is_program(object), is_wanted)) return;
  const auto visit_all = [&](const ElfW(Rela) * relocations, std::size_t bytes) {
    if (!relocations) return;
    for (std::size_t i = 0; i < bytes / sizeof(ElfW(Rela)); ++i) {
      const std::size_t symbol = symbol_of(relocations[i]);
      if (symbol == 0 || tables.symbols[symbol].st_shndx != SHN_UNDEF) continue;
      if (const char* name = tables.name(tables.symbols[symbol]); is_wanted(name)) visit(relocations[i], name);
    }
  };
  visit_all(tables.relocations, tables.relocations_bytes);
  visit_all(tables.calls, tables.calls_bytes);
}

}  // namespace

bool holds(const dl_phdr_info& object, const void* address) {
  const auto place = reinterpret_cast<ElfW(Addr)>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && place - (object.dlpi_addr + segment.p_vaddr) < segment.p_memsz) return true;
  }
  return false;
}

bool defines(const dl_phdr_info& object, const char* name) {
  const Tables tables = tables_of(object);
  if (!tables.symbols) return false;
  if (tables.gnu_hash) return defines_by_gnu_hash(tables, name);
  for (std::size_t i = 1; tables.hash && i < tables.hash[1]; ++i)
    if (tables.symbols[i].st_shndx != SHN_UNDEF && std::strcmp(tables.name(tables.symbols[i]), name) == 0) return true;
  return false;
}

void visit_definitions(const dl_phdr_info& object, Visit visit, void* context) {
  const Tables tables = tables_of(object);
  if (!tables.symbols) return;
  Defined defined;
  if (tables.gnu_hash)
    defined = defined_by_gnu_hash(tables.gnu_hash);
  else if (tables.hash)
    defined = {1, tables.hash[1]};
  for (std::size_t i = defined.first; i < defined.end; ++i)
    if (tables.symbols[i].st_shndx != SHN_UNDEF) visit(tables.name(tables.symbols[i]), context);
}

bool refers_to(const dl_phdr_info& object, IsWanted is_wanted) {
  const Tables tables = tables_of(object);
  return tables.symbols && !lacks_names(tables, is_program(object), is_wanted);
}

void visit_references(const dl_phdr_info& object, IsWanted is_wanted, Visit visit, void* context) {
  for_each_reference(object, is_wanted, [&](const ElfW(Rela)&, const char* name) { visit(name, context); });
}

bool redirect_references(const dl_phdr_info& object, IsWanted is_wanted, Other other, void* context) {
  const Unlocked unlocked(object);
  if (!unlocked.succeeded()) return false;
  bool all = true;
  for_each_reference(object, is_wanted, [&](const ElfW(Rela) & relocation, const char* name) {
    void* const function = other(name, context);
    if (!function) return;
    if (!fills_in_address(relocation)) {
      all = false;
      return;
    }
    // Another thread may be calling through it: it finds the old address or the new one.
    auto* const place = reinterpret_cast<void**>(object.dlpi_addr + relocation.r_offset);
    std::atomic_ref<void*>(*place).store(function, std::memory_order_relaxed);
  });
  return all;
}

}  // namespace millrace::shim
