/* refused_calls TURNS: calls of a few bytes, which a table leaves to the host, again and again with the same words, and
   then calls whose words are the same but for what they stand for: a datatype freed and made anew behind the same
   handle, a communicator likewise, buffers in place and not. Half of the ranks say the same in other words. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 4096, most_ranks = 16 };
static char sent[most * most_ranks], came[most * most_ranks];
static int wrong = 0, rank, ranks;

static void check_gathered(int bytes, int root) {
  for (int i = 0; i < bytes * ranks && rank == root; ++i) wrong += came[i] != (char)(i / bytes + i % bytes);
}

static void gather(MPI_Comm comm, int bytes, int turn) {
  MPI_Datatype type;
  MPI_Type_contiguous(bytes, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < bytes; ++i) sent[i] = (char)(rank + i);
  for (int again = 0; again < 3; ++again) {
    memset(came, 99, sizeof came);
    if ((rank + turn) % 2)
      MPI_Gather(sent, 1, type, rank == 0 ? came : NULL, 1, type, 0, comm);
    else
      MPI_Gather(sent, bytes, MPI_CHAR, came, bytes, MPI_CHAR, 0, comm);
    check_gathered(bytes, 0);
  }
  MPI_Type_free(&type);
}

static void bcast(MPI_Comm comm, int bytes, int turn) {
  MPI_Datatype type;
  MPI_Type_contiguous(bytes, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  for (int again = 0; again < 3; ++again) {
    for (int i = 0; i < bytes; ++i) came[i] = (char)(rank == 0 ? again + i : 99);
    if ((rank + turn) % 2)
      MPI_Bcast(came, 1, type, 0, comm);
    else
      MPI_Bcast(came, bytes, MPI_CHAR, 0, comm);
    for (int i = 0; i < bytes; ++i) wrong += came[i] != (char)(again + i);
  }
  MPI_Type_free(&type);
}

static void allreduce(MPI_Comm comm, int count) {
  int in[64], out[64];
  for (int again = 0; again < 4; ++again) {
    for (int i = 0; i < count; ++i) in[i] = out[i] = rank + i;
    MPI_Allreduce((again + rank) % 2 ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; ++i) wrong += out[i] != ranks * (ranks - 1) / 2 + i * ranks;
  }
}

int main(int argument_count, char** arguments) {
  const int turns = argument_count > 1 ? atoi(arguments[1]) : 100;
  MPI_Init(&argument_count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm kept, comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  for (int turn = 0; turn < turns; ++turn) {
    for (int pass = 0; pass < 2; ++pass) {
      const int bytes = pass ? 4096 : 8;
      gather(kept, bytes, turn);
      bcast(kept, bytes, turn);
      allreduce(kept, pass ? 64 : 2);
      MPI_Barrier(kept);
    }
    if (turn % 20) continue;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int again = 0; again < 30; ++again) {
      gather(comm, 8, turn);
      allreduce(comm, 2);
      MPI_Barrier(comm);
    }
    gather(comm, 4096, turn);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_free(&kept);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
