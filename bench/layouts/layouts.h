/* The layouts of the benchmarks: each of about `bytes` packed bytes. */
#pragma once
#include <mpi.h>
#include <stdlib.h>

enum { VECTOR_1_2, VECTOR_2_3, VECTOR_4_8, VECTOR_16_32, VECTOR_64_128, STRUCTS, COLUMN, LISTS, RANDOM, LAYOUTS };
/* Measured only where they are named: an int in each cache line of 64 bytes, or in each second, third, fourth one. */
enum { LINES_1 = LAYOUTS, LINES_2, LINES_3, LINES_4 };
static const char* const layout_names[] = {"vector_1_2_int",      "vector_2_3_int",          "vector_4_8_double",
                                           "vector_16_32_double", "vector_64_128_double",    "struct_int_double_3char",
                                           "column_double",       "hindexed_1_to_25_double", "random_double",
                                           "vector_1_16_int",     "vector_1_32_int",         "vector_1_48_int",
                                           "vector_1_64_int"};

/* Of LINES: how many bytes from one int to the next. */
static inline long line_stride_bytes(int which) { return which < LINES_1 ? 0 : 64L * (which - LINES_1 + 1); }

/* `bytes` of doubles in random order out of twice as many: where they lie. */
static inline long make_random_places(long bytes, long** places_bytes) {
  const long n = bytes / 8, places = 2 * n;
  long* const at = (long*)malloc(sizeof(long) * (size_t)places);
  unsigned long long state = 88172645463325252ull;
  for (long i = 0; i < places; ++i) at[i] = 8 * i;
  for (long i = 0; i < n; ++i) { /* Fisher and Yates, the first half of it */
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const long other = i + (long)(state % (unsigned long long)(places - i));
    const long mine = at[i];
    at[i] = at[other];
    at[other] = mine;
  }
  *places_bytes = at;
  return n;
}

/* Blocks of 1 to 25 doubles with gaps of 1 to 8. */
static inline long make_list(long bytes, int** lengths, long** at) {
  const long n = bytes / 104 > 0 ? bytes / 104 : 1;
  unsigned state = 12345;
  long place = 0;
  *lengths = (int*)malloc(sizeof(int) * (size_t)n);
  *at = (long*)malloc(sizeof(long) * (size_t)n);
  for (long i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    (*lengths)[i] = 1 + (int)(state >> 24) % 25;
    (*at)[i] = place;
    place += 8 * ((*lengths)[i] + 1 + (long)(state >> 16) % 8);
  }
  return n;
}

static inline MPI_Datatype make_layout(int which, long bytes, int* count) {
  MPI_Datatype type;
  *count = 1;
  if (which == VECTOR_1_2) {
    MPI_Type_vector((int)(bytes / 4), 1, 2, MPI_INT, &type);
  } else if (which == VECTOR_2_3) {
    MPI_Type_vector((int)(bytes / 8), 2, 3, MPI_INT, &type);
  } else if (which == VECTOR_4_8) {
    MPI_Type_vector((int)(bytes / 32), 4, 8, MPI_DOUBLE, &type);
  } else if (which == VECTOR_16_32) {
    MPI_Type_vector((int)(bytes / 128), 16, 32, MPI_DOUBLE, &type);
  } else if (which == VECTOR_64_128) {
    MPI_Type_vector((int)(bytes / 512), 64, 128, MPI_DOUBLE, &type);
  } else if (line_stride_bytes(which)) {
    MPI_Type_vector((int)(bytes / 4), 1, (int)(line_stride_bytes(which) / 4), MPI_INT, &type);
  } else if (which == RANDOM) {
    long* at;
    const int n = (int)make_random_places(bytes, &at);
    MPI_Type_create_hindexed_block(n, 1, (const MPI_Aint*)at, MPI_DOUBLE, &type);
    free(at);
  } else if (which == STRUCTS) {
    const int lengths[] = {1, 1, 3};
    const MPI_Aint at[] = {0, 8, 16};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype one;
    MPI_Type_create_struct(3, lengths, at, types, &one);
    MPI_Type_create_resized(one, 0, 24, &type);
    MPI_Type_free(&one);
    *count = (int)(bytes / 15);
  } else if (which == COLUMN) { /* of a matrix of 1000 by 1000: one column, or several side by side */
    const int rows = bytes < 8000 ? (int)(bytes / 8) : 1000;
    MPI_Datatype one;
    MPI_Type_vector(rows, 1, 1000, MPI_DOUBLE, &one);
    MPI_Type_create_resized(one, 0, 8, &type);
    MPI_Type_free(&one);
    *count = bytes / 8 / rows < 1000 ? (int)(bytes / 8 / rows) : 1000;
  } else {
    int* lengths;
    long* at;
    const int n = (int)make_list(bytes, &lengths, &at);
    MPI_Type_create_hindexed(n, lengths, (const MPI_Aint*)at, MPI_DOUBLE, &type);
    free(lengths);
    free(at);
  }
  MPI_Type_commit(&type);
  return type;
}
