! MPI_Reduce_local through mpif.h (-DMODULE=0), use mpi (1) or use mpi_f08 (2).
program reduce_local
#if MODULE == 2
  use mpi_f08
#elif MODULE == 1
  use mpi
#endif
  implicit none
#if MODULE == 0
  include 'mpif.h'
#endif
  integer :: in(100), inout(100), i, ierror, rank
  double precision :: d(50), e(50)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  do i = 1, 100
    in(i) = i
    inout(i) = 1000 - i
  end do
  call MPI_Reduce_local(in, inout, 100, MPI_INTEGER, MPI_SUM, ierror)
  print '(a,3i6)', 'integer', inout(1), inout(100), ierror
  d = 2.5d0
  e = -1d0
  call MPI_Reduce_local(d, e, 50, MPI_DOUBLE_PRECISION, MPI_MAX, ierror)
  print '(a,f6.2,i6)', 'double', e(50), ierror
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, e, 50, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_SELF, ierror)
  print '(a,f6.2,i6)', 'allreduce', e(1), ierror
  call MPI_Finalize(ierror)
end program
