/* A program whose heap has one lock, and that faults with it. */
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

extern void* __libc_malloc(size_t bytes);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int* volatile nowhere = NULL;

void* malloc(size_t bytes) {
  pthread_mutex_lock(&lock);
  void* const block = __libc_malloc(bytes);
  pthread_mutex_unlock(&lock);
  return block;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_mutex_lock(&lock);
  *nowhere = 1;
  return 0;
}
