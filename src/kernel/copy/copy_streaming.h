// Packed bytes that go past the caches.
#pragma once

#include "kernel/copy/copy_set.h"

namespace millrace::kernel {

// As pack(packed, base, ...), with non-temporal stores where the processor has them. Ends with the fence that makes
// such stores ordinary ones to other threads.
void pack_strided_streaming(PackStrided pack, void* packed, const void* base, std::size_t block_bytes,
                            std::ptrdiff_t stride_bytes, std::size_t block_count);

}  // namespace millrace::kernel
