// Copies with SSE4.2.
#include "kernel/copy/generic/byte_pattern.h"
#include "kernel/copy/generic/copy_table.h"
#include "kernel/copy/x86/sse42_permute.h"

namespace millrace::kernel {
namespace {

constexpr CopySet sse42_copies() {
  CopySet set = vector_copy_unit("sse42");
  set.fits_pack = sse42_pack_fits;
  set.pack_strided[slot(CopyKernel::permute)] = sse42_pack_permute;
  set.pack_pattern[slot(CopyKernel::permute)] = pack_pattern_bytes;
  return set;
}

}  // namespace

constinit const CopySet sse42_copy_unit = sse42_copies();

}  // namespace millrace::kernel
