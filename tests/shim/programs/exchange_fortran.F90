! Collectives that only move data, from Fortran, by `use mpi` or, with -DF08, by `use mpi_f08`. Prints "done" on rank 0 if
! every result is right on every rank.
#ifdef F08
#define HANDLE(KIND) type(KIND)
#else
#define HANDLE(KIND) integer
#endif
program exchange_fortran
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: n = 300, most = 8
  HANDLE(MPI_Comm) :: comm, ring
  HANDLE(MPI_Datatype) :: every_other, types(most)
  integer :: rank, ranks, ierr, i, k, turn, root, wrong, total, left, right
  integer :: a(n * most), b(2 * n * most), counts(most), places(most)
  integer(kind=MPI_ADDRESS_KIND) :: wide(most), extent

  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_rank(comm, rank, ierr)
  call MPI_Comm_size(comm, ranks, ierr)
  call MPI_Cart_create(comm, 1, [ranks], [.true.], .false., ring, ierr)
  call MPI_Cart_shift(ring, 0, 1, left, right, ierr)
  extent = 8
  call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, extent, every_other, ierr)
  call MPI_Type_commit(every_other, ierr)
  wrong = 0
  do i = 1, 8
    call MPI_Barrier(comm, ierr)
    call MPI_Barrier(ring, ierr)
  end do

  do turn = 1, 10
    root = mod(turn, ranks)
    a = [((value(rank, k, i), i = 1, n), k = 0, most - 1)]

    b = -1
    call MPI_Alltoall(a, n, MPI_INTEGER, b, n, MPI_INTEGER, comm, ierr)
    do k = 0, ranks - 1
      wrong = wrong + count(b(k * n + 1:(k + 1) * n) /= [(value(k, rank, i), i = 1, n)])
    end do

    b = -1
    call MPI_Allgather(a, n, MPI_INTEGER, b, n, every_other, comm, ierr)
    do k = 0, ranks - 1
      wrong = wrong + count(b(2 * k * n + 1:2 * (k + 1) * n:2) /= [(value(k, 0, i), i = 1, n)])
    end do
    wrong = wrong + count(b(2::2) /= -1)

    b = -1
    b(rank * n + 1:(rank + 1) * n) = a(1:n)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, b, n, MPI_INTEGER, comm, ierr)
    do k = 0, ranks - 1
      wrong = wrong + count(b(k * n + 1:(k + 1) * n) /= [(value(k, 0, i), i = 1, n)])
    end do

    b = -1
    if (rank == root) then
      b(rank * n + 1:(rank + 1) * n) = a(1:n)
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, b, n, MPI_INTEGER, root, comm, ierr)
      do k = 0, ranks - 1
        wrong = wrong + count(b(k * n + 1:(k + 1) * n) /= [(value(k, 0, i), i = 1, n)])
      end do
    else
      call MPI_Gather(a, n, MPI_INTEGER, b, n, MPI_INTEGER, root, comm, ierr)
      wrong = wrong + count(b /= -1)
    end if

    counts = [(n - i, i = 0, most - 1)]
    places = [(n * i, i = 0, most - 1)]
    b = -1
    call MPI_Gatherv(a, n - rank, MPI_INTEGER, b, counts, places, every_other, root, comm, ierr)
    if (rank == root) then
      do k = 0, ranks - 1
        wrong = wrong + count(b(2 * k * n + 1:2 * (k * n + n - k):2) /= [(value(k, 0, i), i = 1, n - k)])
      end do
    end if
    wrong = wrong + count(b(2::2) /= -1)

    b = -1
    call MPI_Scatterv(a, counts, places, MPI_INTEGER, b, n - rank, every_other, root, comm, ierr)
    wrong = wrong + count(b(1:2 * (n - rank):2) /= [(value(root, rank, i), i = 1, n - rank)]) + count(b(2::2) /= -1)

    b = -1
    call MPI_Scatter(a, n, MPI_INTEGER, b, n, MPI_INTEGER, root, comm, ierr)
    wrong = wrong + count(b(1:n) /= [(value(root, rank, i), i = 1, n)])

    b = -1
    counts = n
    call MPI_Alltoallv(a, counts, places, MPI_INTEGER, b, counts, places, every_other, comm, ierr)
    do k = 0, ranks - 1
      wrong = wrong + count(b(2 * k * n + 1:2 * (k + 1) * n:2) /= [(value(k, rank, i), i = 1, n)])
    end do

    b = -1
    types = MPI_INTEGER
    places = 4 * places
    call MPI_Alltoallw(a, counts, places, types, b, counts, places, types, comm, ierr)
    do k = 0, ranks - 1
      wrong = wrong + count(b(k * n + 1:(k + 1) * n) /= [(value(k, rank, i), i = 1, n)])
    end do

#ifndef NO_NEIGHBOR_ALLTOALLW
    b = -1
    wide = [(4_MPI_ADDRESS_KIND * n * i, i = 0, most - 1)]
    call MPI_Neighbor_alltoallw(a, counts, wide, types, b, counts, wide, types, ring, ierr)
    if (ranks > 2) then  ! of two, both neighbours are the same
      wrong = wrong + count(b(1:n) /= [(value(left, 1, i), i = 1, n)])
      wrong = wrong + count(b(n + 1:2 * n) /= [(value(right, 0, i), i = 1, n)])
    end if
#endif

    b = -1
    call MPI_Neighbor_allgather(a, n, MPI_INTEGER, b, n, MPI_INTEGER, ring, ierr)
    wrong = wrong + count(b(1:n) /= [(value(left, 0, i), i = 1, n)])
    wrong = wrong + count(b(n + 1:2 * n) /= [(value(right, 0, i), i = 1, n)])
  end do

  call MPI_Type_free(every_other, ierr)
  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    if (total == 0) then
      print '(a)', 'done'
    else
      print *, total, 'wrong'
    end if
  end if
  call MPI_Comm_free(ring, ierr)
  call MPI_Comm_free(comm, ierr)
  call MPI_Finalize(ierr)

contains
  ! Element i of the block of `from` for `to`.
  integer function value(from, to, i)
    integer, intent(in) :: from, to, i
    value = ((turn * 10 + from) * 10 + to) * 1000 + i
  end function
end program
