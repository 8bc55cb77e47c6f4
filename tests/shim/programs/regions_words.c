/* Gives MPI_Pcontrol more than the registers hold, and prints what came back of it. */
#include <mpi.h>
#include <stdio.h>

#define BOTH(i) 1000000007L * (i), 0.25 * (i)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0;
  for (int turn = 0; turn < 3; ++turn)
    wrong += MPI_Pcontrol(77, "first", BOTH(1), BOTH(2), BOTH(3), BOTH(4), BOTH(5), BOTH(6), BOTH(7), BOTH(8), BOTH(9),
                          BOTH(10), BOTH(11), BOTH(12), 1.125L);
  printf("%d wrong, %d %d\n", wrong, MPI_Pcontrol(1), MPI_Pcontrol(-5));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
