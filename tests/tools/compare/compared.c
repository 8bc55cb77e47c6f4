/* What `millrace compare` and `millrace doctor` are tried on: calls, and a text.
 *
 *   compared CALLS WORDS    makes CALLS of MPI_Allreduce and of MPI_Bcast; rank 0 prints by WORDS:
 *       t  a time, another in every run             s  the sum
 *       m  the sum, one more under Millrace         w  a word that only Millrace brings
 *       e  ends with exit code 3 under Millrace     f  ends with exit code 5
 *       d  takes 150 ms more under Millrace         D  takes 150 ms more without it
 *       p  a word that differs between any two runs
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* MPI_Wtime has few digits on some hosts. */
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 100;
  const char* const words = argc > 2 ? argv[2] : "s";
  const char* const preload = getenv("LD_PRELOAD");
  const int ours = preload && strstr(preload, "libmillrace-");
  int rank = 0;
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < calls; ++i) {
    double one = rank + i, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    sum += all;
  }
  if (strchr(words, ours ? 'd' : 'D')) usleep(150000);
  if (rank == 0) {
    if (strchr(words, 's')) printf("sum %.1f\n", sum);
    if (strchr(words, 'm')) printf("number %.1f\n", sum + ours);
    if (strchr(words, 't')) printf("took %.9f s\n", now());
    if (strchr(words, 'w') && ours) printf("a word\n");
    if (strchr(words, 'p')) printf("process %c%c\n", 'a' + getpid() % 26, 'a' + getpid() / 26 % 26);
  }
  MPI_Finalize();
  if (strchr(words, 'f')) return 5;
  return strchr(words, 'e') && ours ? 3 : 0;
}
