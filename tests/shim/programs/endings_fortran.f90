! Its runtime says where it is when a fault ends it.
program endings_fortran
  implicit none
  include 'mpif.h'
  integer :: error
  integer, pointer :: nowhere => null()
  call MPI_Init(error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  nowhere = 1
  call MPI_Finalize(error)
end program endings_fortran
