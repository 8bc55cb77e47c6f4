/* Nonblocking collectives that are begun again and again with the same words, other buffers and other data, some at
   once, completed in orders that differ between ranks; from time to time with MPI_IN_PLACE, another root, op, length,
   type or communicator, of which one is freed while calls on it are open. Says how many results were wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LONGEST
#define LONGEST 40 /* integers */
#endif

enum { MOST = 12, RANKS = 8, TO_NEIGHBORS = 11, FROM_NEIGHBORS = 12, KINDS = 13 };

typedef struct {
  int in[RANKS * LONGEST], out[RANKS * LONGEST];
  int kind, count, root, in_place, product, bytes, number;
  MPI_Request request;
} Call;

static int rank, ranks, wrong;
/* Two of the same ranks, and a line of each. */
static MPI_Comm comms[2], lines[2];
static Call calls[MOST];

static int value(int number, int from, int place) { return (number * 7 + from * 31 + place * 5) % 9 - 4; }

/* Of a reduction over ranks [0, last]. */
static int reduced(const Call* call, int last, int place) {
  int result = value(call->number, 0, place);
  for (int from = 1; from <= last; ++from) {
    const int next = value(call->number, from, place);
    result = call->product ? (next > result ? next : result) : result + next;
  }
  return result;
}

static void fill(int* at, int number, int from, int first, int count) {
  for (int i = 0; i < count; ++i) at[i] = value(number, from, first + i);
}

static void begin(Call* call, int which) {
  const MPI_Comm comm = comms[which], line = lines[which];
  const int n = call->count, all = n * ranks;
  /* As bytes or as integers: other words, the same data. */
  const MPI_Datatype type = call->bytes ? MPI_BYTE : MPI_INT;
  const int length = call->bytes ? n * (int)sizeof(int) : n;
  const MPI_Op op = call->product ? MPI_MAX : MPI_SUM;
  const int is_root = rank == call->root;
  for (int i = 0; i < RANKS * LONGEST; ++i) call->in[i] = call->out[i] = -1000;
  switch (call->kind) {
    case 0: MPI_Ibarrier(comm, &call->request); break;
    case 1:
      if (is_root) fill(call->out, call->number, rank, 0, n);
      MPI_Ibcast(call->out, length, type, call->root, comm, &call->request);
      break;
    case 2:
      fill(call->in_place && is_root ? call->out : call->in, call->number, rank, 0, n);
      MPI_Ireduce(call->in_place && is_root ? MPI_IN_PLACE : call->in, call->out, n, MPI_INT, op, call->root, comm,
                  &call->request);
      break;
    case 3:
      fill(call->in_place ? call->out : call->in, call->number, rank, 0, n);
      MPI_Iallreduce(call->in_place ? MPI_IN_PLACE : call->in, call->out, n, MPI_INT, op, comm, &call->request);
      break;
    case 4:
      fill(call->in_place && is_root ? call->out + n * rank : call->in, call->number, rank, 0, n);
      MPI_Igather(call->in_place && is_root ? MPI_IN_PLACE : call->in, length, type, call->out, length, type,
                  call->root, comm, &call->request);
      break;
    case 5:
      if (is_root) fill(call->in, call->number, rank, 0, all);
      MPI_Iscatter(call->in, length, type, call->in_place && is_root ? MPI_IN_PLACE : call->out, length, type,
                   call->root, comm, &call->request);
      break;
    case 6:
      fill(call->in_place ? call->out + n * rank : call->in, call->number, rank, 0, n);
      MPI_Iallgather(call->in_place ? MPI_IN_PLACE : call->in, length, type, call->out, length, type, comm,
                     &call->request);
      break;
    case 7:
      fill(call->in_place ? call->out : call->in, call->number, rank, 0, all);
      MPI_Ialltoall(call->in_place ? MPI_IN_PLACE : call->in, length, type, call->out, length, type, comm,
                    &call->request);
      break;
    case 8:
      fill(call->in_place ? call->out : call->in, call->number, rank, 0, n);
      MPI_Iscan(call->in_place ? MPI_IN_PLACE : call->in, call->out, n, MPI_INT, op, comm, &call->request);
      break;
    case 9:
      fill(call->in_place ? call->out : call->in, call->number, rank, 0, n);
      MPI_Iexscan(call->in_place ? MPI_IN_PLACE : call->in, call->out, n, MPI_INT, op, comm, &call->request);
      break;
    case TO_NEIGHBORS:
      fill(call->in, call->number, rank, 0, 2 * n);
      MPI_Ineighbor_alltoall(call->in, length, type, call->out, length, type, line, &call->request);
      break;
    case FROM_NEIGHBORS:
      fill(call->in, call->number, rank, 0, n);
      MPI_Ineighbor_allgather(call->in, length, type, call->out, length, type, line, &call->request);
      break;
    default:
      fill(call->in_place ? call->out : call->in, call->number, rank, 0, all);
      MPI_Ireduce_scatter_block(call->in_place ? MPI_IN_PLACE : call->in, call->out, n, MPI_INT, op, comm,
                                &call->request);
  }
}

