/* MPI_Pack and MPI_Unpack (Millrace, where it is loaded) beside PMPI_ (the host), a loop by hand, memcpy of the packed
   bytes and memcpy of the bytes touched (whole cache lines of blocks, or all between the first and the last), in turns
   within one process. hot: the same memory again and again. cold: a pool of buffers larger than 400 MB in rotation. One
   line: NAME pack|unpack hot|cold BYTES OURS_NS HOST_NS RATIO LOW HIGH HAND_NS MEMCPY_NS TOUCHED_NS
   lower quartiles of the turns, because what else the machine does only lengthens them; RATIO is the median of host /
   ours by turn, with its quartiles. Arguments: turns, milliseconds of one turn, optionally which rows ("," between the
   names, "all") and which sizes ("8192,524288", "all"). */
#include <stdio.h>
#include <string.h>

#include "by_hand.h"
#include "layouts.h"

enum { OURS, HOST, HAND, COPY, TOUCHED, SIDES };
static const size_t cold_bytes = (size_t)400 << 20;

static int by_value(const void* left, const void* right) {
  const double x = *(const double*)left, y = *(const double*)right;
  return (x > y) - (x < y);
}

struct memory {
  char *spread, *packed, *copied;
  size_t spread_bytes, packed_bytes, touched_bytes;
  long buffers, next; /* in rotation */
  /* Columns touch so few lines of a matrix that those of all buffers fit into a cache: each round begins some cache
     lines further to the right. */
  long places, place;
};

struct call {
  int which, unpack, bytes, count;
  MPI_Datatype type;
  struct by_hand hand;
};

static void once(int side, const struct call* c, const struct memory* m, char* spread, char* packed) {
  int position = 0;
  if (side == COPY)
    c->unpack ? memcpy(spread, packed, (size_t)c->bytes) : memcpy(packed, spread, (size_t)c->bytes);
  else if (side == TOUCHED)
    memcpy(m->copied + m->spread_bytes * (size_t)m->next, spread, m->touched_bytes);
  else if (side == HAND)
    c->unpack ? unpack_by_hand(c->which, &c->hand, spread, packed) : pack_by_hand(c->which, &c->hand, spread, packed);
  else if (side == OURS && !c->unpack)
    MPI_Pack(spread, c->count, c->type, packed, c->bytes, &position, MPI_COMM_WORLD);
  else if (side == OURS)
    MPI_Unpack(packed, c->bytes, &position, spread, c->count, c->type, MPI_COMM_WORLD);
  else if (!c->unpack)
    PMPI_Pack(spread, c->count, c->type, packed, c->bytes, &position, MPI_COMM_WORLD);
  else
    PMPI_Unpack(packed, c->bytes, &position, spread, c->count, c->type, MPI_COMM_WORLD);
}

static double timed(int side, const struct call* c, struct memory* m, long repetitions) {
  const double start = MPI_Wtime();
  for (long i = 0; i < repetitions; ++i) {
    m->next = m->next + 1 < m->buffers ? m->next + 1 : 0;
    if (m->next == 0) m->place = m->place + 1 < m->places ? m->place + 1 : 0;
    once(side, c, m, m->spread + m->spread_bytes * (size_t)m->next + 64 * m->place,
         m->packed + m->packed_bytes * (size_t)m->next);
    __asm__ volatile("" ::: "memory");
  }
  return (MPI_Wtime() - start) / (double)repetitions * 1e9;
}

