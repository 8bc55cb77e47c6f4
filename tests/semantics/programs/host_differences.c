// Reductions on which hosts are known to disagree with docs/semantics.md or with themselves. One line per case: its
// name and the different results in one array, in the order in which they first appear, or `refused`, or
// `no_such_type`. Every element holds the same operands, so that a correct line has one result.
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Sixteen of the widest vectors of bytes and a tail that fills none, so that both parts of a host's loop are seen.
enum { elements = 16 * 64 + 7, kinds = 4, element_bytes_max = 16 };

static _Alignas(64) unsigned char in[elements * element_bytes_max], inout[elements * element_bytes_max];

typedef void (*Print)(const void* element, char* text, size_t text_bytes);

static void print_i8(const void* e, char* text, size_t n) { snprintf(text, n, "%d", *(const int8_t*)e); }
static void print_u8(const void* e, char* text, size_t n) { snprintf(text, n, "%u", *(const uint8_t*)e); }
static void print_i16(const void* e, char* text, size_t n) { snprintf(text, n, "%d", *(const int16_t*)e); }
static void print_u16(const void* e, char* text, size_t n) { snprintf(text, n, "%u", *(const uint16_t*)e); }
static void print_u32(const void* e, char* text, size_t n) { snprintf(text, n, "%u", *(const uint32_t*)e); }
static void print_i64(const void* e, char* text, size_t n) { snprintf(text, n, "%lld", *(const long long*)e); }
static void print_u64(const void* e, char* text, size_t n) { snprintf(text, n, "%llu", *(const unsigned long long*)e); }

static void print_value(double value, char* text, size_t n) {
  if (isnan(value))
    snprintf(text, n, "nan");  // whatever its sign
  else
    snprintf(text, n, "%g", value);
}
static void print_f32(const void* e, char* text, size_t n) { print_value(*(const float*)e, text, n); }
static void print_f64(const void* e, char* text, size_t n) { print_value(*(const double*)e, text, n); }

// The bits, so that the print needs no libquadmath: sign, exponent and 48 bits of the fraction, then the other 64.
static void print_f128(const void* e, char* text, size_t n) {
  uint64_t words[2];
  memcpy(words, e, sizeof words);
  snprintf(text, n, "%016llx%016llx", (unsigned long long)words[1], (unsigned long long)words[0]);
}

static void show(const char* name, MPI_Datatype type, MPI_Op op, const void* a, const void* b, size_t bytes,
                 Print print) {
  char seen[kinds][64];
  int seen_count = 0;
  if (type == MPI_DATATYPE_NULL) {
    printf("%s no_such_type\n", name);
    return;
  }
  for (size_t i = 0; i < elements; ++i) {
    memcpy(in + i * bytes, a, bytes);
    memcpy(inout + i * bytes, b, bytes);
  }
  const int code = MPI_Reduce_local(in, inout, elements, type, op);
  if (code != MPI_SUCCESS) {
    printf("%s refused\n", name);
    return;
  }
  printf("%s", name);
  for (size_t i = 0; i < elements && seen_count < kinds; ++i) {
    char text[64];
    int known = 0;
    print(inout + i * bytes, text, sizeof text);
    for (int j = 0; j < seen_count; ++j) known |= strcmp(seen[j], text) == 0;
    if (known) continue;
    memcpy(seen[seen_count++], text, sizeof text);
    printf(" %s", text);
  }
  printf("\n");
}

static void overflowing_sums(void) {
  const int8_t i8 = 100;
  const uint8_t u8 = 150;
  const int16_t i16 = 30000;
  const uint16_t u16 = 40000;
  show("sum_i8", MPI_INT8_T, MPI_SUM, &i8, &i8, sizeof i8, print_i8);
  show("sum_u8", MPI_UINT8_T, MPI_SUM, &u8, &u8, sizeof u8, print_u8);
  show("sum_i16", MPI_INT16_T, MPI_SUM, &i16, &i16, sizeof i16, print_i16);
  show("sum_u16", MPI_UINT16_T, MPI_SUM, &u16, &u16, sizeof u16, print_u16);
}

static void numbers_and_nans(void) {
  const float f32 = 1, nan32 = NAN;
  const double f64 = 1, nan64 = NAN;
  show("max_f32_nan_left", MPI_FLOAT, MPI_MAX, &nan32, &f32, sizeof f32, print_f32);
  show("max_f32_nan_right", MPI_FLOAT, MPI_MAX, &f32, &nan32, sizeof f32, print_f32);
  show("min_f32_nan_left", MPI_FLOAT, MPI_MIN, &nan32, &f32, sizeof f32, print_f32);
  show("min_f32_nan_right", MPI_FLOAT, MPI_MIN, &f32, &nan32, sizeof f32, print_f32);
  show("max_f64_nan_left", MPI_DOUBLE, MPI_MAX, &nan64, &f64, sizeof f64, print_f64);
  show("max_f64_nan_right", MPI_DOUBLE, MPI_MAX, &f64, &nan64, sizeof f64, print_f64);
  show("min_f64_nan_left", MPI_DOUBLE, MPI_MIN, &nan64, &f64, sizeof f64, print_f64);
  show("min_f64_nan_right", MPI_DOUBLE, MPI_MIN, &f64, &nan64, sizeof f64, print_f64);
}

// The operands change places when they are compared with the wrong signedness: all bits set (-1, or the greatest)
// and 1.
static void signs_of_integers(void) {
  const uint64_t all_bits = ~0ull, one = 1;  // the first bytes of both serve the narrower types: little-endian
  const struct {
    const char* name;
    MPI_Datatype type;
    size_t bytes;
    Print print;
  } integers[] = {{"long", MPI_LONG, 8, print_i64},
                  {"aint", MPI_AINT, 8, print_i64},
                  {"offset", MPI_OFFSET, 8, print_i64},
                  {"count", MPI_COUNT, 8, print_i64},
                  {"unsigned_char", MPI_UNSIGNED_CHAR, 1, print_u8},
                  {"unsigned_short", MPI_UNSIGNED_SHORT, 2, print_u16},
                  {"unsigned", MPI_UNSIGNED, 4, print_u32},
                  {"unsigned_long", MPI_UNSIGNED_LONG, 8, print_u64},
                  {"unsigned_long_long", MPI_UNSIGNED_LONG_LONG, 8, print_u64},
                  {"uint8", MPI_UINT8_T, 1, print_u8},
                  {"uint16", MPI_UINT16_T, 2, print_u16},
                  {"uint32", MPI_UINT32_T, 4, print_u32},
                  {"uint64", MPI_UINT64_T, 8, print_u64}};
  for (size_t i = 0; i < sizeof integers / sizeof *integers; ++i) {
    char name[64];
    snprintf(name, sizeof name, "max_%s", integers[i].name);
    show(name, integers[i].type, MPI_MAX, &all_bits, &one, integers[i].bytes, integers[i].print);
    snprintf(name, sizeof name, "min_%s", integers[i].name);
    show(name, integers[i].type, MPI_MIN, &all_bits, &one, integers[i].bytes, integers[i].print);
  }
}

static void quadruple_precision(void) {
  const _Float128 one = 1, small = (_Float128)0x1p-100;  // their sum is exact in 113 bits, and in no shorter format
  show("sum_real16", MPI_REAL16, MPI_SUM, &one, &small, sizeof one, print_f128);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  overflowing_sums();
  numbers_and_nans();
  signs_of_integers();
  quadruple_precision();
  MPI_Finalize();
  return 0;
}
