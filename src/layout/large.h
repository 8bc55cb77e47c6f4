// Large copies on the idle cores of this rank (src/threads): each thread packs or unpacks a part of the packed bytes.
#pragma once

#include <cstdint>

#include "layout/plan.h"
#include "layout/run.h"
#include "threads/parallel.h"

namespace millrace::layout {

inline bool is_large(std::int64_t bytes) { return threads::is_large(static_cast<std::size_t>(bytes)); }

// The packed bytes [start, start + length) of `count` elements, as pack_part() and unpack_part(). False if nothing has
// been done: there is only one thread for it.
bool pack_by_threads(const Plan& plan, Address base, std::int64_t count, std::int64_t start, std::int64_t length,
                     char* packed);
bool unpack_by_threads(const Plan& plan, Address base, std::int64_t count, std::int64_t start, std::int64_t length,
                       const char* packed);

}  // namespace millrace::layout
