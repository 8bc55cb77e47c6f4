// What MPI_Type_get_envelope and MPI_Type_get_contents answer with in the MPI-5 ABI (MPI 5.0, chapter 20).
#pragma once

namespace millrace::shim::abi {

enum CombinerValue : int {
  combiner_named = 101,
  combiner_dup = 102,
  combiner_contiguous = 103,
  combiner_vector = 104,
  combiner_hvector = 105,
  combiner_indexed = 106,
  combiner_hindexed = 107,
  combiner_indexed_block = 108,
  combiner_hindexed_block = 109,
  combiner_struct = 110,
  combiner_subarray = 111,
  combiner_darray = 112,
  combiner_f90_real = 113,
  combiner_f90_complex = 114,
  combiner_f90_integer = 115,
  combiner_resized = 116,
  combiner_value_index = 117,
  combiner_hvector_integer = -1,  // removed before there was an ABI
  combiner_hindexed_integer = -2,
  combiner_struct_integer = -3,
};
inline constexpr int order_fortran = 15;
inline constexpr int distribute_block = 17;
inline constexpr int distribute_cyclic = 18;
inline constexpr int distribute_default_argument = 19;
inline constexpr bool has_large_contents = true;

}  // namespace millrace::shim::abi
