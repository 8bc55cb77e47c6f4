// What every instruction set has; a unit adds its own strategies.
#pragma once

#include "kernel/copy/copy_set.h"
#include "kernel/copy/generic/lists.h"
#include "kernel/copy/generic/pieces.h"
#include "kernel/copy/generic/transpose.h"
#include "kernel/copy/generic/wide.h"

namespace millrace::kernel {
namespace {

constexpr std::size_t slot(CopyKernel kernel) { return static_cast<std::size_t>(kernel); }

constexpr CopySet common_copy_unit(const char* isa) {
  CopySet set{};
  set.isa = isa;
  set.pack_strided[slot(CopyKernel::blocks)] = pack_blocks;
  set.unpack_strided[slot(CopyKernel::blocks)] = unpack_blocks;
  set.unpack_strided[slot(CopyKernel::twice)] = unpack_twice;
  set.pack_indexed[slot(CopyKernel::blocks)] = pack_listed;
  set.unpack_indexed[slot(CopyKernel::blocks)] = unpack_listed;
  set.pack_pieces = pack_pieces_by_size;
  set.unpack_pieces = unpack_pieces_by_size;
  set.pack_pattern[slot(CopyKernel::blocks)] = pack_pattern_blocks;
  set.unpack_pattern[slot(CopyKernel::blocks)] = unpack_pattern_blocks;
  set.transpose[0] = transpose<1>;
  set.transpose[1] = transpose<2>;
  set.transpose[2] = transpose<4>;
  set.transpose[3] = transpose<8>;
  set.transpose[4] = transpose<16>;
  return set;
}
constexpr CopySet vector_copy_unit(const char* isa) {
  CopySet set = common_copy_unit(isa);
  set.pack_strided[slot(CopyKernel::wide)] = pack_wide;
  return set;
}

}  // namespace
}  // namespace millrace::kernel
