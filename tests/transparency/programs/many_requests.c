/* Very many receives of a derived datatype under way at once, completed in each way that takes a list. Two ranks.
   Arguments: how many, and for the ways that take one at a time, which the host searches through as well, how many. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, INTS = 2 * BLOCKS, TAGS = 1000 };

static MPI_Datatype type;
static int rank, out[INTS];

static void complete(const char* way, int count, MPI_Request* requests, int* indices) {
  int done = 0, flag = 0, index = 0;
  if (!strcmp(way, "waitall")) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  if (!strcmp(way, "testall"))
    while (!flag) MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
  if (!strcmp(way, "waitsome"))
    while (done != MPI_UNDEFINED) MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
  if (!strcmp(way, "waitany"))
    while (index != MPI_UNDEFINED) MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
  if (!strcmp(way, "testany"))
    while (!flag || index != MPI_UNDEFINED) MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
  if (!strcmp(way, "wait"))
    for (int i = count; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void exchange(const char* way, int count) {
  const size_t bytes = (size_t)count * sizeof out;
  int* const in = malloc(bytes);
  int* const indices = malloc((size_t)count * sizeof *indices);
  MPI_Request* const requests = malloc((size_t)count * sizeof *requests);
  int wrong = 0;
  memset(in, -1, bytes);
  for (int i = 0; i < count; ++i)
    MPI_Irecv(in + (size_t)i * INTS, 1, type, 1 - rank, i % TAGS, MPI_COMM_WORLD, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) MPI_Send(out, 1, type, 1 - rank, i % TAGS, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  complete(way, count, requests, indices);
  fprintf(stderr, "%s %d: %.1f ms\n", way, count, 1e3 * (MPI_Wtime() - begin));
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < INTS; ++j) wrong += in[(size_t)i * INTS + j] != (j % 2 ? -1 : j);
  printf("rank %d %s %d: %d wrong\n", rank, way, count, wrong);
  free(in), free(indices), free(requests);
}

/* Sends that nobody waits for. */
static void abandon(int count) {
  MPI_Request request;
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    int in[INTS];
    memset(in, -1, sizeof in);
    MPI_Isend(out, 1, type, 1 - rank, i % TAGS, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(in, 1, type, 1 - rank, i % TAGS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 0; j < INTS; ++j) wrong += in[j] != (j % 2 ? -1 : j);
  }
  printf("rank %d abandoned %d: %d wrong\n", rank, count, wrong);
}

int main(int argc, char** argv) {
  const int many = argc > 1 ? atoi(argv[1]) : 1000, fewer = argc > 2 ? atoi(argv[2]) : 100;
  const char* const at_once[] = {"waitall", "testall", "waitsome", "wait"};
  const char* const one_by_one[] = {"waitany", "testany"};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(BLOCKS, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < INTS; ++i) out[i] = i;
  exchange("waitall", 3); /* the host's: the type is new */
  for (int i = 0; i < 4; ++i) exchange(at_once[i], many);
  for (int i = 0; i < 2; ++i) exchange(one_by_one[i], fewer);
  abandon(fewer);
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
