/* MPI_Reduce_local for every type and op that issue 2 names, against a loop written here; prints the number of
   comparisons, or the first difference. Lengths cross several vector widths, buffers are misaligned on purpose. */
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

static const int lengths[] = {1, 2, 3, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 257, 1000};
static long comparisons = 0;
static int failed = 0;

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

typedef void (*reference_fn)(const void* in, void* inout, size_t n, int op);
enum { SUM, PROD, MAX, MIN, BAND, BOR, BXOR };

template <class T>
static T combine(T a, T b, int op) {
  if constexpr (std::is_floating_point_v<T>) {
    if (op == SUM) return a + b;
    if (op == PROD) return a * b;
    if (a != a) return a; /* a NaN of either operand is the result */
    if (b != b) return b;
  } else {
    const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b); /* wraps without overflow */
    if (op == SUM) return static_cast<T>(x + y);
    if (op == PROD) return static_cast<T>(x * y);
    if (op == BAND) return static_cast<T>(x & y);
    if (op == BOR) return static_cast<T>(x | y);
    if (op == BXOR) return static_cast<T>(x ^ y);
  }
  return op == MAX ? (a > b ? a : b) : (a < b ? a : b);
}

template <class T>
static void reference(const void* in, void* inout, size_t n, int op) {
  for (size_t i = 0; i < n; ++i) {
    T a, b;
    memcpy(&a, static_cast<const char*>(in) + i * sizeof(T), sizeof(T));
    memcpy(&b, static_cast<char*>(inout) + i * sizeof(T), sizeof(T));
    const T r = combine(a, b, op);
    memcpy(static_cast<char*>(inout) + i * sizeof(T), &r, sizeof(T));
  }
}

static int same(const char* x, const char* y, size_t n, size_t size, int floating) {
  if (!floating) return memcmp(x, y, n * size) == 0;
  for (size_t i = 0; i < n; ++i) {
    double a, b;
    if (size == 4) {
      float p, q;
      memcpy(&p, x + 4 * i, 4), memcpy(&q, y + 4 * i, 4);
      a = p, b = q;
    } else {
      memcpy(&a, x + 8 * i, 8), memcpy(&b, y + 8 * i, 8);
    }
    if (std::isnan(a) && std::isnan(b)) continue; /* sign and payload of a NaN are not promised */
    if (memcmp(x + i * size, y + i * size, size) != 0) return 0;
  }
  return 1;
}

static void check(const char* name, MPI_Datatype type, size_t size, int floating, reference_fn expect) {
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR};
  enum { room = 1000 * 8 + 64 };
  static char in[room], inout[room], expected[room];
  uint64_t state = 88172645463325252u;
  for (int op = 0; op < (floating ? 4 : 7); ++op)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; ++l)
      for (size_t shift = 0; shift < 3; ++shift) {
        size_t n = (size_t)lengths[l], offset = shift * 5;
        for (size_t i = 0; i < room; ++i) in[i] = (char)next_random(&state), inout[i] = (char)next_random(&state);
        memcpy(expected, inout, room);
        expect(in + offset, expected + 2 * offset, n, op);
#ifdef LARGE
        int error = MPI_Reduce_local_c(in + offset, inout + 2 * offset, (MPI_Count)n, type, ops[op]);
#else
        int error = MPI_Reduce_local(in + offset, inout + 2 * offset, (int)n, type, ops[op]);
#endif
        ++comparisons;
        int outside =
            memcmp(inout, expected, 2 * offset) ||
            memcmp(inout + 2 * offset + n * size, expected + 2 * offset + n * size, room - 2 * offset - n * size);
        if (error || outside || !same(inout + 2 * offset, expected + 2 * offset, n, size, floating)) {
          if (!failed)
            printf("differs: %s op %d length %zu offset %zu error %d outside %d\n", name, op, n, offset, error,
                   outside);
          failed = 1;
        }
      }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check("MPI_SIGNED_CHAR", MPI_SIGNED_CHAR, 1, 0, reference<int8_t>);
  check("MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, 1, 0, reference<uint8_t>);
  check("MPI_SHORT", MPI_SHORT, 2, 0, reference<int16_t>);
  check("MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT, 2, 0, reference<uint16_t>);
  check("MPI_INT", MPI_INT, 4, 0, reference<int32_t>);
  check("MPI_UNSIGNED", MPI_UNSIGNED, 4, 0, reference<uint32_t>);
  check("MPI_LONG", MPI_LONG, 8, 0, reference<int64_t>);
  check("MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG, 8, 0, reference<uint64_t>);
  check("MPI_LONG_LONG", MPI_LONG_LONG, 8, 0, reference<int64_t>);
  check("MPI_UNSIGNED_LONG_LONG", MPI_UNSIGNED_LONG_LONG, 8, 0, reference<uint64_t>);
  check("MPI_INT8_T", MPI_INT8_T, 1, 0, reference<int8_t>);
  check("MPI_INT16_T", MPI_INT16_T, 2, 0, reference<int16_t>);
  check("MPI_INT32_T", MPI_INT32_T, 4, 0, reference<int32_t>);
  check("MPI_INT64_T", MPI_INT64_T, 8, 0, reference<int64_t>);
  check("MPI_UINT8_T", MPI_UINT8_T, 1, 0, reference<uint8_t>);
  check("MPI_UINT16_T", MPI_UINT16_T, 2, 0, reference<uint16_t>);
  check("MPI_UINT32_T", MPI_UINT32_T, 4, 0, reference<uint32_t>);
  check("MPI_UINT64_T", MPI_UINT64_T, 8, 0, reference<uint64_t>);
  check("MPI_FLOAT", MPI_FLOAT, 4, 1, reference<float>);
  check("MPI_DOUBLE", MPI_DOUBLE, 8, 1, reference<double>);
  printf("%s %ld\n", failed ? "failed" : "same", comparisons);
  MPI_Finalize();
  return failed;
}
