/* Calls with buffers in the memory of a real GPU: gpu_calls KIND WHAT, with 0 for the program's own memory, 1 of the
 * device, 2 managed, 3 pinned; WHAT is collectives, messages, all, or repeated: small collectives many times over, with
 * other buffers each time. Of each call every rank has some of both. Every result is compared with what it has to be;
 * rank 0 prints one line. Ends with 3 where there is no GPU. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Pointer;

enum { own, device, managed, pinned };
enum { memory_type = 2, of_device = 2 }; /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_MEMORYTYPE_DEVICE */

static int (*allocate_device)(Pointer*, size_t), (*allocate_managed)(Pointer*, size_t, unsigned);
static int (*allocate_pinned)(void**, size_t, unsigned), (*attribute)(void*, int, Pointer);
static int (*to_host)(void*, Pointer, size_t), (*to_device)(Pointer, const void*, size_t);
static int rank, ranks, kind, wrong, checked, block, root;
static unsigned turn;

static void give_up(int code, const char* why) {
  fprintf(stderr, "%s\n", why);
  MPI_Abort(MPI_COMM_WORLD, code);
}

static void* function(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (!found) give_up(3, name);
  return found;
}

static void load(void) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library) give_up(3, dlerror());
  int (*start)(unsigned), (*get)(int*, int), (*retain)(void**, int), (*use)(void*);
  *(void**)&start = function(library, "cuInit");
  *(void**)&get = function(library, "cuDeviceGet");
  *(void**)&retain = function(library, "cuDevicePrimaryCtxRetain");
  *(void**)&use = function(library, "cuCtxSetCurrent");
  *(void**)&allocate_device = function(library, "cuMemAlloc_v2");
  *(void**)&allocate_managed = function(library, "cuMemAllocManaged");
  *(void**)&allocate_pinned = function(library, "cuMemHostAlloc");
  *(void**)&attribute = function(library, "cuPointerGetAttribute");
  *(void**)&to_host = function(library, "cuMemcpyDtoH_v2");
  *(void**)&to_device = function(library, "cuMemcpyHtoD_v2");
  int first = 0;
  void* context = NULL;
  if (start(0) || get(&first, 0) || retain(&context, first) || use(context)) give_up(3, "no device");
}

static void* buffer(size_t bytes) {
  Pointer there = 0;
  void* here = NULL;
  int failed = 0;
  const int mine = kind == own || ++turn % 2 != (unsigned)rank % 2;
  if (mine)
    here = malloc(bytes);
  else if (kind == device)
    failed = allocate_device(&there, bytes);
  else if (kind == managed)
    failed = allocate_managed(&there, bytes, 1);
  else
    failed = allocate_pinned(&here, bytes, 0);
  if (failed || (!here && !there)) give_up(4, "no memory");
  return here ? here : (void*)there;
}

static int is_there(const void* address) {
  int type = 0;
  return kind != own && attribute(&type, memory_type, (Pointer)address) == 0 && type == of_device;
}

static void put(void* to, const void* from, size_t bytes) {
  if (!is_there(to))
    memcpy(to, from, bytes);
  else if (to_device((Pointer)to, from, bytes))
    give_up(5, "no copy to the device");
}

static void get(void* to, const void* from, size_t bytes) {
  if (!is_there(from))
    memcpy(to, from, bytes);
  else if (to_host(to, (Pointer)from, bytes))
    give_up(5, "no copy from the device");
}

static int value(int of_rank, int i) { return (i * 7 + of_rank * 13) % 101; }

static int* made(int n, int is_blank) {
  int *const there = buffer((size_t)n * sizeof(int)), *const values = malloc((size_t)n * sizeof(int));
  for (int i = 0; i < n; ++i) values[i] = is_blank ? -1 : value(rank, i);
  put(there, values, (size_t)n * sizeof(int));
  free(values);
  return there;
}
static int* filled(int n) { return made(n, 0); }
static int* blank(int n) { return made(n, 1); }

static void check(const char* what, const int* result, int n, int (*expected)(int)) {
  int* const values = malloc((size_t)n * sizeof(int));
  get(values, result, (size_t)n * sizeof(int));
  ++checked;
  for (int i = 0; i < n; ++i) {
    if (values[i] == expected(i)) continue;
    fprintf(stderr, "rank %d, %s of %d: [%d] is %d, not %d\n", rank, what, n, i, values[i], expected(i));
    ++wrong;
    break;
  }
  free(values);
}

