/* MPI_Pack and MPI_Unpack of the host beside millrace_layout_pack and _unpack, in turns within one process.
   Prints one line per kind of layout, direction and size: kind.direction block_bytes packed_bytes host_ns ours_ns ratio
   low high (quartiles of host / ours by turn). */
#include <millrace/millrace.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_turns = 41 };
static const double turn_ns = 3e5;

typedef struct {
  MPI_Datatype type;
  millrace_layout* layout;
  char* memory;
  char* packed;
  int packed_bytes;
} subject;

static void host_pack(const subject* s) {
  int position = 0;
  MPI_Pack(s->memory, 1, s->type, s->packed, s->packed_bytes, &position, MPI_COMM_SELF);
}
static void host_unpack(const subject* s) {
  int position = 0;
  MPI_Unpack(s->packed, s->packed_bytes, &position, s->memory, 1, s->type, MPI_COMM_SELF);
}
static void our_pack(const subject* s) { millrace_layout_pack(s->layout, s->memory, s->packed); }
static void our_unpack(const subject* s) { millrace_layout_unpack(s->layout, s->packed, s->memory); }

typedef void (*work)(const subject*);

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return difference < 0 ? -1 : difference > 0;
}

static double time_ns(work run, const subject* s, int calls) {
  double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) run(s);
  return (MPI_Wtime() - start) * 1e9 / calls;
}

static void compare(const char* kind, const char* direction, work host, work ours, const subject* s, size_t block_bytes,
                    int turns) {
  host(s), ours(s);
  double estimate = time_ns(host, s, 2);
  int calls = estimate > 0 ? (int)(turn_ns / estimate) : 1000;
  calls = calls < 1 ? 1 : calls > 3000 ? 3000 : calls;
  double host_ns[most_turns], our_ns[most_turns], ratio[most_turns];
  for (int turn = 0; turn < turns; ++turn) {
    int host_first = turn % 2; /* whoever comes first finds other caches */
    if (host_first) host_ns[turn] = time_ns(host, s, calls);
    our_ns[turn] = time_ns(ours, s, calls);
    if (!host_first) host_ns[turn] = time_ns(host, s, calls);
    ratio[turn] = host_ns[turn] / our_ns[turn];
  }
  qsort(host_ns, (size_t)turns, sizeof *host_ns, ascending);
  qsort(our_ns, (size_t)turns, sizeof *our_ns, ascending);
  qsort(ratio, (size_t)turns, sizeof *ratio, ascending);
  printf("%s.%s %zu %d %.0f %.0f %.3f %.3f %.3f\n", kind, direction, block_bytes, s->packed_bytes, host_ns[turns / 2],
         our_ns[turns / 2], ratio[turns / 2], ratio[turns / 4], ratio[3 * turns / 4]);
  fflush(stdout);
}

/* Where blocks lie: one block and one gap after the other, or in random order of the same places. */
static void place(ptrdiff_t* at, size_t blocks, size_t block_bytes, int is_random) {
  unsigned long long state = 88172645463325252ull; /* xorshift */
  for (size_t i = 0; i < blocks; ++i) at[i] = (ptrdiff_t)(2 * i * block_bytes);
  for (size_t i = blocks; is_random && i-- > 1;) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    size_t other = (size_t)(state % (i + 1));
    ptrdiff_t moved = at[i];
    at[i] = at[other], at[other] = moved;
  }
}

static void measure(const char* kind, int is_random, size_t block_bytes, size_t packed_bytes, int turns) {
  size_t blocks = packed_bytes / block_bytes;
  subject s = {.packed_bytes = (int)packed_bytes};
  s.memory = malloc(2 * packed_bytes), s.packed = malloc(packed_bytes);
  memset(s.memory, 1, 2 * packed_bytes), memset(s.packed, 2, packed_bytes);
  ptrdiff_t* at = malloc(blocks * sizeof *at);
  size_t* lengths = malloc(blocks * sizeof *lengths);
  MPI_Aint* addresses = malloc(blocks * sizeof *addresses);
  place(at, blocks, block_bytes, is_random);
  for (size_t i = 0; i < blocks; ++i) addresses[i] = at[i], lengths[i] = block_bytes;
  MPI_Datatype element = block_bytes % 8 ? MPI_INT : MPI_DOUBLE;
  int length = (int)(block_bytes / (block_bytes % 8 ? 4 : 8));
  if (is_random)
    MPI_Type_create_hindexed_block((int)blocks, length, addresses, element, &s.type);
  else
    MPI_Type_vector((int)blocks, length, 2 * length, element, &s.type);
  MPI_Type_commit(&s.type);
  if (millrace_layout_blocks(blocks, at, lengths, &s.layout) == MILLRACE_OK) {
    compare(kind, "pack", host_pack, our_pack, &s, block_bytes, turns);
    compare(kind, "unpack", host_unpack, our_unpack, &s, block_bytes, turns);
  }
  millrace_layout_free(s.layout);
  MPI_Type_free(&s.type);
  free(at), free(lengths), free(addresses), free(s.memory), free(s.packed);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int turns = argc > 1 ? atoi(argv[1]) : 11;
  if (turns < 1 || turns > most_turns) turns = 11;
  const size_t blocks[] = {4, 8, 24, 64, 256, 1024, 2048, 4096, 8192, 16384, 65536};
  const size_t sizes[] = {64, 512, 8 << 10, 512 << 10, 16 << 20};
  for (size_t size = 0; size < sizeof sizes / sizeof *sizes; ++size)
    for (size_t block = 0; block < sizeof blocks / sizeof *blocks; ++block) {
      size_t bytes = sizes[size] / blocks[block] * blocks[block];
      if (bytes < 2 * blocks[block]) continue;
      measure("strided", 0, blocks[block], bytes, turns);
      if (blocks[block] <= 64) measure("random", 1, blocks[block], bytes, turns);
    }
  MPI_Finalize();
  return 0;
}
