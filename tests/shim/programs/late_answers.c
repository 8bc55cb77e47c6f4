// What a rank hears that asks after a collective whether something has come, which was sent before it: "late KIND N"
// for N of the questions that were answered by no, and "lost N" for messages that a rank took for never sent because it
// stopped asking. Rank 0 asks; all others send.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

// Collectives that no rank leaves before all have come.
static void meet(int how) {
  int one = 1, sum = 0;
  int* all = malloc(sizeof(int) * (size_t)ranks);
  if (how % 3 == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (how % 3 == 1) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (how % 3 == 2) MPI_Allgather(&one, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  free(all);
}

static void send(int tag) { MPI_Send(&rank, 1, MPI_INT, 0, tag, MPI_COMM_WORLD); }
static void take(int source, int tag) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int probed(int turn) {
  int yes = 0;
  if (rank != 0) send(1);
  meet(turn);
  if (rank == 0) {
    MPI_Iprobe(ranks - 1, 1, MPI_COMM_WORLD, &yes, MPI_STATUS_IGNORE);
    for (int from = 1; from < ranks; ++from) take(from, 1);
  }
  return yes;
}

static int probed_and_matched(int turn) {
  int yes = 0;
  MPI_Message message;
  if (rank != 0) send(2);
  meet(turn);
  if (rank != 0) return 0;
  MPI_Improbe(ranks - 1, 2, MPI_COMM_WORLD, &yes, &message, MPI_STATUS_IGNORE);
  int value;
  if (yes) MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  for (int from = 1; from < ranks - yes; ++from) take(from, 2);
  return yes;
}

// Behind others that nobody has taken yet, no more of them than a host that takes in one at a look is given looks.
static int tested(int turn, int several) {
  const int others = 12 / (ranks - 1);
  int yes = 0, value;
  MPI_Request request;
  if (rank == 0) MPI_Irecv(&value, 1, MPI_INT, ranks - 1, 3, MPI_COMM_WORLD, &request);
  if (rank != 0) {
    for (int i = 0; i < others; ++i) send(4);
    if (rank == ranks - 1) send(3);
  }
  meet(turn);
  if (rank != 0) return 0;
  if (several)
    MPI_Testall(1, &request, &yes, MPI_STATUSES_IGNORE);
  else
    MPI_Test(&request, &yes, MPI_STATUS_IGNORE);
  if (!yes) MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < others * (ranks - 1); ++i) take(MPI_ANY_SOURCE, 4);
  return yes;
}

static int exposed(int turn, MPI_Win win, MPI_Group others) {
  int yes = 0;
  if (rank == 0) MPI_Win_post(others, 0, win);
  if (rank != 0) MPI_Win_start(others, 0, win);
  meet(turn);
  if (rank != 0) MPI_Win_complete(win);
  meet(turn + 1);
  if (rank == 0) {
    MPI_Win_test(win, &yes);
    if (!yes) MPI_Win_wait(win);
  }
  return yes;
}

// Takes what has come until it hears that there is no more.
static int lost(int turn) {
  const int each = 1 + turn % 50;
  int left = 0;
  if (rank != 0)
    for (int i = 0; i < each; ++i) send(5);
  meet(turn);
  if (rank == 0) {
    left = each * (ranks - 1);
    for (int yes = 1; yes;) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &yes, &status);
      if (yes) take(status.MPI_SOURCE, 5), --left;
    }
    for (int i = 0; i < left; ++i) take(MPI_ANY_SOURCE, 5);
  }
  return left;
}

int main(int argc, char** argv) {
  const int turns = argc > 1 ? atoi(argv[1]) : 300;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Win win;
  int* memory;
  MPI_Group all, others;
  const int root = 0;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_get_group(win, &all);
  if (rank == 0)
    MPI_Group_excl(all, 1, &root, &others);
  else
    MPI_Group_incl(all, 1, &root, &others);
  for (int i = 0; i < 300; ++i) meet(i);  // the communicator becomes ours
  int late[5] = {0}, lost_messages = 0;
  for (int turn = 0; turn < turns; ++turn) {
    late[0] += !probed(turn);
    late[1] += !probed_and_matched(turn);
    late[2] += !tested(turn, 0);
    late[3] += !tested(turn, 1);
    late[4] += !exposed(turn, win, others);
    lost_messages += lost(turn);
  }
  if (rank == 0) {
    const char* kinds[] = {"iprobe", "improbe", "test", "testall", "win_test"};
    for (int kind = 0; kind < 5; ++kind) printf("late %s %d\n", kinds[kind], late[kind]);
    printf("lost messages %d\n", lost_messages);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&others);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
