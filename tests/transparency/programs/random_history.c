/* Random histories: communicators are made and freed, collectives called on them, calls fail on one rank, ranks come
   late, and in the end some finish while others go on. random_history SEED HISTORIES [STEPS]: every rank draws the
   same numbers, so each knows what all do, and what must come out. Each rank prints a hash of all that it received;
   what was wrong, with where. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_ranks = 16, most_comms = 8, most_elements = 4096 };

typedef struct {
  MPI_Comm handle; /* MPI_COMM_NULL where this rank is no member */
  int size;        /* 0: this place is free */
  int members[most_ranks];
  int self; /* this rank in it, or -1 */
} Comm;

static Comm comms[most_comms];
static int rank, ranks, history, step, wrong;
static uint64_t state, digest = 1469598103934665603u;

static uint32_t draw(uint32_t below) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ (z >> 31)) >> 33) % below;
}

static void mix(uint64_t value) { digest = (digest ^ value) * 1099511628211u; }

static int value(int from, int to, int i) { return (step * 31 + history * 7 + from * 17 + to * 5 + i * 3) % 997; }

static void expect(int got, int wanted, const char* what) {
  mix((uint64_t)(uint32_t)got);
  if (got == wanted) return;
  if (wrong++ < 5) printf("rank %d, history %d, step %d: %s: %d, not %d\n", rank, history, step, what, got, wanted);
}

static int error_of(int error, const char* what) {
  mix(error != MPI_SUCCESS);
  if (error != MPI_SUCCESS && what) {
    if (wrong++ < 5) printf("rank %d, history %d, step %d: %s: an error\n", rank, history, step, what);
  }
  return error;
}

/* ---- collectives ---- */

static int in[most_ranks * most_elements], out[most_ranks * most_elements];

static void fill(const Comm* comm, int count, int blocks) {
  for (int block = 0; block < blocks; ++block)
    for (int i = 0; i < count; ++i) in[block * count + i] = value(comm->members[comm->self], block, i);
  for (int i = 0; i < count * most_ranks && i < most_ranks * most_elements; ++i) out[i] = -1;
}

/* The blocks that came: from member `from + k` each, and meant for block `to`, or k-th where `to` is negative. */
static void check_blocks(const Comm* comm, int count, int to, const char* what) {
  for (int member = 0; member < comm->size; ++member)
    for (int i = 0; i < count; ++i) expect(out[member * count + i], value(comm->members[member], to, i), what);
}

static void check_sum(const Comm* comm, int count, int is_max, const char* what) {
  for (int i = 0; i < count; ++i) {
    int result = 0;
    for (int member = 0; member < comm->size; ++member) {
      const int one = value(comm->members[member], 0, i);
      result = is_max ? (one > result ? one : result) : result + one;
    }
    expect(out[i], result, what);
  }
}

static void collective(const Comm* comm, uint32_t kind, int count, int root, int is_max) {
  if (comm->self < 0) return;
  const MPI_Op op = is_max ? MPI_MAX : MPI_SUM;
  const int is_root = comm->self == root;
  switch (kind) {
    case 0: error_of(MPI_Barrier(comm->handle), "Barrier"); break;
    case 1:
    case 2:
      fill(comm, count, 1);
      error_of(MPI_Bcast(is_root ? in : out, count, MPI_INT, root, comm->handle), "Bcast");
      for (int i = 0; i < count && !is_root; ++i) expect(out[i], value(comm->members[root], 0, i), "Bcast");
      break;
    case 3:
    case 4:
      fill(comm, count, 1);
      error_of(MPI_Allreduce(in, out, count, MPI_INT, op, comm->handle), "Allreduce");
      check_sum(comm, count, is_max, "Allreduce");
      break;
    case 5:
      fill(comm, count, 1);
      error_of(MPI_Reduce(in, out, count, MPI_INT, op, root, comm->handle), "Reduce");
      if (is_root) check_sum(comm, count, is_max, "Reduce");
      break;
    case 6:
      fill(comm, count, 1);
      error_of(MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm->handle), "Allgather");
      check_blocks(comm, count, 0, "Allgather");
      break;
    case 7:
      fill(comm, count, comm->size);
      error_of(MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm->handle), "Alltoall");
      check_blocks(comm, count, comm->self, "Alltoall");
      break;
    case 8:
      fill(comm, count, 1);
      error_of(MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm->handle), "Gather");
      if (is_root) check_blocks(comm, count, 0, "Gather");
      break;
    default:
      fill(comm, count, comm->size);
      error_of(MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm->handle), "Scatter");
      for (int i = 0; i < count; ++i) expect(out[i], value(comm->members[root], comm->self, i), "Scatter");
  }
}

