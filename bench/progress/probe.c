// How long a rank works on ranks that wait in a collective: an operation that needs rank 1's progress while ranks 1,
// 2, ... sit in MPI_Barrier (or Bcast, Allreduce, Alltoall). One process group under Millrace: the ranks wait in MPI_
// (ours) or in PMPI_ (the host's own), in turns; rank 0's operations are the host's in both.
//
//   probe turns delay_us operations waits    prints "operation wait side turn us"
//   probe turns 0 compute ms                 prints "compute wait side turn ms cpu_s": rank 0 computes for so long on a
//                                            core of its own while the others wait in a Barrier; their processor time
//
// operations: p lock, put, unlock; f put, flush; o fetch_and_op, flush; s send of 1 MiB to a posted receive; n
// Iallreduce that the others have started; P partitioned send. waits: b Barrier, B Bcast, a Allreduce, A Alltoall.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PARTITIONED 1
#else
#define HAS_PARTITIONED 0
#endif

enum { most_operations = 64, message_bytes = 1 << 20, reduced = 1024, partitions = 4, exchanged = 16 };

static int rank, ranks;
static MPI_Win win;
static double *target, *source, *sums, *totals;
static char* messages;
static MPI_Request requests[most_operations];

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void wait_in(char wait, int ours) {
  static double in[exchanged * 1024], out[exchanged * 1024];
  switch (wait) {
    case 'b': (ours ? MPI_Barrier : PMPI_Barrier)(MPI_COMM_WORLD); break;
    case 'B': (ours ? MPI_Bcast : PMPI_Bcast)(in, exchanged, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case 'a': (ours ? MPI_Allreduce : PMPI_Allreduce)(in, out, exchanged, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    default:
      (ours ? MPI_Alltoall : PMPI_Alltoall)(in, exchanged, MPI_DOUBLE, out, exchanged, MPI_DOUBLE, MPI_COMM_WORLD);
  }
}

// So many of an operation that a turn takes some milliseconds on the hosts.
static int operations_of(char operation) {
  switch (operation) {
    case 's': return 8;
    case 'n': return 8;
    case 'P': return 8;
    default: return 200;
  }
}

// What the ranks that are worked on do first; rank 1 is the target.
static void prepare(char operation, int count) {
  for (int i = 0; i < count; ++i) {
    if (operation == 's' && rank == 1)
      MPI_Irecv(messages + (size_t)i * message_bytes, message_bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &requests[i]);
    if (operation == 'n' && rank != 0)
      MPI_Iallreduce(sums, totals + i * reduced, reduced, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
#if HAS_PARTITIONED
    if (operation == 'P' && rank == 1) MPI_Start(&requests[i]);
#endif
  }
  if ((operation == 'f' || operation == 'o') && rank == 0) MPI_Win_lock_all(0, win);
}

static void operate(char operation, int i) {
  static const double one = 1;
  switch (operation) {
    case 'p':
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
      MPI_Put(source, 8, MPI_DOUBLE, 1, 0, 8, MPI_DOUBLE, win);
      MPI_Win_unlock(1, win);
      break;
    case 'f':
      MPI_Put(source, 8, MPI_DOUBLE, 1, 0, 8, MPI_DOUBLE, win);
      MPI_Win_flush(1, win);
      break;
    case 'o':
      MPI_Fetch_and_op(&one, source, MPI_DOUBLE, 1, 9, MPI_SUM, win);
      MPI_Win_flush(1, win);
      break;
    case 's': MPI_Send(messages, message_bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD); break;
    case 'n':
      MPI_Iallreduce(sums, totals, reduced, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      break;
    default:
#if HAS_PARTITIONED
      MPI_Start(&requests[i]);
      for (int part = 0; part < partitions; ++part) MPI_Pready(part, requests[i]);
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
#endif
      break;
  }
}

static void finish(char operation, int count) {
  if ((operation == 's' || operation == 'P') && rank == 1) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  if (operation == 'n' && rank != 0) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  if ((operation == 'f' || operation == 'o') && rank == 0) MPI_Win_unlock_all(win);
}

static void partitioned_begin(int count) {
#if HAS_PARTITIONED
  for (int i = 0; i < count; ++i) {
    char* at = messages + (size_t)i * message_bytes;
    const MPI_Count bytes = message_bytes / partitions / 4;
    if (rank == 0) MPI_Psend_init(at, partitions, bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    if (rank == 1) MPI_Precv_init(at, partitions, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
  }
#else
  (void)count;
#endif
}

static void partitioned_end(int count) {
  for (int i = 0; i < count && rank < 2; ++i) MPI_Request_free(&requests[i]);
}

static double turn(char operation, char wait, int ours, int delay_us) {
  const int count = operations_of(operation), may_end_early = strchr("pfo", operation) != NULL;
  int done = 0;
  double begin = 0, end = 0;
  prepare(operation, count);
  PMPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    usleep((unsigned)delay_us);
    begin = now_us();
    for (; done < count; ++done) {
      if (may_end_early && now_us() - begin > 2e5) break;
      operate(operation, done);
    }
    end = now_us();
  }
  wait_in(wait, ours);
  finish(operation, count);
  return (end - begin) / (done > 0 ? done : 1);
}

static void measure(char operation, char wait, int turns, int delay_us) {
  if (operation == 'P') {
    if (!HAS_PARTITIONED) return;
    partitioned_begin(operations_of('P'));
  }
  for (int number = -1; number < turns; ++number)
    for (int ours = 0; ours < 2; ++ours) {
      const double us = turn(operation, wait, ours, delay_us);
      if (rank == 0 && number >= 0) printf("%c %c %s %d %.2f\n", operation, wait, ours ? "ours" : "host", number, us);
    }
  if (operation == 'P') partitioned_end(operations_of('P'));
  fflush(stdout);
}

static double processor_s(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static volatile double sink;

static void work(long rounds) {
  double value = 1;
  for (long i = 0; i < rounds; ++i) value = value * 1.0000001 + 1e-9;
  sink = value;
}

// Rank 0 works as much as takes `ms` on a core of its own.
static void compute(int turns, double ms) {
  long rounds = 1000000;
  if (rank == 0) {  // the others sleep, so that this is measured undisturbed
    double least_us = 1e18;
    for (int i = 0; i < 20; ++i) {
      const double begin = now_us();
      work(rounds);
      const double us = now_us() - begin;
      least_us = us < least_us ? us : least_us;
    }
    rounds = (long)(1e3 * ms / least_us * (double)rounds);
  } else {
    usleep(200000);
  }
  for (int number = 0; number < turns; ++number)
    for (int ours = 0; ours < 2; ++ours) {
      PMPI_Barrier(MPI_COMM_WORLD);
      const double begin = now_us(), used = processor_s();
      if (rank == 0) work(rounds);
      const double end = now_us();
      wait_in('b', ours);
      const double waited = rank == 0 ? 0 : processor_s() - used;
      double all = 0;
      PMPI_Reduce(&waited, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      if (rank == 0) printf("compute b %s %d %.1f %.4f\n", ours ? "ours" : "host", number, 1e-3 * (end - begin), all);
    }
}

int main(int argument_count, char** arguments) {
  MPI_Init(&argument_count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argument_count < 5 || ranks < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  const int turns = atoi(arguments[1]), delay_us = atoi(arguments[2]);
  for (int i = 0; i < 40; ++i) wait_in("bBaA"[i % 4], 1);  // so that the ranks have agreed
  if (strcmp(arguments[3], "compute") == 0) {
    compute(turns, atof(arguments[4]));
    MPI_Finalize();
    return 0;
  }
  target = calloc(1024, sizeof *target);
  source = calloc(1024, sizeof *source);
  sums = calloc(reduced, sizeof *sums);
  totals = calloc(reduced * most_operations, sizeof *totals);
  messages = calloc(8, message_bytes);
  MPI_Win_create(target, 1024 * sizeof *target, sizeof *target, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (const char* operation = arguments[3]; *operation; ++operation)
    for (const char* wait = arguments[4]; *wait; ++wait) measure(*operation, *wait, turns, delay_us);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
