/* Signals while ranks wait for each other: SIGNALS HOW. timer: each rank is interrupted every half millisecond, by a
   handler that does not restart calls; stop: a child stops its parent for a while and lets it go on; peers: ranks send
   each other SIGUSR1. */
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void count(int number) {
  (void)number;
  const int saved = errno;
  ++came;
  errno = saved;
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  const char* how = argc > 1 ? argv[1] : "timer";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = count;
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  int own_pid = (int)getpid(), pids[64];
  MPI_Allgather(&own_pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  if (strcmp(how, "timer") == 0) {
    const struct itimerval half_ms = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &half_ms, NULL);
  }
  pid_t child = 0;
  if (strcmp(how, "stop") == 0 && rank == ranks - 1) {
    child = fork();
    if (child == 0) {
      for (int i = 0; i < 3; ++i) {
        usleep(20000);
        kill(own_pid, SIGSTOP);
        usleep(400000);
        kill(own_pid, SIGCONT);
      }
      _exit(0);
    }
  }
  const double start_s = MPI_Wtime();
  int on = 1;
  for (int i = 0; on; ++i) {
    double in[300], out[300];
    for (int k = 0; k < 300; ++k) in[k] = rank + k + i;
    MPI_Allreduce(in, out, 300, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong += out[299] != ranks * (ranks - 1) / 2.0 + ranks * (299.0 + i);
    if (strcmp(how, "peers") == 0 && i % 10 == rank) kill(pids[(rank + 1) % ranks], SIGUSR1);
    if (rank == i % ranks) usleep(300);
    MPI_Barrier(MPI_COMM_WORLD);
    if (i % 50 == 49) {
      on = MPI_Wtime() - start_s < 1.5;
      MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
  }
  if (child) waitpid(child, NULL, 0);
  const struct itimerval none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &none, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d: %d wrong, interrupted: %s\n", rank, wrong, came > 0 ? "yes" : "no");
  MPI_Finalize();
  return 0;
}
