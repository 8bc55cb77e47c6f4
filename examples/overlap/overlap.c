/* Computation by OpenMP tasks while MPI_Reduce runs, whose arithmetic is done by tasks of the same team.

     mpicc -fopenmp overlap.c -lmillrace -o overlap
     OMP_NUM_THREADS=4 OMP_MAX_TASK_PRIORITY=1 mpirun -n 2 ./overlap [MEBIBYTES] [TASKS] [TURNS]

   Measures three things in turns and prints their medians on rank 0: only the reduction, only the tasks, and both at a
   time. overlap = (reduction + tasks - both) / min(reduction, tasks): 1 if the shorter one costs nothing beside the
   longer one, 0 if both at a time take as long as one after the other. */
#include <millrace/millrace_mpi_tasks.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_turns = 99, steps = 200000 };

/* A recurrence that keeps a core busy and cannot be vectorised or left out: the final value of Collatz-like steps. */
static unsigned long compute(unsigned long seed) {
  unsigned long x = seed | 1;
  for (int step = 0; step < steps; ++step) x = x * 6364136223846793005ul + 1442695040888963407ul;
  return x;
}

typedef struct {
  const float* in;
  float* out;
  int count, tasks;
  unsigned long* results; /* one per task */
  MPI_Op op;
} work;

/* One turn; NULL for what is not to be done. */
static double time_s(const work* reduction, const work* tasks) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
#pragma omp parallel default(shared)
#pragma omp single
  {
    for (int i = 0; tasks && i < tasks->tasks; ++i) {
#pragma omp task default(shared) firstprivate(i)
      tasks->results[i] = compute((unsigned long)i);
    }
    if (reduction)
      MPI_Reduce(reduction->in, reduction->out, reduction->count, MPI_FLOAT, reduction->op, 0, MPI_COMM_WORLD);
  }
  double mine = MPI_Wtime() - start, slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return difference < 0 ? -1 : difference > 0;
}

static int results_are_right(const work* all, int ranks, int rank) {
  int wrong = 0;
  for (int i = 0; i < all->tasks; ++i) wrong += all->results[i] != compute((unsigned long)i);
  for (int i = 0; rank == 0 && i < all->count; ++i)
    wrong += all->out[i] != (float)(ranks * (i % 100) + ranks * (ranks - 1) / 2);
  int total = 0;
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return total == 0;
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  /* Only the thread inside `single` calls MPI, which may be any. */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (provided < MPI_THREAD_SERIALIZED) {
    if (rank == 0) fprintf(stderr, "overlap: this MPI does not let another thread than the main one call it\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int mebibytes = argc > 1 ? atoi(argv[1]) : 64, turns = argc > 3 ? atoi(argv[3]) : 11;
  work all = {.count = mebibytes * (1 << 18), .tasks = argc > 2 ? atoi(argv[2]) : 64};
  if (all.count < 1 || all.tasks < 1 || turns < 1 || turns > most_turns) MPI_Abort(MPI_COMM_WORLD, 2);
  float* in = malloc(sizeof(float) * (size_t)all.count);
  all.out = malloc(sizeof(float) * (size_t)all.count);
  all.results = malloc(sizeof *all.results * (size_t)all.tasks);
  if (!in || !all.out || !all.results) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < all.count; ++i) in[i] = (float)(i % 100 + rank), all.out[i] = 0;
  all.in = in;
  millrace_tasks_op_create(MPI_SUM, &all.op);

  double reduction[most_turns], tasks[most_turns], both[most_turns];
  time_s(&all, &all); /* pages, threads, connections */
  for (int turn = 0; turn < turns; ++turn) {
    reduction[turn] = time_s(&all, NULL);
    tasks[turn] = time_s(NULL, &all);
    both[turn] = time_s(&all, &all);
  }
  int right = results_are_right(&all, ranks, rank);
  qsort(reduction, (size_t)turns, sizeof(double), ascending);
  qsort(tasks, (size_t)turns, sizeof(double), ascending);
  qsort(both, (size_t)turns, sizeof(double), ascending);
  if (rank == 0) {
    double r = reduction[turns / 2] * 1e3, t = tasks[turns / 2] * 1e3, b = both[turns / 2] * 1e3;
    printf("reduction_ms %.3f tasks_ms %.3f both_ms %.3f overlap %.2f\n", r, t, b, (r + t - b) / (r < t ? r : t));
    printf("%s\n", right ? "right" : "WRONG");
  }
  MPI_Op_free(&all.op);
  free(in), free(all.out), free(all.results);
  MPI_Finalize();
  return right ? 0 : 1;
}
