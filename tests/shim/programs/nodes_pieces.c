/* Broadcasts over nodes in pieces. "sizes": of bytes around those that pieces and blocks of them end at, from each
   rank, between bytes that nobody may write; "wrong" is said of data that are not what they must be. "letters": the
   same of other collectives, around the bytes that letters are cut at. "early RANK BYTES [reduce]": 64 MiB from rank 0
   in broadcasts of so many bytes, or to the last rank in reductions, to which those from RANK on, of other nodes, come
   when the host has driven its messages for half a second; rank by rank "kept N" says how many KiB the process has
   grown by meanwhile. "done" by rank 0. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { border = 64, most = 3 << 20, early_bytes = 64 << 20 };
static int rank, ranks;

static unsigned char byte_at(size_t i, int root, int size) {
  return (unsigned char)((i * 2654435761u >> 13) + (size_t)root * 7 + (size_t)size);
}

static void all_sizes(void) {
  static const int sizes[] = {1,       62999,       63000,   63001,       64 << 10,          126000,      200003,
                              1000000, 1 << 20,     1048577, 1111576,     (1 << 20) + 63001, (2 << 20),   2097153,
                              262144,  262144 + 17, 524288,  524288 + 63, 2500007,           most - 1000, most};
  unsigned char* const all = malloc(most + 2 * border);
  for (size_t which = 0; which < sizeof sizes / sizeof *sizes; ++which)
    for (int root = 0; root < ranks; ++root) {
      const int size = sizes[which];
      unsigned char* const data = all + border;
      memset(all, 0xee, most + 2 * border);
      for (int i = 0; rank == root && i < size; ++i) data[i] = byte_at((size_t)i, root, size);
      MPI_Bcast(data, size, MPI_BYTE, root, MPI_COMM_WORLD);
      int wrong = 0;
      for (int i = 0; i < size; ++i) wrong += data[i] != byte_at((size_t)i, root, size);
      for (int i = 0; i < border; ++i) wrong += all[i] != 0xee || data[size + i] != 0xee;
      if (wrong) printf("wrong: rank %d of root %d, %d bytes: %d\n", rank, root, size, wrong);
    }
  free(all);
}

enum kind { allreduce, reduce, reduce_scatter, allgather, gather, scatter, alltoall, kinds };
static const char* const names[] = {"allreduce", "reduce",  "reduce_scatter", "allgather",
                                    "gather",    "scatter", "alltoall"};

/* One of `kind`, of `size` bytes of each, or of a block. Rank r sends byte_at(i, r, size) at i. */
static void letter(enum kind kind, int size, int root, unsigned char* sent, unsigned char* all) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_UNSIGNED_CHAR;
  const int blocks_sent = kind == reduce_scatter || kind == scatter || kind == alltoall ? ranks : 1;
  const int blocks_got = kind == allgather || kind == gather || kind == alltoall ? ranks : 1;
  const int got = (kind == reduce || kind == gather) && rank != root ? 0 : blocks_got * size;
  unsigned char* const data = all + border;
  for (int i = 0; i < blocks_sent * size; ++i) sent[i] = byte_at((size_t)i, rank, size);
  memset(all, 0xee, (size_t)(blocks_got * size + 2 * border));
  switch (kind) {
    case allreduce: MPI_Allreduce(sent, data, size, type, MPI_SUM, comm); break;
    case reduce: MPI_Reduce(sent, data, size, type, MPI_SUM, root, comm); break;
    case reduce_scatter: MPI_Reduce_scatter_block(sent, data, size, type, MPI_SUM, comm); break;
    case allgather: MPI_Allgather(sent, size, type, data, size, type, comm); break;
    case gather: MPI_Gather(sent, size, type, data, size, type, root, comm); break;
    case scatter: MPI_Scatter(sent, size, type, data, size, type, root, comm); break;
    default: MPI_Alltoall(sent, size, type, data, size, type, comm);
  }
  int wrong = 0;
  for (int i = 0; i < got; ++i) {
    const int block = i / size, at = i % size;
    unsigned char wanted = 0;
    if (kind == allreduce || kind == reduce || kind == reduce_scatter)
      for (int from = 0; from < ranks; ++from)
        wanted += byte_at((size_t)(kind == reduce_scatter ? rank * size + i : i), from, size);
    else
      wanted = kind == scatter    ? byte_at((size_t)(rank * size + i), root, size)
               : kind == alltoall ? byte_at((size_t)(rank * size + at), block, size)
                                  : byte_at((size_t)at, block, size);
    wrong += data[i] != wanted;
  }
  for (int i = 0; i < border; ++i) wrong += all[i] != 0xee || data[got + i] != 0xee;
  if (wrong) printf("wrong: %s, rank %d of root %d, %d bytes: %d\n", names[kind], rank, root, size, wrong);
}

static void all_letters(void) {
  static const int sizes[] = {31492,  62983,  62984,  62985,  63000,  64 << 10,
                              125984, 125985, 200003, 262144, 262145, 300001};
  const int longest = 300001 * ranks;
  unsigned char *const sent = malloc((size_t)longest), *const all = malloc((size_t)(longest + 2 * border));
  for (int kind = 0; kind < kinds; ++kind)
    for (size_t which = 0; which < sizeof sizes / sizeof *sizes; ++which)
      for (int root = 0; root < (kind == reduce || kind == gather || kind == scatter ? ranks : 1); ++root)
        letter((enum kind)kind, sizes[which], root, sent, all);
  free(sent);
  free(all);
}

static long resident_kib(void) {
  long pages = 0, resident = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) exit(9);
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void early(int first_node, int bytes, int reduces) {
  unsigned char *const data = malloc(early_bytes), *const sums = malloc((size_t)bytes);
  const int last = ranks - 1;
  int wrong = 0;
  MPI_Bcast(data, 1 << 20, MPI_BYTE, 0, MPI_COMM_WORLD);
  memset(data, rank, early_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = resident_kib();
  const double begin = MPI_Wtime();
  while (rank >= first_node && MPI_Wtime() - begin < 0.5) {
    int is_there;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  }
  if (rank >= first_node) printf("kept %ld\n", resident_kib() - before);
  const int calls = early_bytes / bytes;
  for (int call = 0; call < calls; ++call) {
    unsigned char* const part = data + call * bytes;
    if (reduces)
      MPI_Reduce(part, sums, bytes, MPI_UNSIGNED_CHAR, MPI_SUM, last, MPI_COMM_WORLD);
    else
      MPI_Bcast(part, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < bytes; ++i) wrong += reduces ? rank == last && sums[i] != ranks * last / 2 : part[i] != 0;
  }
  if (wrong) printf("wrong\n");
  free(data);
  free(sums);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int call = 0; call < 300; ++call) MPI_Barrier(MPI_COMM_WORLD);  // from here on they have agreed
  if (argc > 3 && !strcmp(argv[1], "early"))
    early(atoi(argv[2]), atoi(argv[3]), argc > 4 && !strcmp(argv[4], "reduce"));
  else if (argc > 1 && !strcmp(argv[1], "letters"))
    all_letters();
  else
    all_sizes();
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
