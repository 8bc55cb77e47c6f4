/* Collectives of buffers that may be a GPU's, MPI_X and PMPI_X in turns: calls WHERE, with "none" for the program's own
 * memory and no GPU's runtime in the process, "own" for the same beside an initialised CUDA, "device" for buffers of
 * the GPU. Prints on rank 0: call bytes turn ours_ns host_ns, for each call and turn. Ends with 3 where there is no
 * GPU. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Pointer;
enum { turns = 15, largest_bytes = 4 << 20, most_calls = 4000 };
static const double turn_s = 2e-3;

static int (*allocate)(Pointer*, size_t), (*clear)(Pointer, unsigned char, size_t);

static void give_up(const char* why) {
  fprintf(stderr, "%s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void* function(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (!found) give_up(name);
  return found;
}

static void load(void) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library) give_up(dlerror());
  int (*start)(unsigned), (*get)(int*, int), (*retain)(void**, int), (*use)(void*);
  *(void**)&start = function(library, "cuInit");
  *(void**)&get = function(library, "cuDeviceGet");
  *(void**)&retain = function(library, "cuDevicePrimaryCtxRetain");
  *(void**)&use = function(library, "cuCtxSetCurrent");
  *(void**)&allocate = function(library, "cuMemAlloc_v2");
  *(void**)&clear = function(library, "cuMemsetD8_v2");
  int first = 0;
  void* context = NULL;
  if (start(0) || get(&first, 0) || retain(&context, first) || use(context)) give_up("no device");
}

static void* buffer(int on_device) {
  Pointer there = 0;
  if (!on_device) return calloc(1, largest_bytes);
  if (allocate(&there, largest_bytes) || clear(there, 0, largest_bytes)) give_up("no memory of the device");
  return (void*)there;
}

static char *in, *out;

static void call(int kind, int is_ours, int bytes) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int count = bytes / (int)sizeof(float);
  if (kind == 0 && is_ours) MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, world);
  if (kind == 0 && !is_ours) PMPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, world);
  if (kind == 1 && is_ours) MPI_Bcast(in, count, MPI_FLOAT, 0, world);
  if (kind == 1 && !is_ours) PMPI_Bcast(in, count, MPI_FLOAT, 0, world);
  if (kind == 2 && is_ours) MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, world);
  if (kind == 2 && !is_ours) PMPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, world);
}

static double ns_of(int kind, int is_ours, int bytes, int calls) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double from = PMPI_Wtime();
  for (int i = 0; i < calls; ++i) call(kind, is_ours, bytes);
  return 1e9 * (PMPI_Wtime() - from) / calls;
}

static int calls_of(int kind, int bytes) {
  double ns = 0;
  for (int is_ours = 0; is_ours < 2; ++is_ours) {
    ns_of(kind, is_ours, bytes, 10);
    const double took = ns_of(kind, is_ours, bytes, 10);
    ns = took > ns ? took : ns;
  }
  int calls = (int)(turn_s * 1e9 / ns);
  calls = calls < 3 ? 3 : calls > most_calls ? most_calls : calls;
  PMPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return calls;
}

int main(int argc, char** argv) {
  int rank = 0;
  static const char* const names[] = {"Allreduce", "Bcast", "Reduce"};
  static const int sizes[] = {8, 512, 8192, 131072, 1 << 20, largest_bytes};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const where = argc > 1 ? argv[1] : "none";
  if (strcmp(where, "none") != 0) load();
  in = buffer(strcmp(where, "device") == 0);
  out = buffer(strcmp(where, "device") == 0);
  for (int kind = 0; kind < 3; ++kind) {
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); ++i) {
      for (int before = 0; before < 300; ++before) call(kind, 1, 8);
      const int calls = calls_of(kind, sizes[i]);
      for (int turn = 0; turn < turns; ++turn) {
        double ns[2];
        for (int second = 0; second < 2; ++second) {
          const int is_ours = (turn + second) % 2;
          ns[is_ours] = ns_of(kind, is_ours, sizes[i], calls);
        }
        if (rank == 0) printf("%s %d %d %.0f %.0f\n", names[kind], sizes[i], turn, ns[1], ns[0]);
      }
    }
  }
  MPI_Finalize();
  return 0;
}
