/* Every op made of tasks against the predefined one, in MPI_Reduce_local and MPI_Allreduce, inside a parallel region
   and outside, on numbers whose results are exact. Prints "same" and how many comparisons were made. */
#include <millrace/millrace_mpi_tasks.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 40001 };
static int in[most], expected[most], found[most];
static struct {
  double value;
  int index;
} pairs_in[most], pairs_expected[most], pairs_found[most];

static int compare(MPI_Op predefined, MPI_Op tasks, int is_pair) {
  int same = 1;
  void *from = in, *one = expected, *other = found;
  MPI_Datatype type = MPI_INT;
  if (is_pair) from = pairs_in, one = pairs_expected, other = pairs_found, type = MPI_DOUBLE_INT;
  for (int i = 0; i < most; ++i) {
    expected[i] = found[i] = i % 3;
    pairs_expected[i].value = pairs_found[i].value = i % 5;
    pairs_expected[i].index = pairs_found[i].index = most - i;
  }
  for (int collective = 0; collective < 2; ++collective) {
    if (collective) {
      MPI_Allreduce(from, one, most, type, predefined, MPI_COMM_WORLD);
      MPI_Allreduce(from, other, most, type, tasks, MPI_COMM_WORLD);
    } else {
      MPI_Reduce_local(from, one, most, type, predefined);
      MPI_Reduce_local(from, other, most, type, tasks);
    }
    same &= memcmp(expected, found, sizeof found) == 0;
    for (int i = 0; i < most; ++i)
      same &= pairs_expected[i].value == pairs_found[i].value && pairs_expected[i].index == pairs_found[i].index;
  }
  return same;
}

int main(int argc, char** argv) {
  int provided, rank, comparisons = 0, same = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < most; ++i) in[i] = (i + rank) % 4, pairs_in[i].value = (i + rank) % 7, pairs_in[i].index = i;
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  for (int k = 0; k < 12; ++k) {
    MPI_Op tasks = MPI_OP_NULL;
    same &= millrace_tasks_op_create(ops[k], &tasks) == MPI_SUCCESS;
    same &= compare(ops[k], tasks, k >= 10);
#pragma omp parallel
#pragma omp single
    same &= compare(ops[k], tasks, k >= 10);
    comparisons += 4;
    MPI_Op_free(&tasks);
  }
  MPI_Op unchanged = MPI_OP_NULL;
  same &= millrace_tasks_op_create(MPI_REPLACE, &unchanged) == MPI_ERR_OP && unchanged == MPI_OP_NULL;
  int all_same = 0;
  MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %d\n", all_same ? "same" : "different", comparisons);
  MPI_Finalize();
  return !all_same;
}
