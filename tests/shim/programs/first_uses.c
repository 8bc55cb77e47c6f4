/* Threads that name datatypes and ops for the first time, all at once: what each MPI_Reduce_local gives is checked.
   Prints how many calls were made and how many were wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8, ELEMENTS = 5 };

static const char* const names[] = {"int", "double", "float", "long", "unsigned char", "short", "uint64", "int8"};
enum { TYPES = sizeof names / sizeof *names };

static MPI_Datatype type_of(int index) {
  const MPI_Datatype types[TYPES] = {MPI_INT,           MPI_DOUBLE, MPI_FLOAT,    MPI_LONG,
                                     MPI_UNSIGNED_CHAR, MPI_SHORT,  MPI_UINT64_T, MPI_INT8_T};
  return types[index];
}

static void put(int index, void* at, int place, int value) {
  const int v_int = value;
  const double v_double = value;
  const float v_float = (float)value;
  const long v_long = value;
  const unsigned char v_unsigned_char = (unsigned char)value;
  const short v_short = (short)value;
  const unsigned long v_uint64 = (unsigned long)value;
  const signed char v_int8 = (signed char)value;
  const void* const from[TYPES] = {&v_int,           &v_double, &v_float,  &v_long,
                                   &v_unsigned_char, &v_short,  &v_uint64, &v_int8};
  const size_t bytes[TYPES] = {sizeof v_int,           sizeof v_double, sizeof v_float,  sizeof v_long,
                               sizeof v_unsigned_char, sizeof v_short,  sizeof v_uint64, sizeof v_int8};
  memcpy((char*)at + (size_t)place * bytes[index], from[index], bytes[index]);
}

static pthread_barrier_t together;
static int wrong[THREADS], calls[THREADS];

static void reduce(int thread, int index, MPI_Op op, int (*expected)(int, int)) {
  union {
    char bytes[8 * ELEMENTS];
    double aligned;
  } in = {{0}}, inout = {{0}}, right = {{0}};
  for (int i = 0; i < ELEMENTS; ++i) {
    put(index, in.bytes, i, i + 2);
    put(index, inout.bytes, i, 3 * i + 1);
    put(index, right.bytes, i, expected(i + 2, 3 * i + 1));
  }
  const int error = MPI_Reduce_local(in.bytes, inout.bytes, ELEMENTS, type_of(index), op);
  ++calls[thread];
  if (error != MPI_SUCCESS || memcmp(inout.bytes, right.bytes, sizeof right.bytes) != 0) ++wrong[thread];
}

static int sum(int a, int b) { return a + b; }
static int product(int a, int b) { return a * b; }
static int greater(int a, int b) { return a > b ? a : b; }

static void* work(void* argument) {
  const int thread = (int)(long)argument;
  pthread_barrier_wait(&together);
  for (int round = 0; round < 3; ++round)
    for (int step = 0; step < TYPES; ++step) {
      const int index = (step + thread / 2) % TYPES;  // two threads each come to a datatype together
      reduce(thread, index, MPI_SUM, sum);
      reduce(thread, index, MPI_PROD, product);
      reduce(thread, index, MPI_MAX, greater);
    }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, all_wrong = 0, all_calls = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) return 2;
  pthread_t threads[THREADS];
  pthread_barrier_init(&together, NULL, THREADS);
  for (long thread = 0; thread < THREADS; ++thread) pthread_create(&threads[thread], NULL, work, (void*)thread);
  for (int thread = 0; thread < THREADS; ++thread) {
    pthread_join(threads[thread], NULL);
    all_wrong += wrong[thread];
    all_calls += calls[thread];
  }
  MPI_Finalize();
  printf("%d calls, %d wrong\n", all_calls, all_wrong);
  return 0;
}
