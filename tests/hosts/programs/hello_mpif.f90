program hello
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, total, status
  call MPI_Init(status)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, status)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, status)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, status)
  if (rank == 0) print '(i0, a, i0)', ranks, ' ranks, sum ', total
  call MPI_Finalize(status)
end program
