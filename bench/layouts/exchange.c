/* Two ranks exchange messages of derived types through MPI_ (Millrace, where it is loaded) and PMPI_ (the host) in
   turns within one process. For each layout and size, one line: NAME FORM BYTES OURS_NS HOST_NS RATIO LOW HIGH times of
   one message in one direction (pingpong: Send and Recv; halo: both ranks Irecv, Isend, Waitall two messages at once),
   medians over the turns; RATIO is host / ours, with its quartiles. Arguments: turns, milliseconds of one turn. */
#include <stdio.h>
#include <string.h>

#include "layouts.h"

enum { OURS, HOST };
enum { PING_PONG, HALO, FORMS };
static int rank;

static int by_value(const void* left, const void* right) {
  const double x = *(const double*)left, y = *(const double*)right;
  return (x > y) - (x < y);
}

static void once(int side, int form, char* out, char* in, MPI_Datatype type, int count) {
  const int peer = 1 - rank;
  if (form == HALO) {
    MPI_Request requests[4];
    if (side == OURS) {
      MPI_Irecv(in, count, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(in, count, type, peer, 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Isend(out, count, type, peer, 1, MPI_COMM_WORLD, &requests[2]);
      MPI_Isend(out, count, type, peer, 2, MPI_COMM_WORLD, &requests[3]);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else {
      PMPI_Irecv(in, count, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
      PMPI_Irecv(in, count, type, peer, 2, MPI_COMM_WORLD, &requests[1]);
      PMPI_Isend(out, count, type, peer, 1, MPI_COMM_WORLD, &requests[2]);
      PMPI_Isend(out, count, type, peer, 2, MPI_COMM_WORLD, &requests[3]);
      PMPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    return;
  }
  for (int turn = 0; turn < 2; ++turn) {
    if ((rank == 0) == (turn == 0)) {
      if (side == OURS)
        MPI_Send(out, count, type, peer, 0, MPI_COMM_WORLD);
      else
        PMPI_Send(out, count, type, peer, 0, MPI_COMM_WORLD);
    } else {
      if (side == OURS)
        MPI_Recv(in, count, type, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      else
        PMPI_Recv(in, count, type, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

static double timed(int side, int form, char* out, char* in, MPI_Datatype type, int count, int repetitions) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double start = PMPI_Wtime();
  for (int i = 0; i < repetitions; ++i) once(side, form, out, in, type, count);
  return (PMPI_Wtime() - start) / repetitions / 2 * 1e9;
}

static void measure(const char* name, int form, MPI_Datatype type, int count, int turns, double turn_ms) {
  MPI_Aint lb, extent;
  int size, repetitions = 2;
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Type_size(type, &size);
  const size_t room = (size_t)(extent * count) + 4096;
  char* const out = malloc(room);
  char* const in = malloc(room);
  memset(out, 1, room);
  memset(in, 2, room);
  for (int i = 0; i < 4; ++i) {
    once(OURS, form, out, in, type, count);
    once(HOST, form, out, in, type, count);
  }
  const double first = timed(HOST, form, out, in, type, count, 4);
  repetitions = (int)(turn_ms * 1e6 / first / 2);
  PMPI_Bcast(&repetitions, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (repetitions < 1) repetitions = 1;
  double* const ours = malloc(3 * sizeof(double) * (size_t)turns);
  double* const host = ours + turns;
  double* const ratio = host + turns;
  for (int i = 0; i < turns; ++i) {
    if (i % 2) host[i] = timed(HOST, form, out, in, type, count, repetitions);
    ours[i] = timed(OURS, form, out, in, type, count, repetitions);
    if (i % 2 == 0) host[i] = timed(HOST, form, out, in, type, count, repetitions);
    ratio[i] = host[i] / ours[i];
  }
  qsort(ours, (size_t)turns, sizeof *ours, by_value);
  qsort(host, (size_t)turns, sizeof *host, by_value);
  qsort(ratio, (size_t)turns, sizeof *ratio, by_value);
  if (rank == 0)
    printf("%s %s %lld %.0f %.0f %.3f %.3f %.3f\n", name, form == HALO ? "halo" : "pingpong", (long long)size * count,
           ours[turns / 2], host[turns / 2], ratio[turns / 2], ratio[turns / 4], ratio[3 * turns / 4]);
  fflush(stdout);
  free(out);
  free(in);
  free(ours);
}

int main(int argc, char** argv) {
  static const long sizes[] = {128, 1024, 8192, 32768, 131072, 524288, 4194304};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int turns = atoi(argv[1]);
  const double turn_ms = atof(argv[2]);
  for (int which = 0; which < LAYOUTS; ++which)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
      for (int form = 0; form < FORMS; ++form) {
        int count;
        if (which == COLUMN && sizes[i] > 32768) continue; /* gigabytes of matrix */
        MPI_Datatype type = make_layout(which, sizes[i], &count);
        measure(layout_names[which], form, type, count, turns, turn_ms);
        MPI_Type_free(&type);
      }
  MPI_Finalize();
  return 0;
}
