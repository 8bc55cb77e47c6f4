// What MPI_Type_get_envelope and MPI_Type_get_contents answer with on MPICH and Intel MPI.
#pragma once

namespace millrace::shim::abi {

// Integer forms are those of the removed MPI-1 constructors called from Fortran.
enum CombinerValue : int {
  combiner_named = 1,
  combiner_dup = 2,
  combiner_contiguous = 3,
  combiner_vector = 4,
  combiner_hvector_integer = 5,
  combiner_hvector = 6,
  combiner_indexed = 7,
  combiner_hindexed_integer = 8,
  combiner_hindexed = 9,
  combiner_indexed_block = 10,
  combiner_struct_integer = 11,
  combiner_struct = 12,
  combiner_subarray = 13,
  combiner_darray = 14,
  combiner_f90_real = 15,
  combiner_f90_complex = 16,
  combiner_f90_integer = 17,
  combiner_resized = 18,
  combiner_hindexed_block = 19,
  combiner_value_index = 20,
};
inline constexpr int order_fortran = 57;
inline constexpr int distribute_block = 121;
inline constexpr int distribute_cyclic = 122;
inline constexpr int distribute_default_argument = -49767;
inline constexpr bool has_large_contents = true;

}  // namespace millrace::shim::abi
