/* A tool that counts calls and hands them to PMPI; in MPI_Finalize each rank prints what it saw. It also calls MPI for
   itself: about the communicator, and, on odd ranks only, collectives on MPI_COMM_SELF that are none of the program's.
   With NEXT it goes on by RTLD_NEXT instead of PMPI, with TABLE by pointers that it keeps in memory that cannot be
   written later. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#if defined(NEXT)
#include <dlfcn.h>
#endif

#define CALLS(call)                                                                                                   \
  call(Allreduce, (const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f)) call(    \
      Reduce, (const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g),                           \
      (a, b, c, d, e, f, g)) call(Bcast, (void* a, int b, MPI_Datatype c, int d, MPI_Comm e),                         \
                                  (a, b, c, d, e)) call(Barrier, (MPI_Comm a), (a))                                   \
      call(Scan, (const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f)) call(     \
          Allgather, (const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g),              \
          (a, b, c, d, e, f, g))                                                                                      \
          call(Alltoall, (const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g),          \
               (a, b, c, d, e, f, g))                                                                                 \
              call(Iallreduce, (const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f, MPI_Request* g), \
                   (a, b, c, d, e, f, g))                                                                             \
                  call(Isend, (const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g),       \
                       (a, b, c, d, e, f, g))                                                                         \
                      call(Irecv, (void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g),         \
                           (a, b, c, d, e, f, g)) call(Wait, (MPI_Request * a, MPI_Status * b), (a, b))               \
                          call(Waitall, (int a, MPI_Request b[], MPI_Status c[]), (a, b, c)) call(                    \
                              Waitany, (int a, MPI_Request b[], int* c, MPI_Status* d), (a, b, c, d))                 \
                              call(Iprobe, (int a, int b, MPI_Comm c, int* d, MPI_Status* e), (a, b, c, d, e)) call(  \
                                  Pack, (const void* a, int b, MPI_Datatype c, void* d, int e, int* f, MPI_Comm g),   \
                                  (a, b, c, d, e, f, g))                                                              \
                                  call(Reduce_local, (const void* a, void* b, int c, MPI_Datatype d, MPI_Op e),       \
                                       (a, b, c, d, e)) call(Comm_dup, (MPI_Comm a, MPI_Comm * b), (a, b))            \
                                      call(Comm_free, (MPI_Comm * a), (a))                                            \
                                          call(Comm_rank, (MPI_Comm a, int* b), (a, b))

static int pcontrols = 0;

static void own_calls(void) {
  int rank, one = 1, sum = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank % 2 == 1) PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

#if defined(NEXT)
#define ONWARD(name, types) ((int(*) types)dlsym(RTLD_NEXT, "MPI_" #name))
#elif defined(TABLE)
#define ONWARD(name, types) (onward.to_##name)
#define POINTER(name, types, words) int(*to_##name) types;
#define ADDRESS(name, types, words) PMPI_##name,
static const struct {
  CALLS(POINTER)
} onward = {CALLS(ADDRESS)};
#else
#define ONWARD(name, types) PMPI_##name
#endif

#define DEFINE(name, types, words)           \
  static int seen_##name = 0;                \
  int MPI_##name types {                     \
    if (++seen_##name % 7 == 0) own_calls(); \
    return ONWARD(name, types) words;        \
  }
CALLS(DEFINE)

int MPI_Pcontrol(const int level, ...) {
  pcontrols += level;
  return MPI_SUCCESS;
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
#define PRINT(name, types, words) printf("rank %d: " #name " %d\n", rank, seen_##name);
  CALLS(PRINT)
  printf("rank %d: Pcontrol %d\n", rank, pcontrols);
  fflush(stdout);
  return PMPI_Finalize();
}
