/* Two ranks exchange messages of derived types in turns within one process: through MPI_ (Millrace, where it is
   loaded), through PMPI_ (the host), and so that only the sender or only the receiver is ours. For each layout and
   size, one line: NAME FORM BYTES OURS_NS HOST_NS SENDER_NS RECEIVER_NS RATIO LOW HIGH SENDER_RATIO RECEIVER_RATIO
   times of one message in one direction (pingpong: Send and Recv; halo: both ranks Irecv, Isend, Waitall two messages
   at once), medians over the turns; ratios are host / ours, the first with its quartiles. Arguments: turns,
   milliseconds of one turn. */
#include <stdio.h>
#include <string.h>

#include "layouts.h"

enum { OURS, HOST, SENDER, RECEIVER, SIDES };
enum { PING_PONG, HALO, FORMS };
static int rank;

static int by_value(const void* left, const void* right) {
  const double x = *(const double*)left, y = *(const double*)right;
  return (x > y) - (x < y);
}

static void once(int side, int form, char* out, char* in, MPI_Datatype type, int count) {
  const int peer = 1 - rank;
  const int our_send = side == OURS || side == SENDER, our_receive = side == OURS || side == RECEIVER;
  if (form == HALO) {
    MPI_Request requests[4];
    for (int i = 0; i < 2; ++i)
      (our_receive ? MPI_Irecv : PMPI_Irecv)(in, count, type, peer, 1 + i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 2; ++i)
      (our_send ? MPI_Isend : PMPI_Isend)(out, count, type, peer, 1 + i, MPI_COMM_WORLD, &requests[2 + i]);
    (side == HOST ? PMPI_Waitall : MPI_Waitall)(4, requests, MPI_STATUSES_IGNORE);
    return;
  }
  for (int turn = 0; turn < 2; ++turn)
    if ((rank == 0) == (turn == 0))
      (our_send ? MPI_Send : PMPI_Send)(out, count, type, peer, 0, MPI_COMM_WORLD);
    else
      (our_receive ? MPI_Recv : PMPI_Recv)(in, count, type, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
  MPI_Aint true_lb, true_extent;
  MPI_Type_get_true_extent(type, &true_lb, &true_extent);
  const size_t room = (size_t)(extent * (count - 1) + true_extent) + 4096;
  char* const out = malloc(room);
  char* const in = malloc(room);
  memset(out, 1, room);
  memset(in, 2, room);
  for (int i = 0; i < 4; ++i)
    for (int side = 0; side < SIDES; ++side) once(side, form, out, in, type, count);
  const double first = timed(HOST, form, out, in, type, count, 4);
  repetitions = (int)(turn_ms * 1e6 / first / 2);
  PMPI_Bcast(&repetitions, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (repetitions < 1) repetitions = 1;
  double *times[SIDES], *ratio = malloc(sizeof(double) * (size_t)turns), ratios[SIDES], quartiles[2];
  for (int side = 0; side < SIDES; ++side) times[side] = malloc(sizeof(double) * (size_t)turns);
  for (int i = 0; i < turns; ++i)
    for (int j = 0; j < SIDES; ++j) {
      const int side = i % 2 ? SIDES - 1 - j : j;
      times[side][i] = timed(side, form, out, in, type, count, repetitions);
    }
  for (int side = SIDES - 1; side >= 0; --side) { /* ours last: its quartiles are printed */
    for (int i = 0; i < turns; ++i) ratio[i] = times[HOST][i] / times[side][i];
    qsort(ratio, (size_t)turns, sizeof *ratio, by_value);
    ratios[side] = ratio[turns / 2];
    quartiles[0] = ratio[turns / 4], quartiles[1] = ratio[3 * turns / 4];
  }
  for (int side = 0; side < SIDES; ++side) qsort(times[side], (size_t)turns, sizeof(double), by_value);
  if (rank == 0)
    printf("%s %s %lld %.0f %.0f %.0f %.0f %.3f %.3f %.3f %.3f %.3f\n", name, form == HALO ? "halo" : "pingpong",
           (long long)size * count, times[OURS][turns / 2], times[HOST][turns / 2], times[SENDER][turns / 2],
           times[RECEIVER][turns / 2], ratios[OURS], quartiles[0], quartiles[1], ratios[SENDER], ratios[RECEIVER]);
  fflush(stdout);
  free(out);
  free(in);
  free(ratio);
  for (int side = 0; side < SIDES; ++side) free(times[side]);
}

int main(int argc, char** argv) {
  static const long sizes[] = {1024, 8192, 65536, 524288, 4194304};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int turns = atoi(argv[1]);
  const double turn_ms = atof(argv[2]);
  for (int which = 0; which < LAYOUTS; ++which)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
      for (int form = 0; form < FORMS; ++form) {
        int count;
        MPI_Datatype type = make_layout(which, sizes[i], &count);
        measure(layout_names[which], form, type, count, turns, turn_ms);
        MPI_Type_free(&type);
      }
  MPI_Finalize();
  return 0;
}