static int sum_up_to(int last, int i) {
  int sum = 0;
  for (int other = 0; other <= last; ++other) sum += value(other, i);
  return sum;
}
static int sum(int i) { return sum_up_to(ranks - 1, i); }
static int scan(int i) { return sum_up_to(rank, i); }
static int sum_at_root(int i) { return rank == root ? sum(i) : -1; }
static int largest(int i) {
  int most = 0;
  for (int other = 0; other < ranks; ++other) most = value(other, i) > most ? value(other, i) : most;
  return most;
}
static int of_root(int i) { return value(root, i); }
static int of_all(int i) { return value(i / block, i % block); }
static int of_all_at_root(int i) { return rank == root ? of_all(i) : -1; }
static int block_of_sum(int i) { return sum(rank * block + i); }
static int block_of_root(int i) { return value(root, rank * block + i); }
static int block_of_each(int i) { return value(i / block, rank * block + i % block); }
static int before(void) { return (rank + ranks - 1) % ranks; }
static int of_the_one_before(int i) { return value(before(), i); }
static int in_rows(int i) { return i % 4 < 3 ? value(before(), i / 4 * 3 + i % 4) : -1; }
static int packed(int i) { return value(rank, i / 3 * 4 + i % 3); }
static int twice(int i) { return 2 * value(rank, i); }

static void collectives(int n) {
  const MPI_Comm world = MPI_COMM_WORLD;
  block = n;
  root = ranks - 1;
  int *in = filled(n), *out = blank(n);
  MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, world);
  check("allreduce", out, n, sum);
  MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_INT, MPI_MAX, world);
  check("allreduce in place", in, n, largest);
  in = filled(n), out = blank(n);
  MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, world);
  check("reduce", out, n, sum_at_root);
  in = filled(n);
  MPI_Bcast(in, n, MPI_INT, root, world);
  check("bcast", in, n, of_root);
  in = filled(n), out = blank(n);
  MPI_Scan(in, out, n, MPI_INT, MPI_SUM, world);
  check("scan", out, n, scan);
  in = filled(n), out = blank(n * ranks);
  MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, world);
  check("allgather", out, n * ranks, of_all);
  in = filled(n), out = blank(n * ranks);
  MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, world);
  check("gather", out, n * ranks, of_all_at_root);
  in = filled(n * ranks), out = blank(n);
  MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, world);
  check("scatter", out, n, block_of_root);
  in = filled(n * ranks), out = blank(n);
  MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, world);
  check("reduce_scatter_block", out, n, block_of_sum);
  in = filled(n * ranks), out = blank(n * ranks);
  MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, world);
  check("alltoall", out, n * ranks, block_of_each);
  in = filled(n), out = blank(n);
  MPI_Request request;
  MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("iallreduce", out, n, sum);
}

static void messages(int n) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int after = (rank + 1) % ranks;
  MPI_Request requests[2];
  int *in = filled(n), *out = blank(n);
  MPI_Irecv(out, n, MPI_INT, before(), 1, world, requests);
  MPI_Isend(in, n, MPI_INT, after, 1, world, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check("message", out, n, of_the_one_before);
  MPI_Datatype rows;
  MPI_Type_vector(n, 3, 4, MPI_INT, &rows);
  MPI_Type_commit(&rows);
  in = filled(3 * n), out = blank(4 * n);
  MPI_Irecv(out, 1, rows, before(), 2, world, requests);
  MPI_Isend(in, 3 * n, MPI_INT, after, 2, world, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check("rows", out, 4 * n - 1, in_rows);
  int position = 0;
  in = filled(4 * n), out = blank(3 * n);
  MPI_Pack(in, 1, rows, out, 3 * n * (int)sizeof(int), &position, world);
  check("pack", out, 3 * n, packed);
  MPI_Type_free(&rows);
  in = filled(n), out = filled(n);
  MPI_Reduce_local(in, out, n, MPI_INT, MPI_SUM);
  check("reduce local", out, n, twice);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  kind = argc > 1 ? atoi(argv[1]) : device;
  const char* const what = argc > 2 ? argv[2] : "all";
  if (kind != own) load();
  const int sizes[] = {2, 100, 5000, 300000}, is_repeated = strcmp(what, "repeated") == 0;
  for (int i = 0; is_repeated && i < 80; ++i) collectives(sizes[i % 2]);
  for (int i = 0; !is_repeated && i < 4; ++i) {
    if (strcmp(what, "messages") != 0) collectives(sizes[i]);
    if (strcmp(what, "collectives") != 0) messages(sizes[i]);
  }
  int counts[2] = {checked, wrong}, all[2];
  MPI_Allreduce(counts, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d checks, %d wrong\n", all[0], all[1]);
  MPI_Finalize();
  return wrong != 0;
}
