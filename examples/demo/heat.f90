! Heat in a rod, its ends kept at 0 and 1: each rank owns a piece and swaps edge values with its neighbours.
program heat
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: cells = 200, steps = 2000
  real(real64), parameter :: conductivity = 0.25_real64
  real(real64) :: temperature(0:cells + 1), next(cells), warmth, total, change, largest_change
  integer :: rank, ranks, left, right, step

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)

  temperature = 0
  if (right == MPI_PROC_NULL) temperature(cells + 1) = 1
  do step = 1, steps
    call MPI_Sendrecv(temperature(1), 1, MPI_DOUBLE_PRECISION, left, 0, &
                      temperature(cells + 1), 1, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(temperature(cells), 1, MPI_DOUBLE_PRECISION, right, 1, &
                      temperature(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    next = temperature(1:cells) + conductivity * &
           (temperature(0:cells - 1) - 2 * temperature(1:cells) + temperature(2:cells + 1))
    change = maxval(abs(next - temperature(1:cells)))
    temperature(1:cells) = next
    if (mod(step, 500) == 0) then
      warmth = sum(next)
      call MPI_Reduce(warmth, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
      call MPI_Allreduce(change, largest_change, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
      if (rank == 0) print '(a, i5, a, f18.14, a, es22.14)', 'step ', step, '  heat ', total, '  change ', largest_change
    end if
  end do
  call MPI_Finalize()
end program