static void measure(int which, long wanted, int unpack, int cold, int turns, double turn_ms) {
  struct call c = {.which = which, .unpack = unpack};
  MPI_Aint lb, extent, true_lb, true_extent;
  c.type = make_layout(which, wanted, &c.count);
  MPI_Type_size(c.type, &c.bytes);
  c.bytes *= c.count;
  c.hand = make_by_hand(which, wanted);
  MPI_Type_get_extent(c.type, &lb, &extent);
  MPI_Type_get_true_extent(c.type, &true_lb, &true_extent);
  struct memory m = {0};
  const size_t span = (size_t)(extent * (c.count - 1) + true_extent);
  m.places = cold && which == COLUMN ? 8 * (1000 - c.count) / 64 : 1;
  m.spread_bytes = (span + 4096 + 64 * (size_t)m.places) & ~(size_t)63;
  m.packed_bytes = ((size_t)c.bytes + 4096) & ~(size_t)63;
  m.touched_bytes = which == COLUMN && 64 * (size_t)(c.bytes / c.count / 8) * (size_t)((c.count + 7) / 8) < span
                        ? 64 * (size_t)(c.bytes / c.count / 8) * (size_t)((c.count + 7) / 8)
                        : span;
  m.buffers = cold ? (long)(cold_bytes / (m.spread_bytes + m.packed_bytes)) + 1 : 1;
  m.spread = aligned_alloc(64, m.spread_bytes * (size_t)m.buffers);
  m.packed = aligned_alloc(64, m.packed_bytes * (size_t)m.buffers);
  m.copied = aligned_alloc(64, m.spread_bytes * (size_t)m.buffers);
  memset(m.spread, 1, m.spread_bytes * (size_t)m.buffers);
  memset(m.packed, 2, m.packed_bytes * (size_t)m.buffers);
  memset(m.copied, 3, m.spread_bytes * (size_t)m.buffers);
  for (int i = 0; i < 3; ++i) timed(OURS, &c, &m, 1);
  long repetitions = (long)(turn_ms * 1e6 / timed(HOST, &c, &m, 2));
  if (repetitions < 1) repetitions = 1;
  double *times[SIDES], *ratio = malloc(sizeof(double) * (size_t)turns);
  for (int side = 0; side < SIDES; ++side) times[side] = malloc(sizeof(double) * (size_t)turns);
  for (int i = 0; i < turns; ++i) {
    for (int j = 0; j < SIDES; ++j) {
      const int side = i % 2 ? SIDES - 1 - j : j;
      times[side][i] = timed(side, &c, &m, repetitions);
    }
    ratio[i] = times[HOST][i] / times[OURS][i];
  }
  for (int side = 0; side < SIDES; ++side) qsort(times[side], (size_t)turns, sizeof(double), by_value);
  qsort(ratio, (size_t)turns, sizeof *ratio, by_value);
  const int low = turns / 4;
  printf("%s %s %s %d %.1f %.1f %.3f %.3f %.3f %.1f %.1f %.1f\n", layout_names[which], unpack ? "unpack" : "pack",
         cold ? "cold" : "hot", c.bytes, times[OURS][low], times[HOST][low], ratio[turns / 2], ratio[low],
         ratio[3 * turns / 4], times[HAND][low], times[COPY][low], times[TOUCHED][low]);
  fflush(stdout);
  for (int side = 0; side < SIDES; ++side) free(times[side]);
  free(ratio);
  free(m.spread);
  free(m.packed);
  free(m.copied);
  free_by_hand(&c.hand);
  MPI_Type_free(&c.type);
}

/* Whether `word` is one of those of a list. */
static int is_wanted(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = list; (at = strstr(at, word)) != NULL; at += length)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0)) return 1;
  return 0;
}

enum { most_sizes = 64 };

/* The sizes of a list; of "all", or without one, the three of the tables. Returns how many. */
static int read_sizes(const char* list, long* sizes) {
  static const long standard[] = {8192, 524288, 16777216};
  int count = 0;
  if (!list || strcmp(list, "all") == 0) {
    memcpy(sizes, standard, sizeof standard);
    return (int)(sizeof standard / sizeof *standard);
  }
  for (char* end; *list && count < most_sizes; list = *end ? end + 1 : end) sizes[count++] = strtol(list, &end, 10);
  return count;
}

int main(int argc, char** argv) {
  static const int table[] = {VECTOR_2_3, VECTOR_1_2, VECTOR_4_8, STRUCTS, LISTS,  RANDOM,
                              COLUMN,     LINES_1,    LINES_2,    LINES_3, LINES_4};
  long sizes[most_sizes];
  MPI_Init(&argc, &argv);
  const int turns = atoi(argv[1]);
  const double turn_ms = atof(argv[2]);
  const int count = read_sizes(argc > 4 ? argv[4] : NULL, sizes);
  const int names_rows = argc > 3 && strcmp(argv[3], "all") != 0;
  for (size_t row = 0; row < sizeof table / sizeof *table; ++row)
    for (int i = 0; i < count; ++i)
      for (int form = 0; form < 4; ++form) {
        if (form / 2 == 1 && sizes[i] >= 16777216) continue; /* 16 MiB is cold enough by itself */
        if (names_rows ? !is_wanted(argv[3], layout_names[table[row]]) : table[row] >= LINES_1) continue;
        measure(table[row], sizes[i], form % 2, form / 2, turns, turn_ms);
      }
  MPI_Finalize();
  return 0;
}
