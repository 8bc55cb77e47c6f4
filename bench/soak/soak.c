/* Mixed traffic for SECONDS: soak SECONDS SEED. Every rank draws the same numbers, so each knows what must come out.
   Rank 0 prints, every few seconds, the most that a rank holds: calls, anonymous and shared memory in KiB, descriptors,
   mappings. Ends with "done" and how many results were wrong. */
#include <dirent.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 16, most_comms = 12, most_elements = 20000, figures = 5, reports_s = 5 };

static int rank, ranks, round_number;
static long wrong, calls;
static uint64_t state;
static int in[most_ranks * most_elements], out[most_ranks * most_elements];
static MPI_Comm comms[most_comms];
static MPI_Win window;
static long* exposed;

static uint32_t draw(uint32_t below) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ (z >> 31)) >> 33) % below;
}

static void expect(long got, long wanted) {
  if (got != wanted && wrong++ < 5) printf("rank %d, round %d: %ld, not %ld\n", rank, round_number, got, wanted);
}

static int value(int from, int to, int i) { return (round_number * 31 + from * 17 + to * 5 + i * 3) % 997; }

static int some_count(void) {
  const uint32_t shape = draw(10);
  return shape < 6 ? 1 + (int)draw(16) : shape < 9 ? 1 + (int)draw(2000) : 1 + (int)draw(most_elements);
}

static void collective(MPI_Comm comm) {
  int self, size;
  MPI_Comm_rank(comm, &self);
  MPI_Comm_size(comm, &size);
  const int count = some_count(), root = (int)draw((uint32_t)ranks) % size;
  const uint32_t kind = draw(9);
  for (int block = 0; block < size; ++block)
    for (int i = 0; i < count; ++i) in[block * count + i] = value(self, block, i);
  if (kind == 0) MPI_Barrier(comm);
  if (kind == 1) MPI_Bcast(self == root ? in : out, count, MPI_INT, root, comm);
  if (kind == 2) MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
  if (kind == 3) MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
  if (kind == 4) MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
  if (kind == 5) MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
  if (kind == 6) MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm);
  if (kind == 7) MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm);
  if (kind == 8) MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm);
  ++calls;
  for (int i = 0; i < count; ++i) {
    long sum = 0;
    for (int from = 0; from < (kind == 8 ? self + 1 : size); ++from) sum += value(from, 0, i);
    if ((kind == 1 && self != root)) expect(out[i], value(root, 0, i));
    if (kind == 2 || kind == 8 || (kind == 3 && self == root)) expect(out[i], sum);
    if (kind == 7) expect(out[i], value(root, self, i));
    for (int from = 0; from < size; ++from) {
      if (kind == 4 || (kind == 6 && self == root)) expect(out[from * count + i], value(from, 0, i));
      if (kind == 5) expect(out[from * count + i], value(from, self, i));
    }
  }
}

