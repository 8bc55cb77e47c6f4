/* Rank 0 starts a large send and enters a collective; rank 1 receives before it enters. The host must move the message
   on while rank 0 waits in the collective. Then the same with a put into rank 0's window under a passive lock. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { elements = 1 << 20 };

static void collective(int kind, MPI_Comm comm) {
  static double in[512], out[512];
  switch (kind) {
    case 0: MPI_Barrier(comm); break;
    case 1: MPI_Bcast(in, 512, MPI_DOUBLE, 1, comm); break;
    case 2: MPI_Reduce(in, out, 512, MPI_DOUBLE, MPI_SUM, 0, comm); break;
    default: MPI_Allreduce(in, out, 512, MPI_DOUBLE, MPI_SUM, comm); break;
  }
}

int main(int argc, char** argv) {
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* data = malloc(elements * sizeof(int));
  for (int i = 0; i < 8; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int kind = 0; kind < 4; ++kind) {
    for (int turn = 0; turn < 3; ++turn) {
      for (int i = 0; i < elements; ++i) data[i] = rank == 0 ? i + turn : -1;
      if (rank == 0) {
        MPI_Request request;
        MPI_Isend(data, elements, MPI_INT, 1, kind, MPI_COMM_WORLD, &request);
        collective(kind, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        if (rank == 1) MPI_Recv(data, elements, MPI_INT, 0, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        collective(kind, MPI_COMM_WORLD);
        if (rank == 1)
          for (int i = 0; i < elements; ++i) wrong += data[i] != i + turn;
      }
    }
    if (rank == 0) printf("message %d\n", kind), fflush(stdout);
  }
  MPI_Win window;
  int* memory;
  MPI_Win_allocate(elements * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (int kind = 0; kind < 4; ++kind) {
    if (rank == 1) {
      for (int i = 0; i < elements; ++i) data[i] = i + kind;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      MPI_Put(data, elements, MPI_INT, 0, 0, elements, MPI_INT, window);
      MPI_Win_unlock(0, window);
    }
    collective(kind, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
      for (int i = 0; i < elements; ++i) wrong += memory[i] != i + kind;
      MPI_Win_unlock(0, window);
      printf("put %d\n", kind), fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
  free(data);
  MPI_Finalize();
  if (wrong) printf("%d wrong\n", wrong);
  return wrong != 0;
}
