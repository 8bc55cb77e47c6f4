/* MPI_Pack and MPI_Unpack (Millrace, where it is loaded) beside PMPI_ (the host) and memcpy of the packed bytes, in
   turns within one process. hot: the same memory again and again. cold: a pool of buffers larger than 400 MB in
   rotation. One line: NAME pack|unpack hot|cold BYTES OURS_NS HOST_NS RATIO LOW HIGH MEMCPY_NS medians over the turns;
   RATIO is host / ours, with its quartiles. Arguments: turns, milliseconds of one turn. */
#include <stdio.h>
#include <string.h>

#include "layouts.h"

enum { OURS, HOST, COPY, SIDES };
static const size_t cold_bytes = (size_t)400 << 20;

static int by_value(const void* left, const void* right) {
  const double x = *(const double*)left, y = *(const double*)right;
  return (x > y) - (x < y);
}

struct memory {
  char *spread, *packed;
  size_t spread_bytes, packed_bytes;
  long buffers, next; /* in rotation */
};

static void once(int side, int unpack, char* spread, char* packed, int bytes, MPI_Datatype type, int count) {
  int position = 0;
  if (side == COPY)
    memcpy(packed, spread, (size_t)bytes);
  else if (side == OURS && !unpack)
    MPI_Pack(spread, count, type, packed, bytes, &position, MPI_COMM_WORLD);
  else if (side == OURS)
    MPI_Unpack(packed, bytes, &position, spread, count, type, MPI_COMM_WORLD);
  else if (!unpack)
    PMPI_Pack(spread, count, type, packed, bytes, &position, MPI_COMM_WORLD);
  else
    PMPI_Unpack(packed, bytes, &position, spread, count, type, MPI_COMM_WORLD);
}

static double timed(int side, int unpack, struct memory* m, int bytes, MPI_Datatype type, int count, long repetitions) {
  const double start = MPI_Wtime();
  for (long i = 0; i < repetitions; ++i) {
    m->next = m->next + 1 < m->buffers ? m->next + 1 : 0;
    once(side, unpack, m->spread + m->spread_bytes * (size_t)m->next, m->packed + m->packed_bytes * (size_t)m->next,
         bytes, type, count);
  }
  return (MPI_Wtime() - start) / (double)repetitions * 1e9;
}

static void measure(int which, long wanted, int unpack, int cold, int turns, double turn_ms) {
  int count, bytes;
  MPI_Aint lb, extent;
  MPI_Datatype type = make_layout(which, wanted, &count);
  MPI_Type_size(type, &bytes);
  bytes *= count;
  MPI_Type_get_extent(type, &lb, &extent);
  struct memory m = {0};
  m.spread_bytes = ((size_t)(extent * count) + 4096) & ~(size_t)63;
  m.packed_bytes = ((size_t)bytes + 4096) & ~(size_t)63;
  m.buffers = cold ? (long)(cold_bytes / (m.spread_bytes + m.packed_bytes)) + 1 : 1;
  m.spread = malloc(m.spread_bytes * (size_t)m.buffers);
  m.packed = malloc(m.packed_bytes * (size_t)m.buffers);
  memset(m.spread, 1, m.spread_bytes * (size_t)m.buffers);
  memset(m.packed, 2, m.packed_bytes * (size_t)m.buffers);
  for (int i = 0; i < 3; ++i) timed(OURS, unpack, &m, bytes, type, count, 1);
  long repetitions = (long)(turn_ms * 1e6 / timed(HOST, unpack, &m, bytes, type, count, 2));
  if (repetitions < 1) repetitions = 1;
  double* const times[SIDES] = {malloc(sizeof(double) * (size_t)turns), malloc(sizeof(double) * (size_t)turns),
                                malloc(sizeof(double) * (size_t)turns)};
  double* const ratio = malloc(sizeof(double) * (size_t)turns);
  for (int i = 0; i < turns; ++i) {
    for (int j = 0; j < SIDES; ++j) {
      const int side = i % 2 ? SIDES - 1 - j : j;
      times[side][i] = timed(side, unpack, &m, bytes, type, count, repetitions);
    }
    ratio[i] = times[HOST][i] / times[OURS][i];
  }
  for (int side = 0; side < SIDES; ++side) qsort(times[side], (size_t)turns, sizeof(double), by_value);
  qsort(ratio, (size_t)turns, sizeof *ratio, by_value);
  printf("%s %s %s %d %.1f %.1f %.3f %.3f %.3f %.1f\n", layout_names[which], unpack ? "unpack" : "pack",
         cold ? "cold" : "hot", bytes, times[OURS][turns / 2], times[HOST][turns / 2], ratio[turns / 2],
         ratio[turns / 4], ratio[3 * turns / 4], times[COPY][turns / 2]);
  fflush(stdout);
  for (int side = 0; side < SIDES; ++side) free(times[side]);
  free(ratio);
  free(m.spread);
  free(m.packed);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  static const long sizes[] = {8192, 524288, 16777216};
  MPI_Init(&argc, &argv);
  const int turns = atoi(argv[1]);
  const double turn_ms = atof(argv[2]);
  for (int which = 0; which < LAYOUTS; ++which)
    for (int i = 0; i < 3; ++i)
      for (int form = 0; form < 4; ++form) {
        if (which == COLUMN && i > 0) continue; /* gigabytes of matrix */
        if (form / 2 == 1 && i == 2) continue;  /* 16 MiB is cold enough by itself */
        measure(which, sizes[i], form % 2, form / 2, turns, turn_ms);
      }
  MPI_Finalize();
  return 0;
}
