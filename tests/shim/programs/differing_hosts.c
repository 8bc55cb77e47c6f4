/* differing_hosts CALLS: reductions whose results hosts do not agree on (docs/semantics.md). Whoever is measured, they
   are ours in every call once ranks share memory, for their bits do not hang on times. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 70 };

int main(int argument_count, char** arguments) {
  const int calls = argument_count > 1 ? atoi(arguments[1]) : 100;
  MPI_Init(&argument_count, &arguments);
  int rank, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  uint16_t u16[count], u16_max[count];
  uint64_t u64[count], u64_max[count];
  MPI_Offset offset[count], offset_max[count];
  int8_t i8[count], i8_sum[count];
  for (int i = 0; i < count; ++i) {
    u16[i] = rank == 0 ? UINT16_MAX : 1;
    u64[i] = rank == 0 ? UINT64_MAX : 1;
    offset[i] = rank == 0 ? -1 : 1;
    i8[i] = (int8_t)(rank < 2 ? 100 : 0);
  }
  for (int call = 0; call < calls; ++call) {
    MPI_Allreduce(u16, u16_max, count, MPI_UINT16_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(u64, u64_max, count, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(offset, offset_max, count, MPI_OFFSET, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(i8, i8_sum, count, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD);
    if (call < 5) continue; /* the host's, until the ranks have agreed */
    for (int i = 0; i < count; ++i)
      wrong += u16_max[i] != UINT16_MAX || u64_max[i] != UINT64_MAX || offset_max[i] != 1 || i8_sum[i] != -56;
  }
  if (rank == 0) printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
