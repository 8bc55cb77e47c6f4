/* Something goes wrong in the middle of collectives over nodes. Arguments: what, the number of the call in which it
   happens, the rank that it happens to, how many calls there are, and "return" if errors are to be returned.

     none                nothing
     exit0, exit3        the rank ends without MPI_Finalize
     abort               it calls MPI_Abort
     kill                it is killed; kill_node: so are all ranks of its node
     alarm               it dies of a signal a millisecond later, where the call takes so long
     cut                 it takes down the interface eth0 of its node
     invalid             it gives a negative count, in this call only
     count, root, kind   it and all ranks of its node give another count, or root, or make another call, in this one
     late                it comes half a second late

   Every result is compared with what the rank knows that it must be. "wrong" is said of data that are not, "error" of a
   call that returned one, which is the rank's last; "done" by rank 0 if all was right. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_doubles = 1 << 18 };
static double in[most_doubles], out[most_doubles];
static int rank, ranks, wrong;

static int sizes[] = {1, 100, 3000, 20000, 1 << 17};

static void say(int call, const char* what) {
  char line[100];
  const int length = snprintf(line, sizeof line, "%s: rank %d, call %d\n", what, rank, call);
  if (write(1, line, (size_t)length) != length) _exit(9);
}

static void expect(int call, const double* got, int count, double wanted) {
  for (int i = 0; i < count; ++i)
    if (got[i] != wanted) {
      if (!wrong++) say(call, "wrong");
      return;
    }
}

static int one_call(int number, int count, int root, int other_kind, int negative) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int kind = (number + other_kind) % 4;
  const double sum = (double)ranks * (ranks + 1) / 2 + (double)ranks * number;
  int error = 0;
  for (int i = 0; i < count; ++i) in[i] = rank + 1 + number;
  memset(out, 0, sizeof(double) * (size_t)count);
  if (kind == 0) {
    error = MPI_Allreduce(in, out, negative ? -1 : count, MPI_DOUBLE, MPI_SUM, world);
    if (!error) expect(number, out, count, sum);
  } else if (kind == 1) {
    if (rank == root) memcpy(out, in, sizeof(double) * (size_t)count);
    error = MPI_Bcast(out, negative ? -1 : count, MPI_DOUBLE, root, world);
    if (!error) expect(number, out, count, root + 1 + number);
  } else if (kind == 2) {
    error = MPI_Reduce(in, out, negative ? -1 : count, MPI_DOUBLE, MPI_SUM, root, world);
    if (!error && rank == root) expect(number, out, count, sum);
  } else {
    error = negative ? MPI_Allreduce(in, out, -1, MPI_DOUBLE, MPI_SUM, world) : MPI_Barrier(world);
  }
  return error;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const what = argc > 1 ? argv[1] : "none";
  const int at = argc > 2 ? atoi(argv[2]) : 100, whose = argc > 3 ? atoi(argv[3]) : 0;
  const int calls = argc > 4 ? atoi(argv[4]) : 200;
  if (argc > 5) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int is_near = rank == whose, near = 0;
  MPI_Allreduce(&is_near, &near, 1, MPI_INT, MPI_MAX, node);
  MPI_Comm_free(&node);
  for (int number = 0; number < calls; ++number) {
    const int now = number == at, it = now && rank == whose, its_node = now && near;
    int count = sizes[(size_t)(number / 4) % (sizeof sizes / sizeof *sizes)], root = number / 16 % ranks,
        other_kind = 0;
    if (it && !strcmp(what, "exit0")) exit(0);
    if (it && !strcmp(what, "exit3")) exit(3);
    if (it && !strcmp(what, "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
    if ((it && !strcmp(what, "kill")) || (its_node && !strcmp(what, "kill_node"))) raise(SIGKILL);
    if (it && !strcmp(what, "alarm")) ualarm(1000, 0);
    if (it && !strcmp(what, "cut") && system("ip link set eth0 down") != 0) say(number, "no cut");
    if (it && !strcmp(what, "late")) usleep(500000);
    if (its_node && !strcmp(what, "count")) count *= 2;
    if (its_node && !strcmp(what, "root")) root = (root + ranks / 2) % ranks;
    if (its_node && !strcmp(what, "kind")) other_kind = 1;
    if (one_call(number, count, root, other_kind, it && !strcmp(what, "invalid")) != 0) {
      say(number, "error");
      if (strcmp(what, "invalid") != 0 || !it) break;
    }
  }
  if (rank == 0 && !wrong) printf("done\n");
  MPI_Finalize();
  return 0;
}
