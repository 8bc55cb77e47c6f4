/* Barrier, Bcast and the reductions over kinds, ops and types, bytes, roots and places, in random order, each result
   compared byte for byte with a left fold that no MPI computed.
   Arguments: the seed; one of how many points of the product is taken, beside those with which every value of an axis
   occurs with every kind; the most bytes; "ours" if the calls are Millrace's: then sums are in rank order to the last
   bit, and gaps are kept. Prints a line per rank that found something wrong, then "done" and how many points. */
#include <stdio.h>

#include "complaints.h"
#include "left_fold.h"

static const size_t sizes[] = {
    0,     1,     3,     8,     56,     57,     64,     4097,   8191,   8192,   8193,          32767,   32768,
    32769, 65535, 65536, 65537, 262143, 262144, 262145, 524287, 524288, 524289, (1 << 20) + 3, 40 << 20};
enum { size_count = sizeof sizes / sizeof *sizes, root_count = 3, kinds = 8, margin = 64 };

struct point {
  int kind, reduction, size, root, place; /* place: in place; for Bcast: ranks describe the bytes differently */
};

static int world_rank, ranks, ours, failed = 0;
static char *in, *out;
static MPI_Comm comm; /* its ranks are those of the world the other way round */

static void complain(const struct point* p, int call) {
  static const char* names[] = {"Barrier",        "Bcast", "Reduce", "Allreduce", "Reduce_scatter_block",
                                "Reduce_scatter", "Scan",  "Exscan"};
  if (failed++ < most_complaints())
    printf("rank %d: call %d, %s %s of %zu bytes, root %d%s is wrong\n", world_rank, call, names[p->kind],
           p->kind > 1 ? reductions[p->reduction].name : "", sizes[p->size], p->root, p->place ? ", in place" : "");
}

static int margin_kept(const char* behind) {
  for (int k = 0; k < margin; ++k)
    if (behind[k] != 0x55) return 0;
  return 1;
}

/* How often each rank has come to a barrier, in memory of the host's that all see. */
struct arrivals {
  long count, unused[15];
};
static volatile struct arrivals* arrivals;
static MPI_Win window;

static void make_arrivals(void) {
  void* base;
  MPI_Aint bytes;
  int unit, rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Win_allocate_shared(rank == 0 ? ranks * (MPI_Aint)sizeof *arrivals : 0, 1, MPI_INFO_NULL, comm, &base, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &base);
  arrivals = base;
  arrivals[rank].count = 0;
  PMPI_Barrier(comm);
}

static void barrier(const struct point* p, int call) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  long own = ++arrivals[rank].count;
  MPI_Barrier(comm);
  for (int other = 0; other < ranks; ++other)
    if (arrivals[other].count < own) complain(p, call);
}

static void bcast(const struct point* p, int call) {
  const struct reduction* bytes_of = &reductions[1];
  size_t bytes = sizes[p->size];
  int rank, root = p->root == 2 ? ranks - 1 : p->root % ranks;
  MPI_Comm_rank(comm, &rank);
  memset(out, 0x55, (bytes < (2 << 20) ? 2 : 1) * bytes + margin);
  int strided =
      p->place && bytes > 0 && bytes < (2 << 20) && (call + rank) % 2; /* Open MPI 4 waits for ever for nothing */
  char* data = strided ? in : out;
  if (rank == root) take_piece(bytes_of, bytes_of->fold, bytes, (uint64_t)call, 0, data);
  if (strided) {
    MPI_Datatype every_other;
    MPI_Type_vector((int)bytes, 1, 2, MPI_BYTE, &every_other);
    MPI_Type_commit(&every_other);
    for (size_t i = 0; rank == root && i < bytes; ++i) out[2 * i] = in[i];
    MPI_Bcast(out, 1, every_other, root, comm);
    MPI_Type_free(&every_other);
    int gaps = 1;
    for (size_t i = 0; i < bytes; ++i) in[i] = out[2 * i], gaps &= out[2 * i + 1] == 0x55;
    if (!gaps) complain(p, call);
  } else {
    MPI_Bcast(out, (int)bytes, MPI_BYTE, root, comm);
    if (!margin_kept(out + bytes)) complain(p, call);
  }
  if (!is_piece(bytes_of, data, bytes_of->fold, bytes, (uint64_t)call, 0, 0)) complain(p, call);
}

