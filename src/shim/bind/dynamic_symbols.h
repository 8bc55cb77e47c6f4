// What the dynamic symbol table of a loaded object says that it defines, and what it wants from others.
#pragma once

#include <link.h>

namespace millrace::shim {

// Whether the object's memory holds the address.
bool holds(const dl_phdr_info& object, const void* address);

// Whether it defines `name`.
bool defines(const dl_phdr_info& object, const char* name);
using Visit = void (*)(const char* name, void* context);
void visit_definitions(const dl_phdr_info& object, Visit visit, void* context);
// Whether it refers to any wanted name, as far as that can be told quickly; if not, it may.
using IsWanted = bool (*)(const char* name);
bool refers_to(const dl_phdr_info& object, IsWanted is_wanted);
// Those of the wanted names that it refers to, as often as there are relocations that name them.
void visit_references(const dl_phdr_info& object, IsWanted is_wanted, Visit visit, void* context);

// Makes what the object calls by these names, or keeps the address of, something else: `other` says what, or null to
// leave a name as it is. For names that it does not define itself. False if some place could not be written.
using Other = void* (*)(const char* name, void* context);
bool redirect_references(const dl_phdr_info& object, IsWanted is_wanted, Other other, void* context);

}  // namespace millrace::shim
