/* Collectives on MPI_COMM_WORLD or on a grid of all ranks, none of which synchronises: as many as the argument says.
   "bcast": from changing roots. "neighbors": MPI_Neighbor_alltoallw of columns on a ring of two or more ranks.
   "threads": as "bcast", rank 0 with MPI_THREAD_MULTIPLE, the others without. Prints "done". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rows = 40, columns = 16 };

static int wrong;

static void bcast(int call, int rank, int ranks) {
  int data[25];
  for (int i = 0; i < 25; ++i) data[i] = rank == call % ranks ? 1000 * call + i : -1;
  MPI_Bcast(data, 25, MPI_INT, call % ranks, MPI_COMM_WORLD);
  for (int i = 0; i < 25; ++i) wrong += data[i] != 1000 * call + i;
}

/* My first column goes down to be its last one, my last one up to be its first; the rows in between stay. */
static void neighbors(int call, MPI_Comm ring, MPI_Datatype column) {
  int rank, below, above, cells[rows][columns];
  MPI_Comm_rank(ring, &rank);
  MPI_Cart_shift(ring, 0, 1, &below, &above);
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < columns; ++k) cells[i][k] = 100000 * rank + 1000 * (call % 90) + i;
  const int once[] = {1, 1};
  const MPI_Aint out[] = {sizeof(int), (columns - 2) * sizeof(int)}, in[] = {0, (columns - 1) * sizeof(int)};
  const MPI_Datatype types[] = {column, column};
  MPI_Neighbor_alltoallw(cells, once, out, types, cells, once, in, types, ring);
  for (int i = 0; i < rows; ++i) {
    if (below != MPI_PROC_NULL) wrong += cells[i][0] != 100000 * below + 1000 * (call % 90) + i;
    if (above != MPI_PROC_NULL) wrong += cells[i][columns - 1] != 100000 * above + 1000 * (call % 90) + i;
  }
}

int main(int argc, char** argv) {
  const char* launcher = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  int rank, ranks, level, first = launcher && strcmp(launcher, "0") == 0;
  MPI_Init_thread(&argc, &argv, strcmp(argv[1], "threads") == 0 && first ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 3 && rank == ranks - 1) usleep((unsigned)atoi(argv[3]) * 1000); /* the last rank comes late */
  MPI_Comm ring;
  MPI_Datatype column;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (const int[]){0}, 0, &ring);
  MPI_Type_vector(rows, 1, columns, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int call = 0; call < atoi(argv[2]); ++call)
    strcmp(argv[1], "neighbors") == 0 ? neighbors(call, ring, column) : bcast(call, rank, ranks);
  MPI_Type_free(&column);
  MPI_Comm_free(&ring);
  if (wrong) printf("%d wrong on rank %d\n", wrong, rank);
  if (rank == 0 && !wrong) printf("done\n");
  MPI_Finalize();
  return wrong != 0;
}
