! Calls of a program in Fortran, and, with TOOL, a tool in Fortran that counts those of MPI_ALLREDUCE.
#if defined(TOOL)
subroutine mpi_allreduce(a, b, c, d, e, f, ierror)
  implicit none
  integer :: a(*), b(*), c, d, e, f, ierror
  integer :: seen
  common /counted/ seen
  seen = seen + 1
  call pmpi_allreduce(a, b, c, d, e, f, ierror)
end subroutine
subroutine mpi_finalize(ierror)
  implicit none
  include 'mpif.h'
  integer :: ierror, rank
  integer :: seen
  common /counted/ seen
  call pmpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  write (*, '(A,I0,A,I0)') 'rank ', rank, ': Allreduce in Fortran ', seen
  flush (6)
  call pmpi_finalize(ierror)
end subroutine
#else
program neighbor_fortran
  implicit none
  include 'mpif.h'
  integer :: error, rank, ranks, i, value, total, wrong
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  wrong = 0
  do i = 1, 200
    value = rank + i
    call mpi_allreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (total /= ranks * (ranks - 1) / 2 + ranks * i) wrong = wrong + 1
    if (mod(i, 10) /= 0) cycle
    call mpi_bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    if (value /= i) wrong = wrong + 1
    call mpi_barrier(MPI_COMM_WORLD, error)
  end do
  write (*, '(A,I0,A,I0,A)') 'rank ', rank, ': ', wrong, ' wrong'
  flush (6)
  call mpi_finalize(error)
end program
#endif