static void reduce(const struct point* p, int call) {
  const struct reduction* r = &reductions[p->reduction];
  int all = p->kind == 3, rank, root = p->root == 2 ? ranks - 1 : p->root % ranks;
  MPI_Comm_rank(comm, &rank);
  /* MPICH 4.0 fails in place at other roots, and does some of the calls even where they are ours. */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000
  if (!all && p->place) root = 0;
#endif
  int gets = all || rank == root, in_place = p->place && gets;
  size_t count = (sizes[p->size] + (call % 2 ? r->bytes - 1 : 0)) / r->bytes, bytes = count * r->bytes;
  memset(out, 0x55, bytes + margin);
  take_piece(r, r->own, count, (uint64_t)call, 0x33, in_place ? out : in);
  const void* from = in_place ? MPI_IN_PLACE : in;
  if (all)
    MPI_Allreduce(from, out, (int)count, r->type, r->op, comm);
  else
    MPI_Reduce(from, gets ? out : NULL, (int)count, r->type, r->op, root, comm);
  if (!in_place && !is_piece(r, in, r->own, count, (uint64_t)call, 1, 0x33)) complain(p, call);
  if (!margin_kept(out + bytes)) complain(p, call);
  if (!gets) return;
  if (!is_piece(r, out, r->fold, count, (uint64_t)call, ours && ranks > 1, in_place ? 0x33 : 0x55)) complain(p, call);
}

/* Large counts now and then, where the host has them. */
#if MPI_VERSION >= 4
enum { has_large_counts = 1 };
#else
enum { has_large_counts = 0 };
static int no_scan(const void* from, void* to, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm on) {
  (void)from, (void)to, (void)n, (void)type, (void)op, (void)on;
  return MPI_ERR_INTERN;
}
static int no_blocks(const void* from, void* to, const MPI_Count* n, MPI_Datatype type, MPI_Op op, MPI_Comm on) {
  return no_scan(from, to, *n, type, op, on);
}
#define MPI_Reduce_scatter_c no_blocks
#define MPI_Reduce_scatter_block_c no_scan
#define MPI_Scan_c no_scan
#define MPI_Exscan_c no_scan
#endif
static int is_large(int call) { return has_large_counts && call % 3 == 0; }

/* Blocks of any sizes, empty ones too, which all ranks know. */
static void reduce_scatter(const struct point* p, int call) {
  const struct reduction* r = &reductions[p->reduction];
  int rank, counts[64];
  MPI_Comm_rank(comm, &rank);
  size_t left = (sizes[p->size] + (call % 2 ? r->bytes - 1 : 0)) / r->bytes, each = left / (size_t)ranks, begin = 0;
  size_t all = 0;
  for (int k = 0; k < ranks; ++k) {
    size_t some =
        k + 1 == ranks ? left : mix((uint64_t)(call * 64 + k)) % (left < 2 * each + 2 ? left + 1 : 2 * each + 2);
    if (p->kind == 4) some = each;
    left -= some < left ? some : left;
    counts[k] = (int)some, all += some;
    if (k < rank) begin += some;
  }
  size_t own = (size_t)counts[rank], bytes = all * r->bytes;
  memset(out, 0x55, bytes + margin);
  take_piece(r, r->own, all, (uint64_t)call, 0x33, p->place ? out : in);
  const void* from = p->place ? MPI_IN_PLACE : in;
  MPI_Count wide[64];
  for (int k = 0; k < ranks; ++k) wide[k] = counts[k];
  if (p->kind == 4 && is_large(call))
    MPI_Reduce_scatter_block_c(from, out, wide[0], r->type, r->op, comm);
  else if (is_large(call))
    MPI_Reduce_scatter_c(from, out, wide, r->type, r->op, comm);
  else if (p->kind == 4)
    MPI_Reduce_scatter_block(from, out, counts[0], r->type, r->op, comm);
  else
    MPI_Reduce_scatter(from, out, counts, r->type, r->op, comm);
  if (!p->place && !is_piece(r, in, r->own, all, (uint64_t)call, 1, 0x33)) complain(p, call);
  if (!margin_kept(out + (p->place ? bytes : own * r->bytes))) complain(p, call);
  if (!is_rest_of_piece(r, out, r->fold, begin, own, (uint64_t)call, ours && ranks > 1, p->place ? 0x33 : 0x55))
    complain(p, call);
}

