! As late_answers.c: "late N" for N calls of MPI_IPROBE and MPI_TEST that say no after MPI_BARRIER, of what was sent before.
program late_answers
#ifdef F08
  use mpi_f08
  implicit none
  type(MPI_Request) :: request
  type(MPI_Status) :: status
#else
  use mpi
  implicit none
  integer :: request, status(MPI_STATUS_SIZE)
#endif
  integer :: rank, ranks, from, turn, late, value, ierror
  logical :: yes
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  late = 0
  value = 0
  do turn = 1, 300 ! the communicator becomes ours
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  do turn = 1, 500
    if (rank == 0) call MPI_Irecv(value, 1, MPI_INTEGER, ranks - 1, 2, MPI_COMM_WORLD, request, ierror)
    if (rank /= 0) call MPI_Send(rank, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierror)
    if (rank == ranks - 1) call MPI_Send(rank, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank /= 0) cycle
    call MPI_Iprobe(ranks - 1, 1, MPI_COMM_WORLD, yes, status, ierror)
    if (.not. yes) late = late + 1
    call MPI_Test(request, yes, status, ierror)
    if (.not. yes) late = late + 1
    if (.not. yes) call MPI_Wait(request, status, ierror)
    do from = 1, ranks - 1
      call MPI_Recv(value, 1, MPI_INTEGER, from, 1, MPI_COMM_WORLD, status, ierror)
    end do
  end do
  if (rank == 0) print '(a,i0)', 'late ', late
  call MPI_Finalize(ierror)
end program