/* The block of the rank before this one, then that of the one behind; at an end of the line nothing comes. */
static int from_neighbor(const Call* call, int i) {
  const int n = call->count, from = i < n ? rank - 1 : rank + 1;
  if (from < 0 || from == ranks) return -1000;
  const int block = call->kind == FROM_NEIGHBORS || i >= n ? 0 : n;
  return value(call->number, from, block + i % n);
}

static int expected(const Call* call, int i) {
  const int n = call->count;
  if (call->kind == TO_NEIGHBORS || call->kind == FROM_NEIGHBORS) return from_neighbor(call, i);
  switch (call->kind) {
    case 1: return value(call->number, call->root, i);
    case 2:
    case 3: return reduced(call, ranks - 1, i);
    case 4:
    case 6: return value(call->number, i / n, i % n);
    case 5: return value(call->number, call->root, n * rank + i);
    case 7: return value(call->number, i / n, n * rank + i % n);
    case 8: return reduced(call, rank, i);
    case 9: return reduced(call, rank - 1, i);
    default: return reduced(call, ranks - 1, n * rank + i);
  }
}

static void check(const Call* call) {
  const int is_rooted = call->kind == 2 || call->kind == 4,
            is_wide = call->kind == 4 || call->kind == 6 || call->kind == 7;
  if (call->kind == 0 || (is_rooted && rank != call->root) || (call->kind == 9 && rank == 0)) return;
  if (call->kind == 5 && call->in_place && rank == call->root) return;
  const int has_neighbors = call->kind == TO_NEIGHBORS || call->kind == FROM_NEIGHBORS;
  const int results = call->count * (has_neighbors ? 2 : is_wide ? ranks : 1);
  int is_wrong = 0;
  for (int i = 0; i < results; ++i) is_wrong |= call->out[i] != expected(call, i);
  /* What lies behind is not written, but for what was given in place. */
  if ((!call->in_place || has_neighbors) && call->out[results] != -1000) is_wrong = 1;
  if (!is_wrong) return;
  if (!wrong)
    printf("kind %d, %d integers, root %d, in place %d\n", call->kind, call->count, call->root, call->in_place);
  ++wrong;
}

static void complete(int open, unsigned way) {
  MPI_Request requests[MOST];
  for (int i = 0; i < open; ++i) requests[i] = calls[i].request;
  if (way % 4 == 0) {
    MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
  } else if (way % 4 == 1) {
    for (int i = open; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  } else if (way % 4 == 2) {
    for (int done = 0; done < open; ++done) {
      int which = 0;
      MPI_Waitany(open, requests, &which, MPI_STATUS_IGNORE);
    }
  } else {
    for (int i = 0; i < open; ++i)
      for (int flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
  }
}

static void make(int which) {
  const int open = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[which]);
  MPI_Cart_create(comms[which], 1, &ranks, &open, 0, &lines[which]);
}

static void release(int which) {
  MPI_Comm_free(&lines[which]);
  MPI_Comm_free(&comms[which]);
}

int main(int argc, char** argv) {
  int provided = 0;
  const int together = argc > 1 && strcmp(argv[1], "multiple") == 0;
  MPI_Init_thread(&argc, &argv, together ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (together && provided != MPI_THREAD_MULTIPLE) return 2;
  const int rounds = argc > 2 ? atoi(argv[2]) : 400;
  const int is_freeing = argc > 3;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int which = 0; which < 2; ++which) make(which);
  unsigned same = 12345, own = 99u + (unsigned)rank;
  static Call shape[KINDS];
  for (int kind = 0; kind < KINDS; ++kind) {
    shape[kind].kind = kind;
    shape[kind].count = 2;
  }
  for (int round = 0, number = 0; round < rounds; ++round) {
    same = same * 1103515245u + 12345u;
    own = own * 1103515245u + 12345u;
    const int kind = (int)(same >> 16) % KINDS, open = 1 + (int)(same >> 8) % MOST;
    Call* const now = &shape[kind];
    switch ((same >> 20) % 24) { /* mostly as before */
      case 0: now->in_place = !now->in_place; break;
      case 1: now->root = (int)(same >> 12) % ranks; break;
      case 2: now->product = !now->product; break;
      case 3: now->count = 1 + (int)(same >> 12) % (LONGEST - 1); break;
      case 4: now->bytes = !now->bytes; break;
      default: break;
    }
    const int which = round % 5 == 4;
    for (int i = 0; i < open; ++i) {
      Call* one = &calls[i];
      one->kind = now->kind;
      one->count = now->count;
      one->root = now->root;
      one->in_place = now->in_place;
      one->product = now->product;
      one->bytes = now->bytes;
      one->number = ++number;
      begin(one, which);
      /* Another kind between them: what is known of open calls stays. */
      if (i % 5 == 4 && i + 1 < open) {
        one = &calls[++i];
        *one = calls[i - 1];
        one->kind = (kind + 3) % KINDS;
        one->count = shape[one->kind].count;
        one->number = ++number;
        begin(one, which);
      }
    }
    if (is_freeing && round % 50 == 49) { /* while its calls are open; Open MPI 4 dies of it by itself */
      release(which);
      complete(open, own >> 10);
      make(which);
    } else {
      complete(open, own >> 10);
    }
    for (int i = 0; i < open; ++i) check(&calls[i]);
  }
  for (int which = 0; which < 2; ++which) release(which);
  MPI_Finalize();
  printf("%d wrong\n", wrong);
  return 0;
}
