// Copies with Advanced SIMD.
#include "kernel/copy/arm/neon_pattern.h"
#include "kernel/copy/arm/neon_unpack.h"
#include "kernel/copy/generic/copy_table.h"

namespace millrace::kernel {
namespace {

constexpr CopySet neon_copies() {
  CopySet set = vector_copy_unit("neon");
  set.fits_pack = neon_pack_fits;
  set.fits_unpack = neon_unpack_fits;
  set.pack_strided[slot(CopyKernel::permute)] = neon_pack_permute;
  set.unpack_strided[slot(CopyKernel::permute)] = neon_unpack_lanes;
  set.pack_pattern[slot(CopyKernel::permute)] = neon_pack_pattern;
  return set;
}

}  // namespace

constinit const CopySet neon_copy_unit = neon_copies();

}  // namespace millrace::kernel