static void burst(const Comm* comm) {
  const uint32_t kind = draw(10), shape = draw(8);
  const int count = shape == 0 ? 0 : shape == 1 ? 1000 + (int)draw(most_elements - 1000) : 1 + (int)draw(40);
  const int calls = draw(4) == 0 ? 1 + (int)draw(24) : 1 + (int)draw(3), is_max = draw(4) == 0, moves = draw(2) != 0;
  int root = (int)draw((uint32_t)comm->size);
  for (int call = 0; call < calls; ++call) {
    collective(comm, kind, count, root, is_max);
    if (moves) root = (root + 1) % comm->size;
  }
}

/* ---- calls that fail ---- */

static void failing(const Comm* comm) {
  const uint32_t kind = draw(7);
  const int who = (int)draw((uint32_t)comm->size);
  if (comm->self < 0 || (comm->self != who && kind != 6)) return;
  int error = MPI_SUCCESS, data[4] = {0}, result[4];
  MPI_Comm made = MPI_COMM_NULL;
  switch (kind) {
    case 0: error = MPI_Bcast(data, -1, MPI_INT, 0, comm->handle); break;
    case 1: error = MPI_Bcast(data, 1, MPI_INT, comm->size + 3, comm->handle); break;
    case 2: error = MPI_Allreduce(data, result, 1, MPI_INT, MPI_OP_NULL, comm->handle); break;
    case 3: error = MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, comm->handle); break;
    case 4: error = MPI_Gather(data, -1, MPI_INT, result, -1, MPI_INT, comm->size - 1, comm->handle); break;
    case 5: error = MPI_Cart_create(comm->handle, -1, data, data, 0, &made); break;
    default: error = MPI_Bcast(data, comm->self == who ? -1 : 0, MPI_INT, 0, comm->handle); /* all call it, in vain */
  }
  error_of(error, NULL);
}

/* ---- communicators ---- */

static Comm* any_comm(void) {
  Comm* comm = &comms[draw(most_comms)];
  return comm->size > 0 ? comm : &comms[0];
}

static Comm* free_place(void) {
  for (int place = 1; place < most_comms; ++place)
    if (comms[place].size == 0) return &comms[place];
  return NULL;
}

static void set_self(Comm* comm) {
  comm->self = -1;
  for (int member = 0; member < comm->size; ++member)
    if (comm->members[member] == rank) comm->self = member;
  if (comm->self < 0) return;
  int size, own;
  MPI_Comm_set_errhandler(comm->handle, MPI_ERRORS_RETURN);
  MPI_Comm_size(comm->handle, &size);
  MPI_Comm_rank(comm->handle, &own);
  expect(size, comm->size, "size");
  expect(own, comm->self, "rank");
}

/* Parts of a split that this rank is not in have a place as well: all ranks know of all communicators. */
static void split(const Comm* from) {
  int color[most_ranks], key[most_ranks];
  for (int member = 0; member < from->size; ++member) {
    color[member] = (int)draw(3) - 1; /* -1: none */
    key[member] = (int)draw(4);
  }
  MPI_Comm made = MPI_COMM_NULL;
  if (from->self >= 0) {
    const int own = color[from->self];
    error_of(MPI_Comm_split(from->handle, own < 0 ? MPI_UNDEFINED : own, key[from->self], &made), "Comm_split");
  }
  for (int part = 0; part < 2; ++part) {
    Comm* to = free_place();
    Comm unknown;
    if (!to) to = &unknown;
    to->size = 0;
    to->handle = MPI_COMM_NULL;
    for (int order = 0; order < 4; ++order)
      for (int member = 0; member < from->size; ++member)
        if (color[member] == part && key[member] == order) to->members[to->size++] = from->members[member];
    if (from->self >= 0 && color[from->self] == part) {
      to->handle = made;
      if (to == &unknown) MPI_Comm_free(&made);
    }
    if (to != &unknown && to->size > 0) set_self(to);
  }
}

