/* The layouts of the benchmarks: each of about `bytes` packed bytes. */
#include <mpi.h>
#include <stdlib.h>

enum { VECTOR_1_2, VECTOR_2_3, VECTOR_4_8, STRUCTS, COLUMN, LISTS, LAYOUTS };
static const char* const layout_names[] = {"vector_1_2_int",          "vector_2_3_int", "vector_4_8_double",
                                           "struct_int_double_3char", "column_double",  "hindexed_1_to_25_double"};

static MPI_Datatype make_layout(int which, long bytes, int* count) {
  MPI_Datatype type;
  *count = 1;
  if (which == VECTOR_1_2) {
    MPI_Type_vector((int)(bytes / 4), 1, 2, MPI_INT, &type);
  } else if (which == VECTOR_2_3) {
    MPI_Type_vector((int)(bytes / 8), 2, 3, MPI_INT, &type);
  } else if (which == VECTOR_4_8) {
    MPI_Type_vector((int)(bytes / 32), 4, 8, MPI_DOUBLE, &type);
  } else if (which == STRUCTS) {
    const int lengths[] = {1, 1, 3};
    const MPI_Aint at[] = {0, 8, 16};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype one;
    MPI_Type_create_struct(3, lengths, at, types, &one);
    MPI_Type_create_resized(one, 0, 24, &type);
    MPI_Type_free(&one);
    *count = (int)(bytes / 15);
  } else if (which == COLUMN) { /* of a matrix with 1000 columns: as many rows as needed */
    MPI_Type_vector((int)(bytes / 8), 1, 1000, MPI_DOUBLE, &type);
  } else {
    const int n = (int)(bytes / 104 > 0 ? bytes / 104 : 1);
    int* const lengths = (int*)malloc(sizeof(int) * (size_t)n);
    MPI_Aint* const at = (MPI_Aint*)malloc(sizeof(MPI_Aint) * (size_t)n);
    unsigned state = 12345;
    MPI_Aint place = 0;
    for (int i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      lengths[i] = 1 + (int)(state >> 24) % 25;
      at[i] = place;
      place += 8 * (lengths[i] + 1 + (MPI_Aint)(state >> 16) % 8);
    }
    MPI_Type_create_hindexed(n, lengths, at, MPI_DOUBLE, &type);
    free(lengths);
    free(at);
  }
  MPI_Type_commit(&type);
  return type;
}
