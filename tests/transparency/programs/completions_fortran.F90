! As completions.c, by mpi_f08 (F08) or mpi; TOOL: mpi_wait is the program's own, in Fortran.
program completions
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: blocks = 600, step = 3, ints = blocks * step, messages = 20
  integer :: rank, peer, error, message, i, missing
  integer :: out(ints), in(ints)
#ifdef F08
  type(MPI_Datatype) :: vector
  type(MPI_Request) :: requests(2)
#else
  integer :: vector, requests(2)
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  peer = 1 - rank
  call MPI_Type_vector(blocks, 2, step, MPI_INTEGER, vector, error)
  call MPI_Type_commit(vector, error)
  out = [(rank * ints + i, i = 0, ints - 1)]
  missing = 0
  do message = 1, messages
    in = -1
    call MPI_Irecv(in, 1, vector, peer, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, 1, vector, peer, 1, MPI_COMM_WORLD, requests(2), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE, error)
    if (any([(mod(i, step) < 2 .and. in(i + 1) /= peer * ints + i, i = 0, ints - 2)])) missing = missing + 1
  end do
  print '(a, i0, a, i0)', 'rank ', rank, ', missing: ', missing
  call MPI_Type_free(vector, error)
  call MPI_Finalize(error)
end program

#ifdef TOOL
subroutine mpi_wait(request, status, error)
  implicit none
  integer :: request, status(*), error
  call pmpi_wait(request, status, error)
end subroutine
#endif
