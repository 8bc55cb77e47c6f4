// Copies with AVX2.
#include "kernel/copy/generic/byte_pattern.h"
#include "kernel/copy/generic/copy_table.h"
#include "kernel/copy/x86/avx2_masked.h"

namespace millrace::kernel {
namespace {

constexpr CopySet avx2_copies() {
  CopySet set = vector_copy_unit("avx2");
  set.fits_pack = avx2_pack_fits;
  set.fits_unpack = avx2_unpack_fits;
  set.pack_strided[slot(CopyKernel::permute)] = avx2_pack_permute;
  set.unpack_strided[slot(CopyKernel::permute)] = avx2_unpack_masked;
  set.pack_pattern[slot(CopyKernel::permute)] = pack_pattern_bytes;
  return set;
}

}  // namespace

constinit const CopySet avx2_copy_unit = avx2_copies();

}  // namespace millrace::kernel
