/* Reductions for tests of collectives: data of each rank and their left folds, computed by loops of this file, none of
   them by MPI. The data of a rank repeats itself after a prime number of elements; a call takes a piece that begins
   elsewhere every time. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { period = 4093, most_reductions = 18 };

static uint64_t mix(uint64_t x) {
  x ^= x >> 33, x *= 0xff51afd7ed558ccdu, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}

typedef struct {
  int32_t m[4]; /* a 2 by 2 matrix modulo a prime: its product does not commute */
} matrix;
typedef struct {
  double value;
  int index;
} double_int;
typedef struct {
  int value, index;
} two_int;
typedef struct {
  char tag; /* and a gap */
  int32_t number;
} tagged;

typedef void fold_function(const char* in, char* inout);

struct reduction {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  size_t bytes;         /* of an element */
  fold_function* apply; /* inout = in op inout, one element */
  size_t gap_at, gap_bytes;
  char* own;    /* period elements of this rank */
  char* fold;   /* and the left fold of all, */
  char* upto;   /* of the ranks up to this one, */
  char* before; /* and of those before it */
};

static void sum_int(const char* in, char* inout) { *(uint32_t*)inout += *(const uint32_t*)in; }
static void bxor_byte(const char* in, char* inout) { *inout ^= *in; }
static void max_double(const char* in, char* inout) {
  if (*(const double*)in > *(double*)inout) *(double*)inout = *(const double*)in;
}
static void sum_double(const char* in, char* inout) { *(double*)inout = *(const double*)in + *(double*)inout; }
static void sum_float(const char* in, char* inout) { *(float*)inout = *(const float*)in + *(float*)inout; }
static void sum_long_double(const char* in, char* inout) {
  long double a, b;
  memcpy(&a, in, sizeof a), memcpy(&b, inout, sizeof b);
  a += b;
  memcpy(inout, &a, 10);
}
static void prod_complex(const char* in, char* inout) {
  const double *a = (const double*)in, b[2] = {((double*)inout)[0], ((double*)inout)[1]};
  ((double*)inout)[0] = a[0] * b[0] - a[1] * b[1], ((double*)inout)[1] = a[0] * b[1] + a[1] * b[0];
}
static void land_int(const char* in, char* inout) { *(int*)inout = *(const int*)in && *(int*)inout; }
static void lor_short(const char* in, char* inout) { *(short*)inout = *(const short*)in || *(short*)inout; }
static void lxor_long(const char* in, char* inout) { *(int64_t*)inout = !*(const int64_t*)in != !*(int64_t*)inout; }
static void min_uint16(const char* in, char* inout) {
  if (*(const uint16_t*)in < *(uint16_t*)inout) *(uint16_t*)inout = *(const uint16_t*)in;
}
static void maxloc(const char* in, char* inout) {
  const double_int* a = (const double_int*)in;
  double_int* b = (double_int*)inout;
  if (a->value > b->value || (a->value == b->value && a->index < b->index)) b->value = a->value, b->index = a->index;
}
static void minloc(const char* in, char* inout) {
  const two_int* a = (const two_int*)in;
  two_int* b = (two_int*)inout;
  if (a->value < b->value || (a->value == b->value && a->index < b->index)) *b = *a;
}
static void multiply_one(const char* in, char* inout) {
  const matrix* a = (const matrix*)in;
  matrix* b = (matrix*)inout;
  int64_t p[4];
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 2; ++c)
      p[2 * r + c] = ((int64_t)a->m[2 * r] * b->m[c] + (int64_t)a->m[2 * r + 1] * b->m[2 + c]) % 30011;
  for (int k = 0; k < 4; ++k) b->m[k] = (int32_t)p[k];
}
static void tagged_one(const char* in, char* inout) {
  const tagged* a = (const tagged*)in;
  tagged* b = (tagged*)inout;
  b->tag = (char)(a->tag ^ b->tag), b->number = (int32_t)((uint32_t)a->number + (uint32_t)b->number);
}
static void multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) multiply_one((char*)in + 16 * i, (char*)inout + 16 * i);
}
static void add_ints(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) sum_int((char*)in + 4 * i, (char*)inout + 4 * i);
}
static void combine_tagged(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) tagged_one((char*)in + 8 * i, (char*)inout + 8 * i);
}