static void scan(const struct point* p, int call) {
  const struct reduction* r = &reductions[p->reduction];
  int rank;
  MPI_Comm_rank(comm, &rank);
  int gets = p->kind == 6 || rank != 0;
  size_t count = (sizes[p->size] + (call % 2 ? r->bytes - 1 : 0)) / r->bytes, bytes = count * r->bytes;
  memset(out, 0x55, bytes + margin);
  take_piece(r, r->own, count, (uint64_t)call, 0x33, p->place ? out : in);
  const void* from = p->place ? MPI_IN_PLACE : in;
  if (p->kind == 6 && is_large(call))
    MPI_Scan_c(from, out, (MPI_Count)count, r->type, r->op, comm);
  else if (is_large(call))
    MPI_Exscan_c(from, out, (MPI_Count)count, r->type, r->op, comm);
  else if (p->kind == 6)
    MPI_Scan(from, out, (int)count, r->type, r->op, comm);
  else
    MPI_Exscan(from, out, (int)count, r->type, r->op, comm);
  if (!p->place && !is_piece(r, in, r->own, count, (uint64_t)call, 1, 0x33)) complain(p, call);
  if (!margin_kept(out + bytes)) complain(p, call);
  if (!gets) return;
  if (!is_piece(r, out, p->kind == 6 ? r->upto : r->before, count, (uint64_t)call, ours && ranks > 1,
                p->place ? 0x33 : 0x55))
    complain(p, call);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, one_of = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
  size_t most_bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 1 << 21;
  ours = argc > 4 && strcmp(argv[4], "ours") == 0;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
  make_reductions(comm, !ours);
  size_t room = most_bytes < (4 << 20) ? 4 << 20 : most_bytes; /* strided messages of up to 2 MiB take twice that */
  in = malloc(room + margin + 64), out = malloc(room + margin + 64);
  for (int i = 0; ours && i < 80; ++i) MPI_Barrier(comm); /* over nodes ranks agree later than in one */
  make_arrivals();

  /* The product in random order. */
  int most = kinds * reduction_count * size_count * root_count * 2, count = 0;
  struct point* points = malloc((size_t)most * sizeof *points);
  for (int kind = 0; kind < kinds; ++kind)
    for (int reduction = 0; reduction < (kind > 1 ? reduction_count : 1); ++reduction)
      for (int size = 0; size < size_count && sizes[size] <= most_bytes; ++size)
        for (int root = 0; root < (kind == 1 || kind == 2 ? root_count : 1); ++root)
          for (int place = 0; place < (kind ? 2 : 1); ++place)
            points[count++] = (struct point){kind, reduction, size, root, place};
  for (int i = count - 1; i > 0; --i) {
    int j = (int)(mix(seed * 7919 + (uint64_t)i) % (uint64_t)(i + 1));
    struct point moved = points[i];
    points[i] = points[j], points[j] = moved;
  }
  static char seen_size[kinds][size_count], seen_op[kinds][most_reductions][2], seen_root[kinds][root_count];
  int taken = 0;
  for (int i = 0; i < count; ++i) {
    const struct point* p = &points[i];
    char *size = &seen_size[p->kind][p->size], *op = &seen_op[p->kind][p->reduction][p->place],
         *root = &seen_root[p->kind][p->root];
    int large = sizes[p->size] > (2 << 20), fresh = !*size || (!large && (!*op || !*root));
    if (!fresh && mix(seed + (uint64_t)i) % (large ? 16 * one_of : one_of) != 0) continue;
    *size = *op = *root = 1;
    ++taken;
    if (p->kind == 0)
      barrier(p, i);
    else if (p->kind == 1)
      bcast(p, i);
    else if (p->kind < 4)
      reduce(p, i);
    else if (p->kind < 6)
      reduce_scatter(p, i);
    else
      scan(p, i);
  }
  int total = 0;
  MPI_Allreduce(&failed, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Win_free(&window);
  MPI_Comm_free(&comm);
  free_reductions();
  if (world_rank == 0) printf(total ? "%d wrong\n" : "done %d\n", total ? total : taken);
  free(in), free(out), free(points);
  MPI_Finalize();
  return failed != 0;
}
