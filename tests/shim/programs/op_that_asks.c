/* A function of an op names a datatype that nobody has named, inside of the host, while another thread names one too:
   neither may wait for the other for ever. Prints how many results were wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
  int value, place;
} Pair;
typedef struct {
  double value;
  int place;
} Real;

static atomic_int is_inside;
static int wrong;

static void within(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((const int*)in)[i];
  if (atomic_exchange(&is_inside, 1)) return;
  usleep(50000); /* the other thread asks meanwhile */
  const Real other = {3.0, 1};
  Real least = {4.0, 0};
  MPI_Reduce_local(&other, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC);
  if (least.value != 3.0 || least.place != 1) ++wrong;
}

static void* beside(void* unused) {
  (void)unused;
  while (!atomic_load(&is_inside)) usleep(100);
  const Pair other = {7, 1};
  Pair greatest = {5, 0};
  MPI_Reduce_local(&other, &greatest, 1, MPI_2INT, MPI_MAXLOC);
  return greatest.value == 7 && greatest.place == 1 ? NULL : &wrong;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) return 2;
  MPI_Op op;
  MPI_Op_create(within, 1, &op);
  pthread_t thread;
  void* is_wrong = NULL;
  pthread_create(&thread, NULL, beside, NULL);
  int all = 0, own = 1, ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&own, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
  if (all != ranks) ++wrong;
  if (!atomic_load(&is_inside)) {
    int sum = 1;
    MPI_Reduce_local(&own, &sum, 1, MPI_INT, op);
  }
  pthread_join(thread, &is_wrong);
  if (is_wrong) ++wrong;
  MPI_Op_free(&op);
  MPI_Finalize();
  printf("%d wrong\n", wrong);
  return 0;
}
