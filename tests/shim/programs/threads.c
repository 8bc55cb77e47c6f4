/* Several threads call MPI at once; the counters must be exact. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 6, calls = 20000 };

static void* work(void* argument) {
  float* buffers = argument;
  for (int i = 0; i < calls; ++i) MPI_Reduce_local(buffers, buffers + 32, 32, MPI_FLOAT, MPI_MAX);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  pthread_t id[threads];
  for (int i = 0; i < threads; ++i) pthread_create(&id[i], NULL, work, calloc(64, sizeof(float)));
  for (int i = 0; i < threads; ++i) pthread_join(id[i], NULL);
  printf("calls %d\n", threads * calls);
  MPI_Finalize();
  return 0;
}
