! Rank 0 puts into the windows of ranks that sleep in a Barrier, on a communicator that numbers them the other way
! round (targets.c). Prints the least time of an operation in us, and the values that did not arrive.
program targets
  use mpi
  implicit none
  integer, parameter :: turns = 5, operations = 20
  integer :: world_rank, rank, ranks, comm, win, error, number, i, wrong, all
  integer :: data(64)
  integer, volatile :: memory(64)
  integer(kind=mpi_address_kind) :: bytes
  double precision :: begin, least
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, world_rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  do i = 1, 40
    call mpi_barrier(mpi_comm_world, error)
  end do
  call mpi_comm_split(mpi_comm_world, 0, ranks - world_rank, comm, error)
  bytes = 256
  call mpi_win_create(memory, bytes, 4, mpi_info_null, comm, win, error)
  wrong = 0
  do rank = 0, ranks - 2
    least = 1d9
    do number = 1, turns
      data = 1000 * number + rank
      memory = 0
      call pmpi_barrier(mpi_comm_world, error)
      if (world_rank == 0) then
        begin = mpi_wtime()
        do while (mpi_wtime() < begin + 2d-2)
        end do
        begin = mpi_wtime()
        bytes = 0
        do i = 1, operations
          call mpi_win_lock(mpi_lock_exclusive, rank, 0, win, error)
          call mpi_put(data, 64, mpi_integer, rank, bytes, 64, mpi_integer, win, error)
          call mpi_win_unlock(rank, win, error)
        end do
        least = min(least, mpi_wtime() - begin)
      end if
      call mpi_barrier(mpi_comm_world, error)
      if (world_rank == ranks - 1 - rank) then
        call mpi_win_lock(mpi_lock_shared, rank, 0, win, error)
        if (any(memory /= 1000 * number + rank)) wrong = wrong + 1
        call mpi_win_unlock(rank, win, error)
      end if
    end do
    if (world_rank == 0) print '(a, i0, a, f0.1)', 'w fortran ', rank, ' ', 1d6 * least / operations
  end do
  call mpi_win_free(win, error)
  call mpi_reduce(wrong, all, 1, mpi_integer, mpi_sum, 0, mpi_comm_world, error)
  if (world_rank == 0) print '(a, i0)', 'wrong ', all
  call mpi_finalize(error)
end program
