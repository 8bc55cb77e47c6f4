! Called by local_fortran.c: in place, so that a sentinel of Fortran has to be known.
subroutine work()
  include 'mpif.h'
  integer :: error, rank, ranks, values(4), i, wrong
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  wrong = 0
  do i = 1, 300
    values = rank + i
    call mpi_allreduce(MPI_IN_PLACE, values, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS .or. any(values /= ranks * (ranks - 1) / 2 + ranks * i)) wrong = wrong + 1
  end do
  if (wrong /= 0) print '(i0, a)', wrong, ' wrong'
  if (rank == 0 .and. wrong == 0) print '(a)', 'done'
  call mpi_finalize(error)
end subroutine
