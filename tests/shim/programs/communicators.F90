! Two communicators with names, and the calls that the report is to have on them.
program communicators
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: error, i
  double precision :: data(8), total(8)
#ifdef F08
  type(mpi_comm) :: comm
#else
  integer :: comm
#endif
  data = 1
  call mpi_init(error)
  call mpi_comm_dup(mpi_comm_world, comm, error)
  call mpi_comm_set_name(comm, "from Fortran", error)
  do i = 1, 20
    call mpi_allreduce(data, total, 8, mpi_double_precision, mpi_sum, comm, error)
    call mpi_barrier(comm, error)
  end do
#ifdef F08
  call mpi_comm_set_name(mpi_comm_world, "everybody")
#else
  call mpi_comm_set_name(mpi_comm_world, "everybody", error)
#endif
  call mpi_barrier(mpi_comm_world, error)
  call mpi_comm_free(comm, error)
  call mpi_finalize(error)
end program
