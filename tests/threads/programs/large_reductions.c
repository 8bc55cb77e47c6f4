/* MPI_Reduce_local, which Millrace may take, against PMPI_Reduce_local, the host's own, on integers in floats and on
   pairs, whose bits are the same everywhere. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 100003 };
typedef struct {
  double value;
  int index;
} pair;
static float in[most], ours[most], hosts[most];
static pair pairs_in[most], pairs_ours[most], pairs_hosts[most];

int main(int argc, char** argv) {
  int rank, same = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < most; ++i) {
    in[i] = (float)(i % 1009 - 500), ours[i] = hosts[i] = (float)(i % 707);
    pairs_in[i].value = i % 7, pairs_in[i].index = i;
    pairs_ours[i].value = i % 5, pairs_ours[i].index = most - i;
    pairs_hosts[i] = pairs_ours[i];
  }
  const int lengths[] = {most, 99999, 65537, 64000, 1001, 500, 257};
  for (int k = 0; k < 7; ++k) {
    MPI_Reduce_local(in, ours, lengths[k], MPI_FLOAT, MPI_SUM);
    PMPI_Reduce_local(in, hosts, lengths[k], MPI_FLOAT, MPI_SUM);
    MPI_Reduce_local(pairs_in, pairs_ours, lengths[k], MPI_DOUBLE_INT, MPI_MAXLOC);
    PMPI_Reduce_local(pairs_in, pairs_hosts, lengths[k], MPI_DOUBLE_INT, MPI_MAXLOC);
    same &= memcmp(ours, hosts, sizeof ours) == 0;
    for (int i = 0; i < most; ++i)
      same &= pairs_ours[i].value == pairs_hosts[i].value && pairs_ours[i].index == pairs_hosts[i].index;
  }
  if (rank == 0) puts(same ? "same" : "different");
  MPI_Finalize();
  return !same;
}
