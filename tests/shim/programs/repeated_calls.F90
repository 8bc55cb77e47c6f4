! repeated_calls [TURNS]: collectives of few shapes, over and over, with other data and buffers each time, from Fortran
! (repeated_calls.cpp does more of it in C). Prints "done" on rank 0 if every result is right on every rank.
#ifdef F08
#define HANDLE(KIND) type(KIND)
#else
#define HANDLE(KIND) integer
#endif
program repeated_calls
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: most = 40, most_ranks = 8, places = 3
  HANDLE(MPI_Comm) :: comms(2), comm
  integer :: rank, ranks, ierr, turn, turns, n, root, here, k, wrong, total, begin
  integer :: counts(most_ranks)
  character(len=20) :: word
  integer :: a(most * most_ranks, places), b(most * most_ranks, places)

  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comms(1), ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comms(2), ierr)
  call MPI_Comm_rank(comms(1), rank, ierr)
  call MPI_Comm_size(comms(1), ranks, ierr)
  wrong = 0
  turns = 400
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) turns
  end if
  do turn = 1, turns
    n = merge(3, most, mod(turn / 20, 2) == 0)
    root = mod(turn / 40, ranks)
    here = 1 + mod(turn, places)
    comm = comms(1 + mod(turn / 10, 2))
    if (mod(turn, 100) == 0) then  ! another in the place of this one
      call MPI_Comm_free(comms(2), ierr)
      call MPI_Comm_dup(MPI_COMM_WORLD, comms(2), ierr)
      comm = comms(2)
    end if
    call MPI_Barrier(comm, ierr)

    call lay()
    if (rank == root) b(1:n, here) = a(1:n, here)
    call MPI_Bcast(b(1, here), n, MPI_INTEGER, root, comm, ierr)
    call look(b(1:n, here), values(root, 0))

    call lay()
    call MPI_Allreduce(a(1, here), b(1, here), n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call look(b(1:n, here), sums(ranks))
    b(1:n, here) = a(1:n, here)
    call MPI_Allreduce(MPI_IN_PLACE, b(1, here), n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call look(b(1:n, here), sums(ranks))
    call MPI_Allreduce(a(1, here), b(1, here), n, MPI_INTEGER, MPI_MAX, comm, ierr)
    call look(b(1:n, here), values(ranks - 1, 0))

    call lay()
    call MPI_Reduce(a(1, here), b(1, here), n, MPI_INTEGER, MPI_SUM, root, comm, ierr)
    if (rank == root) call look(b(1:n, here), sums(ranks))
    call MPI_Scan(a(1, here), b(1, here), n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call look(b(1:n, here), sums(rank + 1))
    call MPI_Exscan(a(1, here), b(1, here), n, MPI_INTEGER, MPI_SUM, comm, ierr)
    if (rank > 0) call look(b(1:n, here), sums(rank))

    call lay()
    call MPI_Gather(a(1, here), n, MPI_INTEGER, b(1, here), n, MPI_INTEGER, root, comm, ierr)
    do k = 0, ranks - 1
      if (rank == root) call look(b(k * n + 1:(k + 1) * n, here), values(k, 0))
    end do
    call lay()
    call MPI_Scatter(a(1, here), n, MPI_INTEGER, b(1, here), n, MPI_INTEGER, root, comm, ierr)
    call look(b(1:n, here), values(root, rank))
    call lay()
    call MPI_Allgather(a(1, here), n, MPI_INTEGER, b(1, here), n, MPI_INTEGER, comm, ierr)
    do k = 0, ranks - 1
      call look(b(k * n + 1:(k + 1) * n, here), values(k, 0))
    end do
    call lay()
    call MPI_Alltoall(a(1, here), n, MPI_INTEGER, b(1, here), n, MPI_INTEGER, comm, ierr)
    do k = 0, ranks - 1
      call look(b(k * n + 1:(k + 1) * n, here), values(k, rank))
    end do
    call lay()
    call MPI_Reduce_scatter_block(a(1, here), b(1, here), n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call look(b(1:n, here), [(sum([(value(k, rank, total), k = 0, ranks - 1)]), total = 1, n)])
    ! The array is where it was and says something else.
    call lay()
    counts = n
    counts(1) = n - mod(turn / 7, 3)
    begin = sum(counts(1:rank))
    call MPI_Reduce_scatter(a(1, here), b(1, here), counts, MPI_INTEGER, MPI_SUM, comm, ierr)
    call look(b(1:counts(rank + 1), here), &
              [(sum([(value(k, total / n, mod(total, n) + 1), k = 0, ranks - 1)]), &
                total = begin, begin + counts(rank + 1) - 1)])
  end do

  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    if (total == 0) then
      print '(a)', 'done'
    else
      print '(i0, a)', total, ' wrong'
    end if
  end if
  call MPI_Finalize(ierr)

contains

  ! What rank `from` sends as element `i` of the block for rank `to`.
  integer function value(from, to, i)
    integer, intent(in) :: from, to, i
    value = turn * 1000 + from * 100 + to * 10000000 + i
  end function value

  function values(from, to)
    integer, intent(in) :: from, to
    integer :: values(n), i
    values = [(value(from, to, i), i = 1, n)]
  end function values

  function sums(below)
    integer, intent(in) :: below
    integer :: sums(n), r
    sums = 0
    do r = 0, below - 1
      sums = sums + values(r, 0)
    end do
  end function sums

  ! New data, and nothing of the old.
  subroutine lay()
    integer :: i
    a = -1
    b = -1
    do i = 0, ranks - 1
      a(i * n + 1:(i + 1) * n, here) = values(rank, i)
    end do
  end subroutine lay

  subroutine look(is, expected)
    integer, intent(in) :: is(:), expected(:)
    wrong = wrong + count(is /= expected)
  end subroutine look

end program repeated_calls
