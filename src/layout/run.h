// Runs a plan. Nothing here checks arguments: layout.cpp did.
#pragma once

#include <cstdint>

#include "layout/plan.h"

namespace millrace::layout {

// Memory is addressed by numbers: displacements may be absolute, so base + displacement need not be inside any object.
using Address = std::uintptr_t;

void pack_elements(const Plan& plan, Address base, std::int64_t count, char* packed);
void unpack_elements(const Plan& plan, Address base, std::int64_t count, const char* packed);

// The packed bytes [start_bytes, end_bytes) of `count` elements.
void pack_part(const Plan& plan, Address base, std::int64_t count, std::int64_t start_bytes, std::int64_t end_bytes,
               char* packed);
void unpack_part(const Plan& plan, Address base, std::int64_t count, std::int64_t start_bytes, std::int64_t end_bytes,
                 const char* packed);

}  // namespace millrace::layout
