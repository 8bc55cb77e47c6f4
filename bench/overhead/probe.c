// What single MPI calls cost in this process, one "NAME NANOSECONDS" per line: the least mean over many batches,
// because whatever else the machine does only ever adds. One rank, so nothing waits for anything.
//
//   probe                      measures
//   probe stamp COMMAND ...    notes the time in BENCH_START_NS and executes COMMAND: "start" counts from there
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { batches = 300, reduced_elements = 256 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static volatile int sink;

static void comm_rank(int calls) {
  int rank = 0;
  for (int call = 0; call < calls; ++call) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sink = rank;
}

static void type_size(int calls) {
  int bytes = 0;
  for (int call = 0; call < calls; ++call) MPI_Type_size(MPI_DOUBLE, &bytes);
  sink = bytes;
}

static void comm_get_attr(int calls) {
  void* value = NULL;
  int found = 0;
  for (int call = 0; call < calls; ++call) MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  sink = found;
}

static void wtime(int calls) {
  double sum = 0;
  for (int call = 0; call < calls; ++call) sum += MPI_Wtime();
  sink = sum > 0;
}

static void iprobe(int calls) {
  int found = 0;
  for (int call = 0; call < calls; ++call) MPI_Iprobe(0, 1, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
  sink = found;
}

static void self_sendrecv(int calls) {
  double out = 1, in = 0;
  for (int call = 0; call < calls; ++call)
    MPI_Sendrecv(&out, 8, MPI_BYTE, 0, 2, &in, 8, MPI_BYTE, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  sink = in > 0;
}

static void reduce_local(int calls) {
  static float in[reduced_elements] __attribute__((aligned(64)));
  static float inout[reduced_elements] __attribute__((aligned(64)));
  for (int call = 0; call < calls; ++call) MPI_Reduce_local(in, inout, reduced_elements, MPI_FLOAT, MPI_SUM);
  sink = inout[0] > 0;
}

static void measure(const char* name, void (*make_calls)(int), int calls) {
  double least_ns = 1e18;
  for (int batch = 0; batch < batches; ++batch) {
    const double start_ns = now_ns();
    make_calls(calls);
    const double mean_ns = (now_ns() - start_ns) / calls;
    if (mean_ns < least_ns) least_ns = mean_ns;
  }
  printf("%s %.3f\n", name, least_ns);
}

static int stamp(char** command) {
  char text[32];
  snprintf(text, sizeof text, "%.0f", now_ns());
  setenv("BENCH_START_NS", text, 1);
  execv(command[0], command);
  perror(command[0]);
  return 127;
}

int main(int argument_count, char** arguments) {
  if (argument_count > 2 && strcmp(arguments[1], "stamp") == 0) return stamp(arguments + 2);
  const double before_ns = now_ns();
  MPI_Init(&argument_count, &arguments);
  const double after_ns = now_ns();
  printf("MPI_Init %.0f\n", after_ns - before_ns);
  const char* start = getenv("BENCH_START_NS");
  if (start) printf("start %.0f\n", after_ns - atof(start));
  measure("MPI_Comm_rank", comm_rank, 1000);
  measure("MPI_Type_size", type_size, 1000);
  measure("MPI_Comm_get_attr", comm_get_attr, 1000);
  measure("MPI_Wtime", wtime, 1000);
  measure("MPI_Iprobe", iprobe, 500);
  measure("MPI_Sendrecv", self_sendrecv, 200);
  measure("MPI_Reduce_local", reduce_local, 1000);
  MPI_Finalize();
  return 0;
}
