/* Marks parts of itself by MPI_Pcontrol and prints, on each rank, what it did in each: "NAME|ENTERED|CALLS|BYTES".
 * Arguments: levels, named, names (that are none, or hard to read), threads. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { threads = 3, calls_of_thread = 500 };

static int out[1000], in[1000];

/* Every rank to itself: as many calls, each with so many integers. */
static void exchange(int calls, int ints) {
  for (int i = 0; i < calls; ++i)
    MPI_Sendrecv(out, ints, MPI_INT, 0, 1, in, ints, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void expect(const char* name, int entered, int calls, int bytes) {
  printf("%s|%d|%d|%d\n", name, entered, calls, bytes);
}

static void levels(void) {
  const int harmless[] = {0, 1, 2, -1, -2};
  exchange(2, 1);
  MPI_Pcontrol(3);
  exchange(5, 10);
  for (int i = 0; i < 5; ++i) MPI_Pcontrol(harmless[i]);
  exchange(1, 10);
  MPI_Pcontrol(70000, "text", 1.5, 7);
  exchange(3, 100);
  MPI_Pcontrol(3);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(-3);
  exchange(9, 1);
  expect("MPI_Pcontrol(3)", 2, 7, 6 * 40);
  expect("MPI_Pcontrol(70000)", 1, 3, 3 * 400);
}

static void named(void) {
  for (int step = 0; step < 4; ++step) {
    MPI_Pcontrol(1, "step");
    exchange(1, 1);
    MPI_Pcontrol(1, "solve\nit");
    exchange(2, 2);
    MPI_Pcontrol(0);
    MPI_Pcontrol(5, "is no region");
    MPI_Pcontrol(-1, "solve\nit");
    MPI_Pcontrol(-1, "step");
    exchange(1, 1);
  }
  MPI_Pcontrol(1, "open until the end");
  exchange(3, 1);
  expect("step", 4, 12, 4 * (4 + 16));
  expect("solve it", 4, 8, 4 * 16);
}

static void names(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + page, page);
  char* const last = pages + page - 5;
  memcpy(last, "last", 5);
  MPI_Pcontrol(1, last);
  exchange(1, 1);
  MPI_Pcontrol(-1, last);
  MPI_Pcontrol(1, NULL);
  MPI_Pcontrol(1, pages + page);
  MPI_Pcontrol(-1, (void*)8);
  MPI_Pcontrol(-1, "never begun");
  exchange(1, 1);
  expect("last", 1, 1, 4);
}

static void* in_thread(void* nothing) {
  for (int i = 0; i < calls_of_thread; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &in[999]);
  return nothing;
}

static void of_threads(void) {
  pthread_t all[threads];
  MPI_Pcontrol(4);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, in_thread, NULL);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  MPI_Pcontrol(-4);
  expect("MPI_Pcontrol(4)", 1, threads * calls_of_thread, 0);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "levels";
  int provided;
  MPI_Init_thread(&argc, &argv, strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Barrier(MPI_COMM_WORLD); /* who ends before others have begun reports alone */
  if (strcmp(what, "named") == 0) named();
  if (strcmp(what, "names") == 0) names();
  if (strcmp(what, "threads") == 0) of_threads();
  if (strcmp(what, "levels") == 0) levels();
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
