/* Very many short collectives on communicators that overlap (the world, a duplicate, itself, all ranks the other way
   round, halves, pairs and triples that share ranks), in an order that all ranks know, with delays that they do not.
   Every result is checked. Arguments: the seed, how many calls, the longest delay in microseconds.
   Prints a line per rank that found something wrong, then "done". */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "complaints.h"

enum { comm_count = 9, most_ints = 20000 };
static int world_rank, failed = 0;
static MPI_Comm comms[comm_count];
static uint32_t *in, *out;

static uint64_t mix(uint64_t x) {
  x ^= x >> 33, x *= 0xff51afd7ed558ccdu, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}

/* What the rank `rank` of a communicator contributes to a call. */
static uint32_t value(uint64_t call, int rank, int index) {
  return (uint32_t)mix(call * 64 + (uint64_t)rank) + 7u * (uint32_t)index;
}

/* f(x) = a x + b as one number, composed from the left: the order of ranks matters. */
static void compose(void* from, void* to, int* length, MPI_Datatype* type) {
  (void)type;
  uint32_t *a = from, *b = to;
  for (int i = 0; i < *length; ++i) {
    uint32_t scale = (a[i] >> 16 | 1) * (b[i] >> 16 | 1), shift = (b[i] >> 16 | 1) * (a[i] & 0xffff) + (b[i] & 0xffff);
    b[i] = scale << 16 | (shift & 0xffff);
  }
}
static MPI_Op composition;

static void complain(const char* what, int call, int comm, int count) {
  if (failed++ < most_complaints())
    printf("rank %d: %s of %d ints on communicator %d is wrong (call %d)\n", world_rank, what, count, comm, call);
}

/* `begin`: of the elements that this rank has got. */
static void check_from(const char* what, int call, int comm, int begin, int count, int ranks, int op) {
  int indices[] = {0, count / 2, count - 1};
  for (int k = 0; k < 3 && count > 0; ++k) {
    uint32_t expected = value((uint64_t)call, 0, begin + indices[k]);
    for (int rank = 1; rank < ranks; ++rank) {
      uint32_t term = value((uint64_t)call, rank, begin + indices[k]);
      int one = 1;
      if (op == 0)
        expected += term;
      else if (op == 1)
        expected = term > expected ? term : expected;
      else
        compose(&expected, &term, &one, NULL), expected = term;
    }
    if (out[indices[k]] != expected) {
      complain(what, call, comm, count);
      return;
    }
  }
  if (out[count] != 0x55555555u) complain("what is behind the result", call, comm, count);
}

static void check(const char* what, int call, int comm, int count, int ranks, int op) {
  check_from(what, call, comm, 0, count, ranks, op);
}

static void one_call(int call, uint64_t drawn, int c) {
  MPI_Comm comm = comms[c];
  int rank, ranks;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  int kind = (int)(drawn % 7), op = (int)(drawn >> 8 & 0xff) % 3, root = (int)(drawn >> 16 & 0xff) % ranks;
  int count = (int)(drawn >> 24 & 0xffff) % ((drawn >> 40) % 200 == 0  ? most_ints
                                             : (drawn >> 40) % 10 == 0 ? 1100
                                                                       : 16);
  MPI_Op ops[] = {MPI_SUM, MPI_MAX, composition};
  if (kind == 0) {
    MPI_Barrier(comm);
    return;
  }
  for (int i = 0; i < count; ++i) in[i] = value((uint64_t)call, kind == 1 ? 0 : rank, i), out[i] = 0;
  out[count] = 0x55555555u;
  if (kind == 1) {
    for (int i = 0; i < count && rank == root; ++i) out[i] = in[i];
    MPI_Bcast(out, count, MPI_UINT32_T, root, comm);
    check("Bcast", call, c, count, 1, 0);
  } else if (kind == 2) {
    MPI_Reduce(in, out, count, MPI_UINT32_T, ops[op], root, comm);
    if (rank == root) check("Reduce", call, c, count, ranks, op);
  } else if (kind == 4) {
    MPI_Scan(in, out, count, MPI_UINT32_T, ops[op], comm);
    check("Scan", call, c, count, rank + 1, op);
  } else if (kind == 5) {
    MPI_Exscan(in, out, count, MPI_UINT32_T, ops[op], comm);
    if (rank != 0) check("Exscan", call, c, count, rank, op);
  } else if (kind == 6) {
    int block = count / ranks;
    out[block] = 0x55555555u;
    MPI_Reduce_scatter_block(in, out, block, MPI_UINT32_T, ops[op], comm);
    check_from("Reduce_scatter_block", call, c, rank * block, block, ranks, op);
  } else {
    MPI_Allreduce(in, out, count, MPI_UINT32_T, ops[op], comm);
    check("Allreduce", call, c, count, ranks, op);
  }
}

