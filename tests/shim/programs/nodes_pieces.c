/* Broadcasts over nodes in pieces. "sizes": of bytes around those that pieces and blocks of them end at, from each
   rank, between bytes that nobody may write; "wrong" is said of data that are not what they must be. "early RANK
   BYTES": 64 MiB from rank 0 in broadcasts of so many bytes, to which those from RANK on, of other nodes, come when the
   host has driven its messages for half a second; rank by rank "kept N" says how many KiB the process has grown by
   meanwhile. "done" by rank 0. */
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

static long resident_kib(void) {
  long pages = 0, resident = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) exit(9);
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void early(int first_node, int bytes) {
  char* const data = malloc(early_bytes);
  memset(data, rank, early_bytes);
  MPI_Bcast(data, 1 << 20, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = resident_kib();
  const double begin = MPI_Wtime();
  while (rank >= first_node && MPI_Wtime() - begin < 0.5) {
    int is_there;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  }
  if (rank >= first_node) printf("kept %ld\n", resident_kib() - before);
  const int calls = early_bytes / bytes;
  for (int call = 0; call < calls; ++call) MPI_Bcast(data + call * bytes, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < calls * bytes; ++i)
    if (data[i] != 0) {
      printf("wrong\n");
      break;
    }
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int call = 0; call < 300; ++call) MPI_Barrier(MPI_COMM_WORLD);  // from here on they have agreed
  if (argc > 3 && !strcmp(argv[1], "early"))
    early(atoi(argv[2]), atoi(argv[3]));
  else
    all_sizes();
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
