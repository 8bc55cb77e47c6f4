/* A stand-in for a GPU-aware host MPI, between Millrace and the real one: where the program's buffer is in device
 * memory, the real host gets the view that the processor can touch. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

static void* (*touchable_view)(const void*);

static void* at(const void* address) {
  static const char* const names[] = {"libcuda.so.1", "libamdhip64.so.6", "libze_loader.so.1"};
  for (size_t i = 0; i < sizeof names / sizeof *names && !touchable_view; ++i) {
    void* const library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library) *(void**)&touchable_view = dlsym(library, "stand_in_touchable");
  }
  return touchable_view ? touchable_view(address) : (void*)address;
}

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

int MPI_Send(const void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c) {
  int (*const real)(const void*, int, MPI_Datatype, int, int, MPI_Comm) = next("PMPI_Send");
  return real(at(b), n, t, peer, tag, c);
}
int PMPI_Send(const void*, int, MPI_Datatype, int, int, MPI_Comm) __attribute__((alias("MPI_Send")));

int MPI_Recv(void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c, MPI_Status* s) {
  int (*const real)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) = next("PMPI_Recv");
  return real(at(b), n, t, peer, tag, c, s);
}
int PMPI_Recv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) __attribute__((alias("MPI_Recv")));

int MPI_Isend(const void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c, MPI_Request* r) {
  int (*const real)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = next("PMPI_Isend");
  return real(at(b), n, t, peer, tag, c, r);
}
int PMPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) __attribute__((alias("MPI_Isend")));

int MPI_Irecv(void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c, MPI_Request* r) {
  int (*const real)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = next("PMPI_Irecv");
  return real(at(b), n, t, peer, tag, c, r);
}
int PMPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) __attribute__((alias("MPI_Irecv")));

int MPI_Send_init(const void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c, MPI_Request* r) {
  int (*const real)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = next("PMPI_Send_init");
  return real(at(b), n, t, peer, tag, c, r);
}

int MPI_Recv_init(void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c, MPI_Request* r) {
  int (*const real)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = next("PMPI_Recv_init");
  return real(at(b), n, t, peer, tag, c, r);
}

int MPI_Sendrecv(const void* b, int n, MPI_Datatype t, int to, int tag, void* b2, int n2, MPI_Datatype t2, int from,
                 int tag2, MPI_Comm c, MPI_Status* s) {
  int (*const real)(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int, MPI_Comm,
                    MPI_Status*) = next("PMPI_Sendrecv");
  return real(at(b), n, t, to, tag, at(b2), n2, t2, from, tag2, c, s);
}
int PMPI_Sendrecv(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*)
    __attribute__((alias("MPI_Sendrecv")));

int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  int (*const real)(void*, int, MPI_Datatype, int, MPI_Comm) = next("PMPI_Bcast");
  return real(at(b), n, t, root, c);
}

int MPI_Reduce(const void* in, void* out, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c) {
  int (*const real)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm) = next("PMPI_Reduce");
  return real(at(in), at(out), n, t, op, root, c);
}

typedef int Reduction(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

int MPI_Allreduce(const void* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  Reduction* const real = next("PMPI_Allreduce");
  return real(at(in), at(out), n, t, op, c);
}

int MPI_Scan(const void* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  Reduction* const real = next("PMPI_Scan");
  return real(at(in), at(out), n, t, op, c);
}

int MPI_Exscan(const void* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  Reduction* const real = next("PMPI_Exscan");
  return real(at(in), at(out), n, t, op, c);
}

int MPI_Reduce_scatter_block(const void* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  Reduction* const real = next("PMPI_Reduce_scatter_block");
  return real(at(in), at(out), n, t, op, c);
}

int MPI_Reduce_scatter(const void* in, void* out, const int* n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  int (*const real)(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm) = next("PMPI_Reduce_scatter");
  return real(at(in), at(out), n, t, op, c);
}

int MPI_Reduce_local(const void* in, void* out, int n, MPI_Datatype t, MPI_Op op) {
  int (*const real)(const void*, void*, int, MPI_Datatype, MPI_Op) = next("PMPI_Reduce_local");
  return real(at(in), at(out), n, t, op);
}

int MPI_Pack(const void* in, int n, MPI_Datatype t, void* out, int bytes, int* position, MPI_Comm c) {
  int (*const real)(const void*, int, MPI_Datatype, void*, int, int*, MPI_Comm) = next("PMPI_Pack");
  return real(at(in), n, t, at(out), bytes, position, c);
}

int MPI_Unpack(const void* in, int bytes, int* position, void* out, int n, MPI_Datatype t, MPI_Comm c) {
  int (*const real)(const void*, int, int*, void*, int, MPI_Datatype, MPI_Comm) = next("PMPI_Unpack");
  return real(at(in), bytes, position, at(out), n, t, c);
}

typedef int Block(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);

int MPI_Gather(const void* b, int n, MPI_Datatype t, void* b2, int n2, MPI_Datatype t2, int root, MPI_Comm c) {
  Block* const real = next("PMPI_Gather");
  return real(at(b), n, t, at(b2), n2, t2, root, c);
}

int MPI_Scatter(const void* b, int n, MPI_Datatype t, void* b2, int n2, MPI_Datatype t2, int root, MPI_Comm c) {
  Block* const real = next("PMPI_Scatter");
  return real(at(b), n, t, at(b2), n2, t2, root, c);
}

typedef int BlockForAll(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);

int MPI_Allgather(const void* b, int n, MPI_Datatype t, void* b2, int n2, MPI_Datatype t2, MPI_Comm c) {
  BlockForAll* const real = next("PMPI_Allgather");
  return real(at(b), n, t, at(b2), n2, t2, c);
}

int MPI_Alltoall(const void* b, int n, MPI_Datatype t, void* b2, int n2, MPI_Datatype t2, MPI_Comm c) {
  BlockForAll* const real = next("PMPI_Alltoall");
  return real(at(b), n, t, at(b2), n2, t2, c);
}

int MPI_Ialltoall(const void* b, int n, MPI_Datatype t, void* b2, int n2, MPI_Datatype t2, MPI_Comm c, MPI_Request* r) {
  int (*const real)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Request*) =
      next("PMPI_Ialltoall");
  return real(at(b), n, t, at(b2), n2, t2, c, r);
}

int MPI_Alltoallv(const void* b, const int* n, const int* d, MPI_Datatype t, void* b2, const int* n2, const int* d2,
                  MPI_Datatype t2, MPI_Comm c) {
  int (*const real)(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                    MPI_Comm) = next("PMPI_Alltoallv");
  return real(at(b), n, d, t, at(b2), n2, d2, t2, c);
}
