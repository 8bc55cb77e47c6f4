/* A program that survives the failure of a rank by ULFM: failed_ranks revoke, or failed_ranks kill. Prints what every
 * survivor is told. */
#include <mpi.h>

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { blocks = 2000, failures = 300, most_growth_pages = 1000, attempts = 100000 };

static int rank, ranks;
static MPI_Datatype type; /* x.xx */

static void say(const char* what, int error) {
  int class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
  printf("%d: %s: %s\n", rank, what,
         class == MPI_SUCCESS                    ? "success"
         : class == MPIX_ERR_PROC_FAILED         ? "a rank has failed"
         : class == MPIX_ERR_PROC_FAILED_PENDING ? "a rank has failed, pending"
         : class == MPIX_ERR_REVOKED             ? "revoked"
                                                 : "another error");
  fflush(stdout);
}

static void fill(int* data, int first) {
  for (int i = 0; i < 4 * blocks; ++i) data[i] = first + i;
}

static const char* check(const int* data, int first) {
  for (int i = 0; i < 4 * blocks; ++i)
    if (data[i] != (i % 4 == 1 ? -1 : first + i)) return "wrong data";
  return "right data";
}

static long pages(void) {
  long all = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2) exit(3);
  fclose(file);
  return resident;
}

static void use(MPI_Comm comm, const char* name) {
  int size, own;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &own);
  int *out = malloc(sizeof(int[4 * blocks])), *in = malloc(sizeof(int[4 * blocks]));
  for (int i = 0; i < 20; ++i) {
    int sum = 0, root = own == i % size ? i : -1;
    MPI_Barrier(comm);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(&root, 1, MPI_INT, i % size, comm);
    if (sum != size * (size - 1) / 2 || root != i) printf("%d: %s: wrong\n", rank, name);
    fill(out, own);
    memset(in, -1, sizeof(int[4 * blocks]));
    const int from = (own + size - 1) % size;
    MPI_Sendrecv(out, blocks, type, (own + 1) % size, 0, in, blocks, type, from, 0, comm, MPI_STATUS_IGNORE);
    if (strcmp(check(in, from), "right data") != 0) printf("%d: %s: wrong message\n", rank, name);
  }
  free(in);
  free(out);
  printf("%d: %s has %d ranks\n", rank, name, size);
  fflush(stdout);
}

static void use_revoked(MPI_Comm comm) {
  int* const data = malloc(sizeof(int[4 * blocks]));
  MPI_Request request;
  fill(data, 0);
  say("receive", MPI_Recv(data, blocks, type, (rank + 1) % ranks, 9, comm, MPI_STATUS_IGNORE));
  say("send", MPI_Send(data, blocks, type, (rank + 1) % ranks, 9, comm));
  long before = 0;
  for (int i = 0; i < failures; ++i) {
    if (i == failures / 10) before = pages();
    if (MPI_Irecv(data, blocks, type, (rank + 1) % ranks, 9, comm, &request) == MPI_SUCCESS)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (MPI_Isend(data, blocks, type, (rank + 1) % ranks, 9, comm, &request) == MPI_SUCCESS)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  printf("%d: memory %s\n", rank, pages() - before < most_growth_pages ? "stays" : "grows");
  free(data);
}

static void learn_of_revocation(MPI_Comm comm) {
  const int early = rank == 0;
  int *data = malloc(sizeof(int[4 * blocks])), one = 1, sum = 0;
  MPI_Request request;
  MPI_Irecv(data, blocks, type, MPI_ANY_SOURCE, 5, comm, &request);
  if (early) {
    usleep(300000);
    MPIX_Comm_revoke(comm);
  }
  say("barrier", MPI_Barrier(comm));
  say("allreduce", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  say("bcast", MPI_Bcast(&one, 1, MPI_INT, 0, comm));
  say("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  free(data);
}

static void survive(MPI_Comm comm) {
  const int dead = ranks - 1;
  int *data = malloc(sizeof(int[4 * blocks])), *any = malloc(sizeof(int[4 * blocks]));
  MPI_Request request, pending;
  memset(any, -1, sizeof(int[4 * blocks]));
  MPI_Irecv(data, blocks, type, dead, 5, comm, &request);
  MPI_Irecv(any, blocks, type, MPI_ANY_SOURCE, 6, comm, &pending);
  if (rank == dead) raise(SIGKILL);
  say("barrier", MPI_Barrier(comm));
  say("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  say("receive", MPI_Recv(data, blocks, type, dead, 7, comm, MPI_STATUS_IGNORE));
  say("wait for any", MPI_Wait(&pending, MPI_STATUS_IGNORE));
  printf("%d: the request is %s\n", rank, pending == MPI_REQUEST_NULL ? "gone" : "there");
  int agreed = 1;
  MPIX_Comm_failure_ack(comm);
  MPIX_Comm_agree(comm, &agreed);
  fill(data, rank);
  say("send", MPI_Send(data, blocks, type, (rank + 1) % dead, 6, comm));
  /* Open MPI 5.0 says now and then for ever that a rank has failed, pending; the message comes all the same. */
  for (int i = 0; i < attempts && pending != MPI_REQUEST_NULL; ++i) MPI_Wait(&pending, MPI_STATUS_IGNORE);
  printf("%d: %s\n", rank, check(any, (rank + dead - 1) % dead));
  MPIX_Comm_agree(comm, &agreed);
  MPIX_Comm_revoke(comm);
  say("barrier", MPI_Barrier(comm));
  free(any);
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm comm, fewer;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int lengths[] = {1, 2}, places[] = {0, 2};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  MPI_Datatype wide;
  MPI_Type_create_resized(type, 0, 4 * sizeof(int), &wide);
  type = wide;
  MPI_Type_commit(&type);
  use(comm, "the whole");
  const int kill = argc == 2 && strcmp(argv[1], "kill") == 0;
  if (kill) {
    survive(comm);
  } else {
    learn_of_revocation(comm);
    use_revoked(comm);
  }
  say("shrink", MPIX_Comm_shrink(comm, &fewer));
  use(fewer, "the rest");
  fflush(stdout);
  if (kill) _exit(0); /* with a failed rank MPI_Finalize of Open MPI 5.0 hangs now and then */
  MPI_Comm_free(&fewer);
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
