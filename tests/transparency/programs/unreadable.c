/* A system that forbids ranks to read each other's memory only when they have begun to: what they send must come all
   the same. Prints "done". */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int rank, ranks, wrong;

static void calls(int n) {
  int *in = malloc(sizeof(int) * (size_t)(n * ranks)), *out = malloc(sizeof(int) * (size_t)(n * ranks));
  for (int i = 0; i < n * ranks; ++i) in[i] = rank * 1000 + i / n, out[i] = -1;
  MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < n * ranks; ++i) wrong |= out[i] != i / n * 1000 + rank;
  MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < n * ranks; ++i) wrong |= out[i] != i / n * 1000;
  MPI_Bcast(rank == 1 ? in : out, n, MPI_INT, 1, MPI_COMM_WORLD);
  for (int i = 0; i < n && rank != 1; ++i) wrong |= out[i] != 1000;
  free(in), free(out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 12; ++i) MPI_Barrier(MPI_COMM_WORLD);
  calls(40000);
  if (rank == 0) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      perror("seccomp");
  }
  for (int i = 0; i < 10; ++i) calls(40000 + i);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) puts(all ? "wrong" : "done");
  MPI_Finalize();
  return 0;
}
