! Its runtime says where it is when a fault ends it. With a word on the command line it stops instead.
program endings_fortran
  implicit none
  include 'mpif.h'
  integer :: error
  integer, pointer :: nowhere => null()
  call MPI_Init(error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (command_argument_count() > 0) stop 3
  nowhere = 1
  call MPI_Finalize(error)
end program endings_fortran
