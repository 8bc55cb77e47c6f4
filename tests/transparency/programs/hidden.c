/* Ranks that others cannot see as usual, for all or the one rank of the second argument (-1: all). First argument:
     plain         nothing
     before, after not dumpable, before or after MPI_Init
     first_thread  the process's first thread ends by pthread_exit, another goes on
     descriptors   all descriptors of the process are in use after MPI_Init
   Many collectives on duplicates of the world, with pauses in which others wait; each rank prints what was wrong. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, ranks;
static int taken[4096], taken_count;

static void* work(void* unused) {
  (void)unused;
  int wrong = 0;
  for (int round = 0; round < 3; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int call = 0; call < 60; ++call) {
      if (call == 40 && rank == round % ranks) usleep(700000); /* until those who wait look whether it lives */
      int own = call + rank, sum = 0;
      wrong += MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm) != 0;
      wrong += sum != ranks * call + ranks * (ranks - 1) / 2;
      static double data[3000];
      for (int i = 0; i < 3000; ++i) data[i] = rank == call % ranks ? call + i : -1;
      wrong += MPI_Bcast(data, 3000, MPI_DOUBLE, call % ranks, comm) != 0;
      for (int i = 0; i < 3000; ++i) wrong += data[i] != call + i;
    }
    MPI_Comm_free(&comm);
  }
  while (taken_count > 0) close(taken[--taken_count]);
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  exit(0);
}

static void start(int* argc, char*** argv) {
  int level;
  MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static sem_t started;

static void* start_and_work(void* unused) {
  start(NULL, NULL);
  sem_post(&started);
  return work(unused);
}

int main(int argc, char** argv) {
  const char* how = argv[1];
  const char* number = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  const int who = argc > 2 ? atoi(argv[2]) : -1, is_it = who < 0 || (number && who == atoi(number));
  if (is_it && strcmp(how, "before") == 0) prctl(PR_SET_DUMPABLE, 0);
  if (is_it && strcmp(how, "first_thread") == 0) {
    pthread_t thread; /* starts MPI, so that it is the one that may end it */
    sem_init(&started, 0, 0);
    pthread_create(&thread, NULL, start_and_work, NULL);
    while (sem_wait(&started) != 0) continue;
    pthread_exit(NULL);
  }
  start(&argc, &argv);
  if (is_it && strcmp(how, "after") == 0) prctl(PR_SET_DUMPABLE, 0);
  if (is_it && strcmp(how, "descriptors") == 0) {
    const struct rlimit limit = {1024, 1024};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (taken_count < 4096 && (taken[taken_count] = open("/dev/null", O_RDONLY)) >= 0) ++taken_count;
  }
  work(NULL);
}