static struct reduction reductions[most_reductions];
static int reduction_count;
static MPI_Datatype matrices, tagged_type;
static MPI_Op product, user_sum, tagging;

static void make_element(const struct reduction* r, int rank, uint64_t x, char* to, int exact) {
  if (r->apply == sum_double)
    *(double*)to = (double)(x % 20001) / (exact ? 1 : 7) - 1000;
  else if (r->apply == max_double)
    *(double*)to = (double)(x % 20001) / 7;
  else if (r->apply == sum_float)
    *(float*)to = (float)(x % 2001) / (exact ? 1 : 7) - 100;
  else if (r->apply == sum_long_double) {
    long double value = (long double)(x % 20001) / (exact ? 1 : 7) - 1000;
    memcpy(to, &value, 10);
  } else if (r->apply == prod_complex) {
    ((double*)to)[0] = exact ? (double)(1 + x % 2) : (double)(x % 1001) / 1000 + 0.4;
    ((double*)to)[1] = exact ? 0 : (double)(x >> 20 & 511) / 1000;
  } else if (r->apply == land_int || r->apply == lor_short || r->apply == lxor_long) {
    memset(to, 0, r->bytes);
    to[x >> 16 & (r->bytes - 1)] = (char)(x % (r->apply == lor_short ? 9 : 5) % 4);
  } else if (r->apply == maxloc)
    ((double_int*)to)->value = (double)(x % 5), ((double_int*)to)->index = rank;
  else if (r->apply == minloc)
    ((two_int*)to)->value = (int)(x % 3), ((two_int*)to)->index = (int)(x >> 40) + rank;
  else if (r->apply == multiply_one)
    for (int k = 0; k < 4; ++k) ((matrix*)to)->m[k] = (int32_t)(x >> 16 * k & 0x3fff);
  else if (r->apply == tagged_one)
    ((tagged*)to)->tag = (char)x, ((tagged*)to)->number = (int32_t)(x >> 32);
  else
    memcpy(to, &x, r->bytes);
}

/* `exact`: sums that no order of additions can change, for a host that chooses its own. */
static void make_reductions(MPI_Comm comm, int exact) {
  MPI_Type_contiguous(4, MPI_INT32_T, &matrices);
  MPI_Type_commit(&matrices);
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_CHAR, MPI_INT32_T}, &tagged_type);
  MPI_Type_commit(&tagged_type);
  MPI_Op_create(multiply, 0, &product);
  MPI_Op_create(add_ints, 1, &user_sum);
  MPI_Op_create(combine_tagged, 0, &tagging);
  struct reduction all[] = {
    {.name = "SUM of ints", .type = MPI_INT, .op = MPI_SUM, .bytes = 4, .apply = sum_int},
    {.name = "BXOR of bytes", .type = MPI_BYTE, .op = MPI_BXOR, .bytes = 1, .apply = bxor_byte},
    {.name = "MAX of doubles", .type = MPI_DOUBLE, .op = MPI_MAX, .bytes = 8, .apply = max_double},
    {.name = "SUM of doubles", .type = MPI_DOUBLE, .op = MPI_SUM, .bytes = 8, .apply = sum_double},
    {.name = "SUM of floats", .type = MPI_FLOAT, .op = MPI_SUM, .bytes = 4, .apply = sum_float},
    {.name = "PROD of complex", .type = MPI_C_DOUBLE_COMPLEX, .op = MPI_PROD, .bytes = 16, .apply = prod_complex},
    {.name = "LAND of ints", .type = MPI_INT, .op = MPI_LAND, .bytes = 4, .apply = land_int},
    {.name = "LOR of shorts", .type = MPI_SHORT, .op = MPI_LOR, .bytes = 2, .apply = lor_short},
    {.name = "LXOR of longs", .type = MPI_INT64_T, .op = MPI_LXOR, .bytes = 8, .apply = lxor_long},
    {.name = "MIN of uint16", .type = MPI_UINT16_T, .op = MPI_MIN, .bytes = 2, .apply = min_uint16},
    {.name = "MAXLOC",
     .type = MPI_DOUBLE_INT,
     .op = MPI_MAXLOC,
     .bytes = 16,
     .apply = maxloc,
     .gap_at = 12,
     .gap_bytes = 4},
    {.name = "MINLOC", .type = MPI_2INT, .op = MPI_MINLOC, .bytes = 8, .apply = minloc},
    {.name = "a user's sum", .type = MPI_UINT32_T, .op = user_sum, .bytes = 4, .apply = sum_int},
    {.name = "a product of matrices", .type = matrices, .op = product, .bytes = 16, .apply = multiply_one},
    {.name = "a user's op on a type with a gap",
     .type = tagged_type,
     .op = tagging,
     .bytes = 8,
     .apply = tagged_one,
     .gap_at = 1,
     .gap_bytes = 3},
#if defined(__x86_64__)
    {.name = "SUM of long doubles",
     .type = MPI_LONG_DOUBLE,
     .op = MPI_SUM,
     .bytes = 16,
     .apply = sum_long_double,
     .gap_at = 10,
     .gap_bytes = 6},
#endif
  };
  reduction_count = (int)(sizeof all / sizeof *all);
  memcpy(reductions, all, sizeof all);
  int rank, ranks;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < reduction_count; ++i) {
    struct reduction* r = &reductions[i];
    r->own = calloc(period, r->bytes), r->fold = calloc(period, r->bytes);
    r->upto = calloc(period, r->bytes), r->before = calloc(period, r->bytes);
    char* next = calloc(period, r->bytes);
    for (int from = 0; from < ranks; ++from) {
      for (size_t at = 0; at < period; ++at)
        make_element(r, from, mix((uint64_t)(i * 64 + from) * period + at), next + at * r->bytes, exact);
      if (from == rank) memcpy(r->own, next, period * r->bytes);
      for (size_t at = 0; from > 0 && at < period; ++at) r->apply(r->fold + at * r->bytes, next + at * r->bytes);
      memcpy(r->fold, next, period * r->bytes);
      if (from == rank) memcpy(r->upto, next, period * r->bytes);
      if (from + 1 == rank) memcpy(r->before, next, period * r->bytes);
    }
    free(next);
  }
}

