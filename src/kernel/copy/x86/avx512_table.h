// The strategies of AVX-512, with and without VBMI.
#pragma once

#include "kernel/copy/generic/copy_table.h"
#include "kernel/copy/x86/avx512_gather.h"
#include "kernel/copy/x86/avx512_pattern.h"

namespace millrace::kernel {
namespace {

constexpr CopySet avx512_copies(const char* isa, std::size_t lane_bytes) {
  CopySet set = vector_copy_unit(isa);
  set.permute_lane_bytes = lane_bytes;
  set.pack_strided[slot(CopyKernel::permute)] = pack_permute;
  set.unpack_strided[slot(CopyKernel::permute)] = unpack_masked;
  set.prepare_pack = prepare_pack_permute;
  set.prepare_unpack = prepare_unpack_masked;
  set.pack_prepared = pack_permute_prepared;
  set.unpack_prepared = unpack_masked_prepared;
  set.pack_strided[slot(CopyKernel::gather)] = pack_gather;
  set.unpack_strided[slot(CopyKernel::gather)] = unpack_scatter;
  set.pack_indexed[slot(CopyKernel::gather)] = pack_listed_gather;
  set.unpack_indexed[slot(CopyKernel::gather)] = unpack_listed_scatter;
  set.pack_pattern[slot(CopyKernel::permute)] = pack_pattern_permute;
  set.unpack_pattern[slot(CopyKernel::permute)] = unpack_pattern_masked;
  return set;
}

}  // namespace
}  // namespace millrace::kernel
