// Where the dynamic loader finds a library that a program itself needs, without asking the loader: that is a process of
// its own for every rank, and maps everything that the program will.
#pragma once

#include <string>
#include <string_view>

#include "tools/elf.h"
#include "tools/environment.h"

namespace millrace::tools {

// The file that `name`, one of program.needed(), stands for. Only the plain case is answered, by the rules of
// ld.so(8): glibc's loader at its usual place, DT_RPATH and DT_RUNPATH with at most $ORIGIN, LD_LIBRARY_PATH, a cache
// of today's form, no directory with variants for processors, no preload or auditor. Whatever is different: empty, and
// the loader has to be asked.
std::string direct_library(const ElfFile& program, const std::string& path, std::string_view name,
                           const Environment& environment);

// What the loader's cache (the bytes of ld.so.cache) says of a library's name; empty as above.
std::string cached_library(std::string_view cache, std::string_view name);

}  // namespace millrace::tools
