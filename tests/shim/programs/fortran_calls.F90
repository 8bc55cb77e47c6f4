! Collectives, user-defined ops and derived datatypes from Fortran, by `use mpi` or, with -DF08, by `use mpi_f08`.
! Prints "done" on rank 0 if every result is right on every rank.
#ifdef F08
#define HANDLE(KIND) type(KIND)
#else
#define HANDLE(KIND) integer
#endif
module own_op
contains
  subroutine add_and_double(in, inout, length, datatype)
#ifdef F08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [length])
    call c_f_pointer(inout, b, [length])
    b = 2 * (a + b)
#else
    integer :: length, datatype
    integer :: in(length), inout(length)
    inout = 2 * (in + inout)
#endif
  end subroutine
end module

program fortran_calls
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  use own_op
  implicit none
  integer, parameter :: n = 600
  HANDLE(MPI_Comm) :: comm
  HANDLE(MPI_Op) :: op
  HANDLE(MPI_Datatype) :: every_third, mixed, whole
  HANDLE(MPI_Request) :: requests(2)
#ifdef F08
  type(MPI_Status) :: statuses(2), status
#else
  integer :: statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE)
#endif
  integer :: rank, ranks, ierr, i, turn, root, wrong, total, peer, source, position, received
  integer :: a(n), b(n), expected, packed(n)
  double precision :: x(n), y(n), pairs(2), best(2)
  integer :: lengths(2), blocks(64), first
  integer(kind=MPI_ADDRESS_KIND) :: displacements(2), extent
  HANDLE(MPI_Datatype) :: types(2)

  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_rank(comm, rank, ierr)
  call MPI_Comm_size(comm, ranks, ierr)
  call MPI_Op_create(add_and_double, .false., op, ierr)
  call MPI_Type_vector(n / 3, 1, 3, MPI_INTEGER, every_third, ierr)
  call MPI_Type_commit(every_third, ierr)
  ! An integer, a gap, a double precision number, in 24 bytes.
  lengths = 1
  displacements = [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND]
  types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  call MPI_Type_create_struct(2, lengths, displacements, types, mixed, ierr)
  extent = 24
  call MPI_Type_create_resized(mixed, 0_MPI_ADDRESS_KIND, extent, whole, ierr)
  call MPI_Type_commit(whole, ierr)
  wrong = 0
  peer = mod(rank + 1, ranks)
  source = mod(rank + ranks - 1, ranks)

  do turn = 1, 20
    root = mod(turn, ranks)
    call MPI_Barrier(comm, ierr)

    a = -1
    if (rank == root) a = [(turn * i, i = 1, n)]
    call MPI_Bcast(a, n, MPI_INTEGER, root, comm, ierr)
    wrong = wrong + count(a /= [(turn * i, i = 1, n)])

    b = -1
    if (rank == root) b(1::3) = [(turn + i, i = 1, n / 3)]
    call MPI_Bcast(b, 1, every_third, root, comm, ierr)
    wrong = wrong + count(b(1::3) /= [(turn + i, i = 1, n / 3)])
    wrong = wrong + count(b(2::3) /= -1) + count(b(3::3) /= -1)

    x = rank + turn
    y = 0
    if (rank == root .and. root == 0) then  ! MPICH 4.0 by itself fails in place at other roots
      y = x
      call MPI_Reduce(MPI_IN_PLACE, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, comm, ierr)
      wrong = wrong + count(y /= ranks * (ranks - 1) / 2 + turn * ranks)
    else
      call MPI_Reduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, comm, ierr)
      if (rank /= root) wrong = wrong + count(y /= 0)
      if (rank == root) wrong = wrong + count(y /= ranks * (ranks - 1) / 2 + turn * ranks)
    end if

    expected = turn
    do i = 1, ranks - 1
      expected = modulo(2 * (expected + turn + i), 2**20)
    end do
    a = rank + turn
    call MPI_Allreduce(a, b, n, MPI_INTEGER, op, comm, ierr)
    if (ranks < 8) wrong = wrong + count(b /= expected)
    call MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_INTEGER, MPI_MAX, comm, ierr)
    wrong = wrong + count(a /= ranks - 1 + turn)

    pairs = [dble(mod(rank * 7, 5)), dble(rank)]
    call MPI_Allreduce(pairs, best, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, comm, ierr)
    do i = 0, ranks - 1
      if (mod(i * 7, 5) > best(1) .or. (mod(i * 7, 5) == best(1) .and. i < best(2))) wrong = wrong + 1
    end do

    a = rank + turn
    b = -1
    call MPI_Scan(a, b, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    wrong = wrong + count(b /= rank * (rank + 1) / 2 + turn * (rank + 1))
    b = -1
    call MPI_Exscan(a, b, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    if (rank == 0) wrong = wrong + count(b /= -1)
    if (rank /= 0) wrong = wrong + count(b /= rank * (rank - 1) / 2 + turn * rank)
    b = a
    call MPI_Scan(MPI_IN_PLACE, b, n, MPI_INTEGER, MPI_MAX, comm, ierr)
    wrong = wrong + count(b /= rank + turn)
    a = [(rank + i, i = 1, n)]
    b = -1
    call MPI_Reduce_scatter_block(a, b, n / ranks, MPI_INTEGER, MPI_SUM, comm, ierr)
    wrong = wrong + count(b(1:n / ranks) /= [(ranks * (ranks - 1) / 2 + ranks * (rank * (n / ranks) + i), &
                                              i = 1, n / ranks)]) + count(b(n / ranks + 1:) /= -1)
    blocks = 0
    blocks(1) = 7
    blocks(ranks) = n - 7
    if (ranks == 1) blocks(1) = n
    b = a
    call MPI_Reduce_scatter(MPI_IN_PLACE, b, blocks(1:ranks), MPI_INTEGER, MPI_MAX, comm, ierr)
    first = merge(0, sum(blocks(1:rank)), rank == 0)
    wrong = wrong + count(b(1:blocks(rank + 1)) /= [(ranks - 1 + first + i, i = 1, blocks(rank + 1))])

    ! Messages of derived datatypes, by blocking and nonblocking calls, packed and as they are.
    a = [(rank * 1000 + i + turn, i = 1, n)]
    b = -1
    call MPI_Sendrecv(a, 1, every_third, peer, 1, b, 1, every_third, source, 1, comm, status, ierr)
    wrong = wrong + count(b(1::3) /= [(source * 1000 + i + turn, i = 1, n, 3)]) + count(b(2::3) /= -1)
    call MPI_Get_count(status, every_third, received, ierr)
    if (received /= 1) wrong = wrong + 1

    x = [(dble(rank * 1000 + i), i = 1, n)]
    y = -1
    call MPI_Irecv(y, n / 3, whole, source, 2, comm, requests(1), ierr)
    call MPI_Isend(x, n / 3, whole, peer, 2, comm, requests(2), ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    wrong = wrong + count(y(2::3) /= [(dble(source * 1000 + i), i = 2, n, 3)]) + count(y(3::3) /= -1)

    position = 0
    packed = 0
    call MPI_Pack(a, 1, every_third, packed, 4 * n, position, comm, ierr)
    if (position /= 4 * n / 3) wrong = wrong + 1
    wrong = wrong + count(packed(1:n / 3) /= a(1::3))
    position = 0
    b = -1
    call MPI_Unpack(packed, 4 * n, position, b, 1, every_third, comm, ierr)
    wrong = wrong + count(b(1::3) /= a(1::3)) + count(b(2::3) /= -1)
  end do

  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
  if (wrong > 0) print '(a,i0,a,i0,a)', 'rank ', rank, ': ', wrong, ' wrong'
  if (rank == 0 .and. total == 0) print '(a)', 'done'
  call MPI_Op_free(op, ierr)
  call MPI_Type_free(every_third, ierr)
  call MPI_Type_free(mixed, ierr)
  call MPI_Type_free(whole, ierr)
  call MPI_Comm_free(comm, ierr)
  call MPI_Finalize(ierr)
end program