static void wait_a_little(unsigned longest_us) {
  static uint64_t own = 0;
  uint64_t x = mix(own++ * 1024 + (uint64_t)world_rank);
  if (longest_us == 0 || x % 300 != 0) return;
  uint64_t us = (x >> 16) % longest_us;
  if (x >> 60 & 1) {
    usleep((unsigned)us);
    return;
  }
  for (double end = MPI_Wtime() + (double)us * 1e-6; MPI_Wtime() < end;) {
  }
}

static void make(int c, int ranks) {
  int r = world_rank;
  switch (c) {
    case 0: comms[c] = MPI_COMM_WORLD; return;
    case 1: MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]); break;
    case 2: MPI_Comm_dup(MPI_COMM_SELF, &comms[c]); break;
    case 3: MPI_Comm_split(MPI_COMM_WORLD, 0, -r, &comms[c]); break;
    case 4: MPI_Comm_split(MPI_COMM_WORLD, r % 2, r, &comms[c]); break;
    case 5: MPI_Comm_split(MPI_COMM_WORLD, r / 2, -r, &comms[c]); break;
    case 6: MPI_Comm_split(MPI_COMM_WORLD, (r + 1) / 2, r, &comms[c]); break;
    case 7: MPI_Comm_split(MPI_COMM_WORLD, r == 0, r * 7 % ranks, &comms[c]); break; /* all but the first */
    default: MPI_Comm_split(MPI_COMM_WORLD, r == ranks - 1 ? MPI_UNDEFINED : 0, r, &comms[c]); break; /* but the last */
  }
  for (int i = 0; comms[c] != MPI_COMM_NULL && i < 8; ++i) MPI_Barrier(comms[c]);
}

int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  int calls = argc > 2 ? atoi(argv[2]) : 1000;
  unsigned longest_us = argc > 3 ? (unsigned)atoi(argv[3]) : 200;
  in = malloc((most_ints + 16) * sizeof *in), out = malloc((most_ints + 16) * sizeof *out);
  MPI_Op_create(compose, 0, &composition);
  for (int c = 0; c < comm_count; ++c) make(c, ranks);
  for (int call = 0; call < calls; ++call) {
    uint64_t drawn = mix(seed * 1000003 + (uint64_t)call);
    int c = (int)(mix(drawn) % comm_count);
    if (call % 10000 == 9999 && c != 0) { /* one of them is given back and made again */
      if (comms[c] != MPI_COMM_NULL) MPI_Comm_free(&comms[c]);
      make(c, ranks);
    }
    wait_a_little(longest_us);
    if (comms[c] != MPI_COMM_NULL) one_call(call, drawn, c);
  }
  int total = 0;
  MPI_Allreduce(&failed, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int c = 1; c < comm_count; ++c)
    if (comms[c] != MPI_COMM_NULL) MPI_Comm_free(&comms[c]);
  MPI_Op_free(&composition);
  if (world_rank == 0) printf(total ? "%d wrong\n" : "done\n", total);
  free(in), free(out);
  MPI_Finalize();
  return failed != 0;
}
