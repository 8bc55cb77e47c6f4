! Rank 0 sends to rank 1 by the calls of Fortran: 4 messages and 3 starts. Two ranks.
program peers
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, error, i
  integer :: data(100), got(100)
#ifdef F08
  type(mpi_request) :: request
#else
  integer :: request
  integer :: status(mpi_status_size)
#endif
  data = 1
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  if (rank == 0) then
    call mpi_send(data, 10, mpi_integer, 1, 1, mpi_comm_world, error)
    call mpi_isend(data, 20, mpi_double_precision, 1, 2, mpi_comm_world, request, error)
    call wait_for_it
    call mpi_ssend(data, 0, mpi_integer, 1, 3, mpi_comm_world, error)
    call mpi_send_init(data, 7, mpi_integer, 1, 4, mpi_comm_world, request, error)
    do i = 1, 3
      call mpi_start(request, error)
      call wait_for_it
    end do
    call mpi_request_free(request, error)
  else
    call receive(10, 1)
    call receive(40, 2)
    call receive(0, 3)
    do i = 1, 3
      call receive(7, 4)
    end do
  end if
#ifdef F08
  call mpi_sendrecv(data, 5, mpi_integer, 1 - rank, 5, got, 5, mpi_integer, 1 - rank, 5, mpi_comm_world, &
                    mpi_status_ignore)
#else
  call mpi_sendrecv(data, 5, mpi_integer, 1 - rank, 5, got, 5, mpi_integer, 1 - rank, 5, mpi_comm_world, status, error)
#endif
  if (rank == 0) print '(a)', 'done'
  call mpi_finalize(error)

contains

  subroutine wait_for_it
    call mpi_wait(request, mpi_status_ignore, error)
  end subroutine

  subroutine receive(count, tag)
    integer, intent(in) :: count, tag
    if (tag == 2) then
      call mpi_recv(got, 20, mpi_double_precision, 0, tag, mpi_comm_world, mpi_status_ignore, error)
    else
      call mpi_recv(got, count, mpi_integer, 0, tag, mpi_comm_world, mpi_status_ignore, error)
    end if
  end subroutine
end program