/* Columns of a matrix round a ring; a new datatype each time. */
static void messages(MPI_Comm comm) {
  int self, size;
  MPI_Comm_rank(comm, &self);
  MPI_Comm_size(comm, &size);
  const int length = 1 + (int)draw(800), width = 2 + (int)draw(6), way = (int)draw(4);
  const int right = (self + 1) % size, left = (self + size - 1) % size;
  MPI_Datatype column;
  MPI_Type_vector(length, 1, width, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < length; ++i) in[i * width] = value(self, right, i);
  for (int i = 0; i < length * width; ++i) out[i] = -1;
  MPI_Request requests[2];
  if (way == 0) {
    MPI_Sendrecv(in, 1, column, right, 7, out, 1, column, left, 7, comm, MPI_STATUS_IGNORE);
  } else if (way == 1) {
    MPI_Irecv(out, 1, column, left, 7, comm, &requests[0]);
    MPI_Isend(in, 1, column, right, 7, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else if (way == 2) {
    MPI_Recv_init(out, 1, column, left, 7, comm, &requests[0]);
    MPI_Send_init(in, 1, column, right, 7, comm, &requests[1]);
    for (int turn = 0; turn < 3; ++turn) {
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  } else {
    MPI_Isend(in, 1, column, right, 7, comm, &requests[0]);
    MPI_Barrier(comm); /* a waiting rank drives the host */
    MPI_Recv(out, 1, column, left, 7, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < length; ++i) {
    expect(out[i * width], value(left, self, i));
    expect(out[i * width + 1], i + 1 < length || width == 1 ? -1 : out[i * width + 1]);
  }
  MPI_Type_free(&column);
  calls += 4;
}

static void one_sided(void) {
  const long one = 1;
  long before;
  MPI_Win_lock(MPI_LOCK_SHARED, round_number % ranks, 0, window);
  MPI_Fetch_and_op(&one, &before, MPI_LONG, round_number % ranks, 0, MPI_SUM, window);
  MPI_Win_unlock(round_number % ranks, window);
  MPI_Barrier(MPI_COMM_WORLD);
  calls += 4;
}

static void pack(void) {
  const int blocks = 1 + (int)draw(500);
  MPI_Datatype twos;
  MPI_Type_vector(blocks, 2, 5, MPI_INT, &twos);
  MPI_Type_commit(&twos);
  int at = 0, size;
  for (int i = 0; i < 5 * blocks; ++i) in[i] = i + round_number;
  MPI_Type_size(twos, &size);
  MPI_Pack(in, 1, twos, out, size, &at, MPI_COMM_WORLD);
  for (int i = 0; i < blocks; ++i) expect(out[2 * i + 1], 5 * i + 1 + round_number);
  MPI_Type_free(&twos);
  calls += 2;
}

/* On one rank, on a communicator that lives for this only. */
static void fail(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (rank == round_number % ranks) expect(MPI_Bcast(in, -1, MPI_INT, 0, comm) != MPI_SUCCESS, 1);
  for (int i = 0; i < 20; ++i) collective(comm);
  MPI_Comm_free(&comm);
}

static void communicators(void) {
  const uint32_t place = draw(most_comms);
  if (comms[place] != MPI_COMM_NULL) {
    MPI_Comm_free(&comms[place]);
  } else if (draw(3) == 0) {
    const int dims[1] = {ranks}, periods[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comms[place]);
  } else if (draw(2) == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[place]);
  } else {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[place]);
  }
  ++calls;
}

static long status_of(const char* name) {
  char line[200];
  long kib = 0;
  FILE* const file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) kib = strtol(line + strlen(name) + 1, NULL, 10);
  if (file) fclose(file);
  return kib;
}

static long descriptors(void) {
  long count = 0;
  DIR* const directory = opendir("/proc/self/fd");
  while (directory && readdir(directory)) ++count;
  if (directory) closedir(directory);
  return count;
}

static long mappings(void) {
  long count = 0;
  int letter;
  FILE* const file = fopen("/proc/self/maps", "r");
  while (file && (letter = fgetc(file)) != EOF) count += letter == '\n';
  if (file) fclose(file);
  return count;
}

static void report(double seconds) {
  const long own[figures] = {calls, status_of("RssAnon"), status_of("RssShmem"), descriptors(), mappings()};
  long most[figures];
  MPI_Reduce(own, most, figures, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  printf("%.0f", seconds);
  for (int i = 0; i < figures; ++i) printf(" %ld", most[i]);
  printf("\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3 || ranks > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  state = strtoull(argv[2], NULL, 10);
  for (int i = 0; i < most_comms; ++i) comms[i] = MPI_COMM_NULL;
  MPI_Win_allocate(sizeof *exposed, sizeof *exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window);
  *exposed = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime(), length_s = atof(argv[1]);
  double reported_s = 0;
  for (int on = 1; on; ++round_number) {
    for (int i = 0; i < 10; ++i) collective(MPI_COMM_WORLD);
    for (int i = 0; i < most_comms; ++i)
      if (comms[i] != MPI_COMM_NULL) collective(comms[i]), messages(comms[i]);
    messages(MPI_COMM_WORLD);
    one_sided();
    pack();
    communicators();
    if (draw(20) == 0) fail();
    double now_s = MPI_Wtime() - start_s;
    MPI_Bcast(&now_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    on = now_s < length_s;
    if (now_s > reported_s + reports_s || !on) report(reported_s = now_s);
  }
  for (int i = 0; i < most_comms; ++i)
    if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
  MPI_Win_free(&window);
  long all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("done %ld\n", all);
  MPI_Finalize();
  return wrong != 0;
}
