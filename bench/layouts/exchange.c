/* Two ranks exchange messages of derived types in turns within one process: through MPI_ (Millrace, where it is
   loaded), through PMPI_ (the host), and so that only the sender or only the receiver is ours. For each layout and
   size, one line: NAME FORM BYTES OURS_NS HOST_NS SENDER_NS RECEIVER_NS RATIO LOW HIGH SENDER_RATIO RECEIVER_RATIO
   times of one message in one direction (pingpong: Send and Recv; halo: both ranks Irecv, Isend, Waitall two messages
   at once), lower quartiles of the turns, because what else the machine does only lengthens them; ratios are of these,
   host / ours; LOW and HIGH are the quartiles of the ratio by turn. Arguments: turns, milliseconds of one turn, bytes
   ... */
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
    /* By its MPI name for the host as well: a program that completes by PMPI_ is given no packed requests. */
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
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
  const int low = turns / 4;
  double *times[SIDES], *ratio = malloc(sizeof(double) * (size_t)turns);
  for (int side = 0; side < SIDES; ++side) times[side] = malloc(sizeof(double) * (size_t)turns);
  for (int i = 0; i < turns; ++i) {
    for (int j = 0; j < SIDES; ++j) {
      const int side = i % 2 ? SIDES - 1 - j : j;
      times[side][i] = timed(side, form, out, in, type, count, repetitions);
    }
    ratio[i] = times[HOST][i] / times[OURS][i];
  }
  qsort(ratio, (size_t)turns, sizeof *ratio, by_value);
  for (int side = 0; side < SIDES; ++side) qsort(times[side], (size_t)turns, sizeof(double), by_value);
  const double host = times[HOST][low];
  if (rank == 0)
    printf("%s %s %lld %.0f %.0f %.0f %.0f %.3f %.3f %.3f %.3f %.3f\n", name, form == HALO ? "halo" : "pingpong",
           (long long)size * count, times[OURS][low], host, times[SENDER][low], times[RECEIVER][low],
           host / times[OURS][low], ratio[low], ratio[3 * turns / 4], host / times[SENDER][low],
           host / times[RECEIVER][low]);
  fflush(stdout);
  free(out);
  free(in);
  free(ratio);
  for (int side = 0; side < SIDES; ++side) free(times[side]);
}

int main(int argc, char** argv) {
  static const long standard_sizes[] = {1024, 8192, 65536, 524288, 4194304};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int turns = atoi(argv[1]);
  const double turn_ms = atof(argv[2]);
  for (int which = 0; which < LAYOUTS; ++which)
    for (int i = 0; i < (argc > 3 ? argc - 3 : 5); ++i)
      for (int form = 0; form < FORMS; ++form) {
        int count;
        MPI_Datatype type = make_layout(which, argc > 3 ? atol(argv[3 + i]) : standard_sizes[i], &count);
        measure(layout_names[which], form, type, count, turns, turn_ms);
        MPI_Type_free(&type);
      }
  MPI_Finalize();
  return 0;
}
