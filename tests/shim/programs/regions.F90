! Marks parts of itself by levels; with mpif.h and an argument also by names, as profilers have it.
program regions
#ifdef F08
  use mpi_f08
  implicit none
#elif defined(MPIFH)
  implicit none
  include 'mpif.h'
#else
  use mpi
  implicit none
#endif
  integer :: error, i
  call mpi_init(error)
#ifdef MPIFH
  call mpi_pcontrol(1, 'with its end'//char(0))
  call barriers(2)
  call mpi_pcontrol(1, 'without')
  call barriers(3)
  call mpi_pcontrol(-1, 'without   ')
  call mpi_pcontrol(-1, 'with its end'//char(0))
#else
  call mpi_pcontrol(1)
  call mpi_pcontrol(3)
  call barriers(4)
  call mpi_pcontrol(9)
  call barriers(1)
  call mpi_pcontrol(-9)
#endif
  call barriers(5)
  call mpi_finalize(error)
contains
  subroutine barriers(calls)
    integer, intent(in) :: calls
    do i = 1, calls
      call mpi_barrier(mpi_comm_world, error)
    end do
  end subroutine
end program
