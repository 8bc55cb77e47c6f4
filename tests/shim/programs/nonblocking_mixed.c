/* MPI_Ialltoallw of numbers of two sizes beside a vector, on three ranks: blocks that a wrong extent would take for
   neighbours. Prints "N wrong". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ranks = 3, blocks = 1000, bytes = 16 * 1024 };

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank, wrong = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype vector;
  MPI_Type_vector(blocks, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  static unsigned char out[bytes], in[ranks][bytes];
  for (int i = 0; i < bytes; ++i) out[i] = (unsigned char)(i * 7 + i / 256 + rank);
  /* Two integers, eight bytes of nothing, two doubles, the vector. */
  const int out_counts[ranks] = {2, 2, 1}, out_places[ranks] = {0, 16, 64};
  const MPI_Datatype out_types[ranks] = {MPI_INT, MPI_DOUBLE, vector};
  const int in_bytes[ranks] = {8, 16, 4 * blocks};
  int in_counts[ranks], in_places[ranks];
  MPI_Datatype in_types[ranks];
  for (int i = 0; i < ranks; ++i) {
    in_types[i] = rank == 1 ? MPI_DOUBLE : MPI_INT;
    in_counts[i] = in_bytes[rank] / (rank == 1 ? 8 : 4);
    in_places[i] = i * bytes;
  }
  for (int turn = 0; turn < 4; ++turn) { /* the first is the host's: it has to accept the type */
    MPI_Request request;
    memset(in, 0, sizeof in);
    MPI_Ialltoallw(out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int from = 0; from < ranks; ++from)
      for (int i = 0; i < in_bytes[rank]; ++i) {
        const int at = rank == 2 ? 64 + i / 4 * 8 + i % 4 : 16 * rank + i;
        wrong += in[from][i] != (unsigned char)(at * 7 + at / 256 + from);
      }
  }
  MPI_Type_free(&vector);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