static void free_reductions(void) {
  for (int i = 0; i < reduction_count; ++i) {
    struct reduction* r = &reductions[i];
    free(r->own), free(r->fold), free(r->upto), free(r->before);
  }
  MPI_Op_free(&product), MPI_Op_free(&user_sum), MPI_Op_free(&tagging);
  MPI_Type_free(&matrices), MPI_Type_free(&tagged_type);
}

/* `count` elements of `data` from place `number` on; gaps become `filler`. */
static void take_piece(const struct reduction* r, const char* data, size_t count, uint64_t number, char filler,
                       char* to) {
  size_t from = mix(number) % period;
  for (size_t at = 0; at < count; from = 0) {
    size_t some = count - at < period - from ? count - at : period - from;
    memcpy(to + at * r->bytes, data + from * r->bytes, some * r->bytes);
    at += some;
  }
  if (r->gap_bytes)
    for (size_t at = 0; at < count; ++at) memset(to + at * r->bytes + r->gap_at, filler, r->gap_bytes);
}

/* Whether `data` is that piece, without its first `begin` elements, and, if `gaps`, its gaps are `filler`. */
static int is_rest_of_piece(const struct reduction* r, const char* data, const char* fold, size_t begin, size_t count,
                            uint64_t number, int gaps, char filler) {
  size_t from = (mix(number) % period + begin) % period;
  if (!r->gap_bytes) {
    for (size_t at = 0; at < count; from = 0) {
      size_t some = count - at < period - from ? count - at : period - from;
      if (memcmp(data + at * r->bytes, fold + from * r->bytes, some * r->bytes) != 0) return 0;
      at += some;
    }
    return 1;
  }
  for (size_t at = 0; at < count; ++at) {
    const char *a = data + at * r->bytes, *b = fold + (from + at) % period * r->bytes;
    for (size_t k = 0; k < r->bytes; ++k) {
      int gap = k >= r->gap_at && k < r->gap_at + r->gap_bytes;
      if (gap ? gaps && a[k] != filler : a[k] != b[k]) return 0;
    }
  }
  return 1;
}

static int is_piece(const struct reduction* r, const char* data, const char* fold, size_t count, uint64_t number,
                    int gaps, char filler) {
  return is_rest_of_piece(r, data, fold, 0, count, number, gaps, filler);
}
