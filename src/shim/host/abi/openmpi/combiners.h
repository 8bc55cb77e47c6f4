// What MPI_Type_get_envelope and MPI_Type_get_contents answer with on Open MPI.
#pragma once

namespace millrace::shim::abi {

// Integer forms are those of the removed MPI-1 constructors called from Fortran; 0 and below: this ABI has none.
enum CombinerValue : int {
  combiner_named = 0,
  combiner_dup = 1,
  combiner_contiguous = 2,
  combiner_vector = 3,
  combiner_hvector_integer = 4,
  combiner_hvector = 5,
  combiner_indexed = 6,
  combiner_hindexed_integer = 7,
  combiner_hindexed = 8,
  combiner_indexed_block = 9,
  combiner_struct_integer = 10,
  combiner_struct = 11,
  combiner_subarray = 12,
  combiner_darray = 13,
  combiner_f90_real = 14,
  combiner_f90_complex = 15,
  combiner_f90_integer = 16,
  combiner_resized = 17,
  combiner_hindexed_block = 18,
  combiner_value_index = -1,
};
inline constexpr int order_fortran = 1;
inline constexpr int distribute_block = 0;
inline constexpr int distribute_cyclic = 1;
inline constexpr int distribute_default_argument = -1;
inline constexpr bool has_large_contents = false;

}  // namespace millrace::shim::abi
