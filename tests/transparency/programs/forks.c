/* A rank forks in the middle of its collectives; the child ends in one way or another (FORKS HOW), without a call of
   MPI, and at once or while the parents go on. HOW: _exit, exit, system, thread (forked by a second thread), kill. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* how;
static int rank;

static pid_t make_child(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  usleep(2000);
  if (strcmp(how, "exit") == 0) exit(3);
  _exit(3);
}

static void* fork_in_thread(void* child) {
  *(pid_t*)child = make_child();
  return NULL;
}

int main(int argc, char** argv) {
  int ranks, wrong = 0, provided;
  how = argc > 1 ? argv[1] : "_exit";
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  pid_t children[4];
  int made = 0;
  for (int i = 0; i < 200; ++i) {
    int own = rank * 3 + i, sum = 0, word = rank == i % ranks ? i : -1;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&word, 1, MPI_INT, i % ranks, MPI_COMM_WORLD);
    wrong += sum != 3 * ranks * (ranks - 1) / 2 + ranks * i || word != i;
    if (i % 50 != 5 || rank == 1) continue;
    if (strcmp(how, "system") == 0) {
      wrong += WEXITSTATUS(system("exit 3")) != 3;
    } else if (strcmp(how, "thread") == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, fork_in_thread, &children[made++]);
      pthread_join(thread, NULL);
    } else {
      children[made++] = make_child();
    }
  }
  for (int i = 0; i < made; ++i) {
    int status = 0;
    wrong += waitpid(children[i], &status, 0) != children[i];
    wrong += strcmp(how, "kill") == 0 ? !WIFSIGNALED(status) : WEXITSTATUS(status) != 3;
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return 0;
}
