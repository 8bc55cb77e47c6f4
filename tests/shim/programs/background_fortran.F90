! Nonblocking collectives from Fortran, by `use mpi` or, with -DF08, by `use mpi_f08`, ended by every call that can end
! them. Prints "done" on rank 0 if every result is right on every rank. MPICH 4 by itself gets indices wrong, so the first
! turns, until ranks have agreed, do without: so many that they last longer than agreeing does.
#ifdef F08
#define HANDLE(KIND) type(KIND)
#define STATUS(NAME) type(MPI_Status) :: NAME
#define STATUSES(NAME, SIZE) type(MPI_Status) :: NAME(SIZE)
#else
#define HANDLE(KIND) integer
#define STATUS(NAME) integer :: NAME(MPI_STATUS_SIZE)
#define STATUSES(NAME, SIZE) integer :: NAME(MPI_STATUS_SIZE, SIZE)
#endif
program background_fortran
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: n = 200, most = 8, open_calls = 6, first_turns = 1000
  HANDLE(MPI_Request) :: requests(open_calls)
  STATUS(one_status)
  STATUSES(all_statuses, open_calls)
  integer, asynchronous :: a(n * most), b(n * most, open_calls)
  integer :: rank, ranks, ierr, i, k, turn, root, wrong, total, indx, some, places(open_calls), ended
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  wrong = 0
  do turn = 1 - first_turns, 79
    root = modulo(turn, ranks)
    a = [((value(rank, k, i), i = 1, n), k = 0, most - 1)]
    b = -1
    b(1:n, 2) = a(1:n)
    call MPI_Iallreduce(a, b(:, 1), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Ibcast(b(:, 2), n, MPI_INTEGER, root, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Ialltoall(a, n, MPI_INTEGER, b(:, 3), n, MPI_INTEGER, MPI_COMM_WORLD, requests(3), ierr)
    call MPI_Igather(a, n, MPI_INTEGER, b(:, 4), n, MPI_INTEGER, root, MPI_COMM_WORLD, requests(4), ierr)
    call MPI_Iscan(a, b(:, 5), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(5), ierr)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(6), ierr)
    ended = 0
    select case (merge(modulo(turn, 3), mod(turn, 8), turn < 24))
    case (0)
      do i = open_calls, 1, -1
        call MPI_Wait(requests(i), one_status, ierr)
      end do
    case (1)
      call MPI_Waitall(open_calls, requests, all_statuses, ierr)
    case (2)
      call MPI_Waitall(open_calls, requests, MPI_STATUSES_IGNORE, ierr)
    case (3)
      do i = 1, open_calls
        call MPI_Waitany(open_calls, requests, indx, one_status, ierr)
        if (indx < 1 .or. indx > open_calls) wrong = wrong + 1
        ended = ended + indx
      end do
      if (ended /= 21) wrong = wrong + 1
    case (4)
      do while (ended < open_calls)
        call MPI_Waitsome(open_calls, requests, some, places, all_statuses, ierr)
        if (some < 1 .or. minval(places(1:some)) < 1 .or. maxval(places(1:some)) > open_calls) wrong = wrong + 1
        ended = ended + some
      end do
    case (5)
      do while (ended < open_calls)
        call MPI_Testsome(open_calls, requests, some, places, MPI_STATUSES_IGNORE, ierr)
        ended = ended + some
      end do
    case (6)
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(open_calls, requests, flag, all_statuses, ierr)
      end do
    case (7)
      do i = 1, open_calls
        flag = .false.
        do while (.not. flag)
          call MPI_Request_get_status(requests(i), flag, one_status, ierr)
        end do
        flag = .false.
        call MPI_Test(requests(i), flag, MPI_STATUS_IGNORE, ierr)
        if (.not. flag) wrong = wrong + 1
      end do
    end select
    do i = 1, open_calls
      if (requests(i) /= MPI_REQUEST_NULL) wrong = wrong + 1
    end do
    wrong = wrong + count(b(1:n, 1) /= [(sum([(value(k, 0, i), k = 0, ranks - 1)]), i = 1, n)])
    wrong = wrong + count(b(1:n, 2) /= [(value(root, 0, i), i = 1, n)])
    do k = 0, ranks - 1
      wrong = wrong + count(b(k * n + 1:(k + 1) * n, 3) /= [(value(k, rank, i), i = 1, n)])
      if (rank == root) wrong = wrong + count(b(k * n + 1:(k + 1) * n, 4) /= [(value(k, 0, i), i = 1, n)])
    end do
    wrong = wrong + count(b(1:n, 5) /= [(sum([(value(k, 0, i), k = 0, rank)]), i = 1, n)])
  end do

  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. total == 0) print '(a)', 'done'
  if (rank == 0 .and. total /= 0) print '(i0, a)', total, ' wrong'
  call MPI_Finalize(ierr)

contains
  pure integer function value(from, to, element)
    integer, intent(in) :: from, to, element
    value = from * 10000 + to * 1000 + mod(element * 7, 997) + turn
  end function
end program
