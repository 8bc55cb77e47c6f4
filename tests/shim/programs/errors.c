/* Error classes of bad arguments to every accelerated call, one line each; run with and without Millrace. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, inout[8] = {8, 7, 6, 5, 4, 3, 2, 1};
static float floats[8], more_floats[8];

/* Each call is made in a child: some hosts do not look at an argument and crash by themselves. The call is local. */
static void try_call(const char* what, const void* from, void* to, int count, MPI_Datatype type, MPI_Op op) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    int error_class = 0;
    MPI_Error_class(MPI_Reduce_local(from, to, count, type, op), &error_class);
    _exit(error_class);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status))
    printf("%s: %d\n", what, WEXITSTATUS(status));
  else
    printf("%s: signal %d\n", what, WTERMSIG(status));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair); /* derived, not committed */
  try_call("fine", in, inout, 8, MPI_INT, MPI_SUM);
  try_call("zero count", in, inout, 0, MPI_INT, MPI_SUM);
  try_call("zero count, null buffers", NULL, NULL, 0, MPI_INT, MPI_SUM);
  try_call("negative count", in, inout, -1, MPI_INT, MPI_SUM);
  try_call("null type", in, inout, 8, MPI_DATATYPE_NULL, MPI_SUM);
  try_call("null op", in, inout, 8, MPI_INT, MPI_OP_NULL);
  try_call("derived type", in, inout, 4, pair, MPI_SUM);
  try_call("BAND of float", floats, more_floats, 8, MPI_FLOAT, MPI_BAND);
  try_call("MAXLOC of int", in, inout, 8, MPI_INT, MPI_MAXLOC);
  try_call("null in", NULL, inout, 8, MPI_INT, MPI_SUM);
  try_call("null inout", in, NULL, 8, MPI_INT, MPI_SUM);
  try_call("in place", MPI_IN_PLACE, inout, 8, MPI_INT, MPI_SUM);
  try_call("same buffer", in, in, 8, MPI_INT, MPI_SUM);
  MPI_Type_free(&pair);
  MPI_Finalize();
  return 0;
}
