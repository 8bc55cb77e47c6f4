// Copies with SVE, one code for every vector length from 128 to 2048 bits.
#include "kernel/copy/arm/sve_gather.h"
#include "kernel/copy/arm/sve_permute.h"
#include "kernel/copy/generic/copy_table.h"

namespace millrace::kernel {
namespace {

constexpr CopySet sve_copies() {
  CopySet set = vector_copy_unit("sve");
  set.permute_lane_bytes = 1;
  set.pack_strided[slot(CopyKernel::wide)] = sve_pack_wide;
  set.unpack_strided[slot(CopyKernel::wide)] = sve_unpack_wide;
  set.pack_strided[slot(CopyKernel::permute)] = sve_pack_permute;
  set.unpack_strided[slot(CopyKernel::permute)] = sve_unpack_masked;
  set.pack_strided[slot(CopyKernel::gather)] = sve_pack_gather;
  set.unpack_strided[slot(CopyKernel::gather)] = sve_unpack_scatter;
  set.pack_indexed[slot(CopyKernel::gather)] = sve_pack_listed;
  set.unpack_indexed[slot(CopyKernel::gather)] = sve_unpack_listed;
  return set;
}

}  // namespace

constinit const CopySet sve_copy_unit = sve_copies();

}  // namespace millrace::kernel
