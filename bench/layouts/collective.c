/* Nonblocking collectives of derived types on all ranks, in turns within one process: through MPI_ (Millrace, where it
   is loaded) and through PMPI_ (the host). For each layout, call and size of a block, one line:
   NAME CALL BYTES OURS_NS HOST_NS RATIO LOW HIGH
   times of one call with its MPI_Wait, lower quartiles of the turns, because what else the machine does only lengthens
   them; the ratio is of these, host / ours; LOW and HIGH are the quartiles of the ratio by turn. Arguments: turns,
   milliseconds of one turn, bytes ... */
#include <stdio.h>
#include <string.h>

#include "layouts.h"

enum { BCAST, GATHER, ALLGATHER, ALLTOALL, NEIGHBOR, CALLS };
static const char* const names[CALLS] = {"ibcast", "igather", "iallgather", "ialltoall", "ineighbor_alltoall"};
static int rank, ranks;
static MPI_Comm ring;

static int by_value(const void* left, const void* right) {
  const double x = *(const double*)left, y = *(const double*)right;
  return (x > y) - (x < y);
}

static void once(int ours, int call, char* out, char* in, MPI_Datatype type, int n) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request request;
  switch (call) {
    case BCAST: (ours ? MPI_Ibcast : PMPI_Ibcast)(rank == 0 ? out : in, n, type, 0, comm, &request); break;
    case GATHER: (ours ? MPI_Igather : PMPI_Igather)(out, n, type, in, n, type, 0, comm, &request); break;
    case ALLGATHER: (ours ? MPI_Iallgather : PMPI_Iallgather)(out, n, type, in, n, type, comm, &request); break;
    case ALLTOALL: (ours ? MPI_Ialltoall : PMPI_Ialltoall)(out, n, type, in, n, type, comm, &request); break;
    default: (ours ? MPI_Ineighbor_alltoall : PMPI_Ineighbor_alltoall)(out, n, type, in, n, type, ring, &request);
  }
  /* By its MPI name for the host as well: a program that completes by PMPI_ is given no packed requests. */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A broadcast has no need of its receivers; they are kept from falling behind. */
static double timed(int ours, int call, char* out, char* in, MPI_Datatype type, int count, int repetitions) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double start = PMPI_Wtime();
  for (int i = 0; i < repetitions; ++i) {
    once(ours, call, out, in, type, count);
    if (call == BCAST || call == GATHER) PMPI_Barrier(MPI_COMM_WORLD);
  }
  return (PMPI_Wtime() - start) / repetitions * 1e9;
}

static void measure(const char* name, int call, MPI_Datatype type, int count, int turns, double turn_ms) {
  MPI_Aint lb, extent;
  int size;
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Type_size(type, &size);
  MPI_Aint true_lb, true_extent;
  MPI_Type_get_true_extent(type, &true_lb, &true_extent);
  const int blocks = ranks > 2 ? ranks : 2;
  const size_t room = (size_t)(extent * (blocks * count - 1) + true_extent) + 4096;
  char* const out = malloc(room);
  char* const in = malloc(room);
  memset(out, 1, room);
  memset(in, 2, room);
  for (int i = 0; i < 4; ++i)
    for (int ours = 0; ours < 2; ++ours) once(ours, call, out, in, type, count);
  int repetitions = (int)(turn_ms * 1e6 / timed(0, call, out, in, type, count, 4));
  PMPI_Bcast(&repetitions, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (repetitions < 1) repetitions = 1;
  double *times[2], *ratio = malloc(sizeof(double) * (size_t)turns);
  for (int ours = 0; ours < 2; ++ours) times[ours] = malloc(sizeof(double) * (size_t)turns);
  for (int i = 0; i < turns; ++i) {
    for (int j = 0; j < 2; ++j) times[i % 2 ^ j][i] = timed(i % 2 ^ j, call, out, in, type, count, repetitions);
    ratio[i] = times[0][i] / times[1][i];
  }
  qsort(ratio, (size_t)turns, sizeof *ratio, by_value);
  for (int ours = 0; ours < 2; ++ours) qsort(times[ours], (size_t)turns, sizeof(double), by_value);
  const int low = turns / 4;
  if (rank == 0)
    printf("%s %s %lld %.0f %.0f %.3f %.3f %.3f\n", name, names[call], (long long)size * count, times[1][low],
           times[0][low], times[0][low] / times[1][low], ratio[low], ratio[3 * turns / 4]);
  fflush(stdout);
  free(out);
  free(in);
  free(ratio);
  for (int ours = 0; ours < 2; ++ours) free(times[ours]);
}

int main(int argc, char** argv) {
  static const long standard_sizes[] = {1024, 8192, 65536, 524288};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  const int turns = atoi(argv[1]);
  const double turn_ms = atof(argv[2]);
  for (int which = 0; which < LAYOUTS; ++which)
    for (int i = 0; i < (argc > 3 ? argc - 3 : 4); ++i)
      for (int call = 0; call < CALLS; ++call) {
        int count;
        MPI_Datatype type = make_layout(which, argc > 3 ? atol(argv[3 + i]) : standard_sizes[i], &count);
        measure(layout_names[which], call, type, count, turns, turn_ms);
        MPI_Type_free(&type);
      }
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
