/* Every kind of call with buffers in memory of a GPU: device_memory LIBRARY KIND WHEN, with the file of a stand-in of
 * a GPU runtime (../device), the kind of memory (1 device, 2 managed, 3 pinned), and when it is loaded: early, late
 * (after some calls). Every other buffer of a rank, and other ones on each rank, are the program's own memory. Prints a
 * checksum of what came for each call and rank. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 40000, calls = 12 };

static int rank, ranks, kind;
static unsigned turn;
static void* (*allocate_there)(int, size_t);
static void (*release_all)(void);
static void* (*touchable)(const void*);

static void load(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(3);
  }
  int (*start)(unsigned) = NULL;
  *(void**)&start = dlsym(library, "zeInit");
  if (start) start(0);
  *(void**)&allocate_there = dlsym(library, "stand_in_allocate");
  *(void**)&release_all = dlsym(library, "stand_in_release_all");
  *(void**)&touchable = dlsym(library, "stand_in_touchable");
}

/* What this rank has to say. Rank 0 prints for all: launchers that read from several ranks cut their lines. */
static char said[1 << 16];
static int said_bytes;

static void print_all(void) {
  fwrite(said, 1, (size_t)said_bytes, stdout);
  for (int other = 1; other < ranks; ++other) {
    MPI_Recv(&said_bytes, 1, MPI_INT, other, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(said, said_bytes, MPI_CHAR, other, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fwrite(said, 1, (size_t)said_bytes, stdout);
  }
}

static unsigned char* view(const void* buffer) { return touchable ? touchable(buffer) : (void*)buffer; }

/* Zeroed memory: of the device, or the program's own. */
static void* buffer(size_t bytes) {
  const int there = allocate_there && ++turn % 2 == (unsigned)rank % 2;
  void* const made = there ? allocate_there(kind, bytes) : malloc(bytes);
  if (!made) exit(4);
  memset(view(made), 0, bytes);
  return made;
}

/* Small integers that differ between ranks; as long as `bytes`. */
static void* filled(size_t bytes) {
  int* const made = buffer(bytes);
  int* const at = (int*)view(made);
  for (size_t i = 0; i < bytes / sizeof(int); ++i) at[i] = (int)(i * 7 + (size_t)rank * 13) % 101;
  return made;
}

static void result(const char* name, int count, const void* buffer, size_t bytes) {
  const unsigned char* const at = view(buffer);
  unsigned long long sum = 14695981039346656037u;
  for (size_t i = 0; i < bytes; ++i) sum = (sum ^ at[i]) * 1099511628211u;
  const size_t left = sizeof said - (size_t)said_bytes;
  said_bytes += snprintf(said + said_bytes, left, "%s %d rank %d: %llx\n", name, count, rank, sum);
  if ((size_t)said_bytes >= sizeof said) exit(5);
}

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < 2 * *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void reductions(int n) {
  const size_t bytes = (size_t)n * sizeof(int);
  void* in = filled(bytes);
  void* out = buffer(bytes);
  MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  result("allreduce", n, out, bytes);
  MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  result("allreduce in place", n, in, bytes);
  in = filled(bytes);
  out = buffer(bytes);
  MPI_Reduce(in, out, n, MPI_INT, MPI_MAX, n % ranks, MPI_COMM_WORLD);
  result("reduce", n, out, bytes);
  if (rank == 0)
    MPI_Reduce(MPI_IN_PLACE, in, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  else
    MPI_Reduce(in, NULL, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  result("reduce in place", n, in, bytes);
  /* Elements with four bytes that are nobody's. */
  struct pair {
    double value;
    int index;
  };
  const size_t pair_bytes = (size_t)n * sizeof(struct pair);
  struct pair* const pairs = buffer(pair_bytes);
  struct pair* const best = buffer(pair_bytes);
  memset(view(best), 0x55, pair_bytes);
  for (int i = 0; i < n; ++i) ((struct pair*)view(pairs))[i] = (struct pair){(double)((i * 7 + rank * 13) % 101), rank};
  MPI_Allreduce(pairs, best, n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  result("maxloc", n, best, pair_bytes);
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  in = filled(2 * bytes);
  out = buffer(2 * bytes);
  MPI_Allreduce(in, out, n, two, op, MPI_COMM_WORLD);
  result("user op", n, out, 2 * bytes);
  MPI_Op_free(&op);
  MPI_Type_free(&two);
  in = filled(bytes);
  out = filled(bytes);
  MPI_Reduce_local(in, out, n, MPI_INT, MPI_SUM);
  result("reduce local", n, out, bytes);
}

/* Reductions whose results differ between ranks. */
static void parts(int n) {
  const size_t bytes = (size_t)n * sizeof(int), all = bytes * (size_t)ranks;
  void* in = filled(bytes);
  void* out = buffer(bytes);
  MPI_Scan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  result("scan", n, out, bytes);
  MPI_Scan(MPI_IN_PLACE, in, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  result("scan in place", n, in, bytes);
  in = filled(bytes);
  out = buffer(bytes);
  MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  result("exscan", n, out, bytes);
  for (int i = 0; i < 2; ++i) { /* of either kind of memory on each rank */
    in = filled(bytes);
    MPI_Exscan(MPI_IN_PLACE, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank != 0) result("exscan in place", n, in, bytes);
  }
  in = filled(all);
  out = buffer(bytes);
  MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  result("reduce_scatter_block", n, out, bytes);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, in, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  result("reduce_scatter_block in place", n, in, bytes);
  int counts[64];
  for (int i = 0; i < ranks; ++i) counts[i] = n;
  counts[0] = 0, counts[ranks - 1] = ranks > 1 ? 2 * n : 0;
  in = filled(all);
  out = buffer(2 * bytes);
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  result("reduce_scatter", n, out, (size_t)counts[rank] * sizeof(int));
}

/* `n` blocks of three integers in four, and as many of them packed. */
static void exchanges(int n, MPI_Datatype type) {
  const size_t row = (size_t)n * 3 * sizeof(int), wide = (size_t)n * 4 * sizeof(int), all = (size_t)ranks;
  const int k = 3 * n;
  void* data = rank == 0 ? filled(row) : buffer(row);
  MPI_Bcast(data, k, MPI_INT, 0, MPI_COMM_WORLD);
  result("bcast", n, data, row);
  data = rank == 0 ? filled(wide) : buffer(wide);
  MPI_Bcast(data, n, type, 0, MPI_COMM_WORLD);
  result("bcast of blocks", n, data, wide);
  void* in = filled(row);
  void* out = buffer(wide * all);
  MPI_Gather(in, k, MPI_INT, out, n, type, 1, MPI_COMM_WORLD);
  result("gather", n, out, wide * all);
  in = filled(wide * all);
  out = buffer(row);
  MPI_Scatter(in, n, type, out, k, MPI_INT, 1, MPI_COMM_WORLD);
  result("scatter", n, out, row);
  in = filled(wide);
  out = buffer(row * all);
  MPI_Allgather(in, n, type, out, k, MPI_INT, MPI_COMM_WORLD);
  result("allgather", n, out, row * all);
  out = filled(wide * all);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, out, n, type, MPI_COMM_WORLD);
  result("allgather in place", n, out, wide * all);
  in = filled(wide * all);
  out = buffer(row * all);
  MPI_Alltoall(in, n, type, out, k, MPI_INT, MPI_COMM_WORLD);
  result("alltoall", n, out, row * all);
  int counts[64], places[64];
  for (int i = 0; i < ranks; ++i) {
    counts[i] = k;
    places[i] = k * (ranks - 1 - i);
  }
  in = filled(row * all);
  out = buffer(row * all);
  MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
  result("alltoallv", n, out, row * all);
  in = filled(wide * all);
  out = buffer(wide * all);
  MPI_Request request;
  MPI_Ialltoall(in, n, type, out, n, type, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  result("ialltoall", n, out, wide * all);
}

/* Elements of two sizes, with bytes between them that are nobody's. */
static void structures(int n) {
  struct element {
    double value;
    char letters[3];
  };
  MPI_Datatype packed, type;
  const int lengths[] = {1, 3};
  const MPI_Aint places[] = {0, sizeof(double)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Type_create_struct(2, lengths, places, types, &packed);
  MPI_Type_create_resized(packed, 0, sizeof(struct element), &type);
  MPI_Type_commit(&type);
  const size_t bytes = (size_t)n * sizeof(struct element);
  void* data = rank == 1 ? filled(bytes) : buffer(bytes);
  MPI_Bcast(data, n, type, 1, MPI_COMM_WORLD);
  result("bcast of structures", n, data, bytes);
  void* const in = filled(bytes);
  void* const out = buffer(bytes * (size_t)ranks);
  MPI_Allgather(in, n, type, out, n, type, MPI_COMM_WORLD);
  result("allgather of structures", n, out, bytes * (size_t)ranks);
  MPI_Type_free(&packed);
  MPI_Type_free(&type);
}

static void messages(int n, MPI_Datatype type) {
  const size_t wide = (size_t)n * 4 * sizeof(int);
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  void* const out = filled(wide);
  void* in = buffer(wide);
  if (rank % 2 == 0) MPI_Send(out, n, type, to, 1, MPI_COMM_WORLD);
  MPI_Recv(in, n, type, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank % 2 != 0) MPI_Send(out, n, type, to, 1, MPI_COMM_WORLD);
  result("send, recv", n, in, wide);
  in = buffer(wide);
  MPI_Sendrecv(out, n, type, to, 2, in, n, type, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  result("sendrecv", n, in, wide);
  in = buffer(wide);
  MPI_Request requests[2];
  MPI_Irecv(in, n, type, from, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, n, type, to, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  result("isend, irecv", n, in, wide);
  in = buffer(wide);
  MPI_Recv_init(in, n, type, from, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, n, type, to, 4, MPI_COMM_WORLD, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  result("persistent", n, in, wide);
  const int packed_bytes = n * 3 * (int)sizeof(int);
  void* const packed = buffer((size_t)packed_bytes);
  int position = 0;
  MPI_Pack(out, n, type, packed, packed_bytes, &position, MPI_COMM_WORLD);
  result("pack", position, packed, (size_t)packed_bytes);
  in = buffer(wide);
  position = 0;
  MPI_Unpack(packed, packed_bytes, &position, in, n, type, MPI_COMM_WORLD);
  result("unpack", position, in, wide);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4 || ranks > 64 || ranks % 2) return 2;
  kind = atoi(argv[2]);
  const int late = strcmp(argv[3], "late") == 0;
  if (!late) load(argv[1]);
  MPI_Datatype type;
  const int lengths[] = {1, 2}, places[] = {0, 2}; /* x.xx */
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 4; ++round) {
    const int n = round < 3 ? 25 : most;
    reductions(n);
    parts(n);
    exchanges(n / 2, type);
    structures(n / 2);
    messages(n / 2, type);
    if (late && round == 0)
      load(argv[1]);
    else
      release_all();
  }
  MPI_Type_free(&type);
  if (rank == 0) {
    print_all();
  } else {
    MPI_Send(&said_bytes, 1, MPI_INT, 0, 98, MPI_COMM_WORLD);
    MPI_Send(said, said_bytes, MPI_CHAR, 0, 99, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
