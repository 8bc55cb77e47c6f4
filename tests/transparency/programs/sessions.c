/* Communicators that come from a session, beside those of the world (argument "world") or without it; twice over
   (Open MPI 5 by itself does not survive its second session without a world). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong;

static void use(MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < 40; ++i) {
    int own = rank + i, sum = 0, word = rank == i % ranks ? i : -1, all[64] = {0};
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(&word, 1, MPI_INT, i % ranks, comm);
    MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm);
    wrong += sum != ranks * (ranks - 1) / 2 + ranks * i || word != i || all[ranks - 1] != ranks - 1 + i;
  }
}

int main(int argc, char** argv) {
  const int with_world = argc > 1 && strcmp(argv[1], "world") == 0;
  if (with_world) {
    MPI_Init(&argc, &argv);
    use(MPI_COMM_WORLD);
  }
  int rank = -1;
  for (int turn = 0; turn < 1 + with_world; ++turn) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, twin, half;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "millrace.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    use(comm);
    MPI_Comm_dup(comm, &twin);
    MPI_Comm_split(comm, rank % 2, 0, &half);
    use(twin);
    use(half);
    if (with_world) use(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  if (with_world) MPI_Finalize();
  return 0;
}