static void make(void) {
  const Comm* from = any_comm();
  Comm* to = free_place();
  const uint32_t kind = draw(5);
  const int periodic = (int)draw(2), leave = (int)draw(2), subset = 1 + (int)draw((1u << from->size) - 1);
  if (!to) return;
  if (kind == 1) return split(from);
  Comm made = *from;
  made.handle = MPI_COMM_NULL;
  if (kind == 2) { /* a grid, of all or all but the last */
    if (leave && made.size > 1) --made.size;
    const int dims = made.size;
    if (from->self >= 0) error_of(MPI_Cart_create(from->handle, 1, &dims, &periodic, 0, &made.handle), "Cart_create");
  } else if (kind >= 3) { /* only the group's members call MPI_Comm_create_group */
    int positions[most_ranks], is_in = 0;
    made.size = 0;
    for (int member = 0; member < from->size; ++member)
      if (subset >> member & 1) {
        is_in |= member == from->self;
        positions[made.size] = member;
        made.members[made.size++] = from->members[member];
      }
    if (from->self >= 0) {
      MPI_Group all, some;
      MPI_Comm_group(from->handle, &all);
      MPI_Group_incl(all, made.size, positions, &some);
      if (kind == 4)
        error_of(MPI_Comm_create(from->handle, some, &made.handle), "Comm_create");
      else if (is_in)
        error_of(MPI_Comm_create_group(from->handle, some, 5, &made.handle), "Comm_create_group");
      MPI_Group_free(&some);
      MPI_Group_free(&all);
    }
  } else if (from->self >= 0) {
    error_of(MPI_Comm_dup(from->handle, &made.handle), "Comm_dup");
  }
  *to = made;
  set_self(to);
}

static void forget(Comm* comm) {
  if (comm->size > 0 && comm->self >= 0) error_of(MPI_Comm_free(&comm->handle), "Comm_free");
  comm->size = 0;
}

/* ---- histories ---- */

static void pause_one(void) {
  const uint32_t who = draw((uint32_t)ranks), microseconds = draw(8) == 0 ? 5000 : draw(300);
  if ((int)who == rank) usleep(microseconds);
}

/* A message that is sent before a collective and received after it, or before. */
static void message(const Comm* comm) {
  const int from = (int)draw((uint32_t)comm->size), to = (int)draw((uint32_t)comm->size);
  const int early = (int)draw(2), elements = draw(2) ? 30000 : 10;
  static int sent[30000], got[30000];
  if (comm->self < 0 || from == to) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (comm->self == from) {
    for (int i = 0; i < elements; ++i) sent[i] = value(from, to, i);
    MPI_Isend(sent, elements, MPI_INT, to, 3, comm->handle, &request);
  }
  if (!early) MPI_Barrier(comm->handle);
  if (comm->self == to) {
    MPI_Recv(got, elements, MPI_INT, from, 3, comm->handle, MPI_STATUS_IGNORE);
    for (int i = 0; i < elements; ++i) expect(got[i], value(from, to, i), "message");
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_history(int steps, uint32_t fail_one_in) {
  for (step = 0; step < steps; ++step) {
    const uint32_t what = draw(32);
    if (what < 18)
      burst(any_comm());
    else if (what < 23)
      make();
    else if (what < 26)
      pause_one();
    else if (what < 28)
      message(any_comm());
    else if (what < 30)
      forget(&comms[1 + draw(most_comms - 1)]);
    else if (draw(fail_one_in) == 0)
      failing(draw(8) == 0 ? &comms[0] : any_comm());
  }
  for (int place = 1; place < most_comms; ++place) forget(&comms[place]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const uint64_t seed = strtoull(argv[1], NULL, 10);
  const int histories = atoi(argv[2]), steps = argc > 3 ? atoi(argv[3]) : 40;
  for (int place = 0; place < most_comms; ++place) comms[place].handle = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  state = seed * 977 + 1;
  /* The world itself may be what fails; else a duplicate stands for it, so that one failure does not decide for all. */
  for (history = 0; history < histories; ++history) {
    comms[0].handle = MPI_COMM_WORLD;
    comms[0].size = ranks;
    for (int member = 0; member < ranks; ++member) comms[0].members[member] = member;
    if (history % 8) error_of(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0].handle), "Comm_dup");
    set_self(&comms[0]);
    run_history(steps, 1 + draw(4));
    if (history % 8) forget(&comms[0]);
  }
  /* Some end now, the others go on among themselves. */
  int goes_on = 0;
  comms[0].size = 0;
  for (int member = 0; member < ranks; ++member)
    if (draw(3) || member == 0) {
      goes_on |= member == rank;
      comms[0].members[comms[0].size++] = member;
    }
  MPI_Comm_split(MPI_COMM_WORLD, goes_on ? 0 : MPI_UNDEFINED, rank, &comms[0].handle);
  if (goes_on) {
    set_self(&comms[0]);
    ++history;
    run_history(steps, 2);
    forget(&comms[0]);
  }
  printf("rank %d: %016llx, %d wrong\n", rank, (unsigned long long)digest, wrong);
  MPI_Finalize();
  return wrong != 0;
}
