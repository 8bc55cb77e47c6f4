/* Nonblocking collectives in situations of their own; the argument says which. Each warms up until the ranks may share
   memory. Prints "done", or what is wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

enum { warm_calls = 40, large = 1 << 20, most_open = 100 };
static int rank, ranks, wrong;
static int *in, *out;

static void expect(int is_right, const char* what) {
  if (is_right || wrong++ > 3) return;
  printf("rank %d: %s\n", rank, what);
  fflush(stdout);
}

static void warm(MPI_Comm comm) {
  for (int i = 0; i < warm_calls; ++i) {
    int sum = 0, one = 1;
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void begin_sum(int count, MPI_Comm comm, MPI_Request* request) {
  for (int i = 0; i < count; ++i) in[i] = rank + i % 1000, out[i] = -1;
  MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, comm, request);
}
static void check_sum(int count) {
  for (int i = 0; i < count; ++i)
    if (out[i] != ranks * (ranks - 1) / 2 + ranks * (i % 1000)) {
      expect(0, "a sum is wrong");
      return;
    }
}

/* Rank 0 is in calls of the host that wait, while the others need its part of a large collective to go on to what it
   waits for. */
static void inside_the_host(void) {
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
  for (int turn = 0; turn < 4; ++turn) {
    MPI_Request request;
    int token = 0;
    begin_sum(large, MPI_COMM_WORLD, &request);
    if (rank == 0) {
      if (turn == 0) MPI_Recv(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (turn == 1) {
        MPI_Status status;
        MPI_Probe(1, 3, MPI_COMM_WORLD, &status);
        MPI_Recv(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      if (turn == 2) MPI_Ssend(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
      if (turn == 3) MPI_Barrier(pair);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) {
      if (turn < 2) MPI_Send(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
      if (turn == 2) MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (turn == 3) MPI_Barrier(pair);
    }
    check_sum(large);
  }
  if (pair != MPI_COMM_NULL) MPI_Comm_free(&pair);
}

/* The others do not wait for a rank that computes after it has begun. */
static void while_computing(void) {
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) usleep(100000); /* so that rank 0 is out of MPI again */
  begin_sum(large, MPI_COMM_WORLD, &request);
  const double begin = MPI_Wtime();
  if (rank == 0)
    while (MPI_Wtime() - begin < 2) /* MPI_Wtime moves nothing */
      ;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank != 0) expect(MPI_Wtime() - begin < 1.5, "waited for a rank that computes");
  check_sum(large);
}

/* Rank 1 has more messages under way than lie between two ranks, and asks only for a collective that ends after rank 0
   has received them: its questions must move them. */
static void messages_beside(void) {
  enum { messages = 4000, ints = 128, ways = 9 };
  static int sent[messages][ints];
  static MPI_Request sends[messages];
  for (int way = 0; way < ways; ++way) {
    MPI_Request request;
    MPI_Status status;
    int sum = 0, one = 1, flag = 0, index = 0, done = 0, indices[1];
    if (rank == 1)
      for (int i = 0; i < messages; ++i) {
        sent[i][0] = way + i;
        MPI_Isend(sent[i], ints, MPI_INT, 0, 3, MPI_COMM_WORLD, &sends[i]);
      }
    if (rank == 0) {
      static int received[ints];
      usleep(20000);
      for (int i = 0; i < messages; ++i) {
        MPI_Recv(received, ints, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(received[0] == way + i, "a message is wrong");
      }
    }
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    switch (rank == 1 ? way : 0) {
      case 0: MPI_Wait(&request, &status); break;
      case 1:
        while (!flag) MPI_Test(&request, &flag, &status);
        break;
      case 2: MPI_Waitall(1, &request, &status); break;
      case 3:
        while (!flag) MPI_Testall(1, &request, &flag, &status);
        break;
      case 4: MPI_Waitany(1, &request, &index, &status); break;
      case 5:
        while (!flag) MPI_Testany(1, &request, &index, &flag, &status);
        break;
      case 6: MPI_Waitsome(1, &request, &done, indices, &status); break;
      case 7:
        while (done == 0) MPI_Testsome(1, &request, &done, indices, &status);
        break;
      default:
        while (!flag) MPI_Request_get_status(request, &flag, &status);
        MPI_Wait(&request, &status);
    }
    expect(sum == ranks && request == MPI_REQUEST_NULL, "a sum beside messages is wrong");
    if (rank == 1) MPI_Waitall(messages, sends, MPI_STATUSES_IGNORE);
  }
}

/* The communicator and the type are given back before the calls on it have ended; its handle may be another's then. */
static void freed(void) {
  for (int turn = 0; turn < 12; ++turn) {
    MPI_Comm comm, next;
    MPI_Datatype type;
    MPI_Request requests[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    warm(comm);
    MPI_Type_vector(1000, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    static int bytes[2000];
    for (int i = 0; i < 2000; ++i) bytes[i] = rank == turn % ranks ? turn + i : -1;
    if (rank == turn % 3) usleep(2000);
    begin_sum(20000, comm, &requests[0]);
    MPI_Ibcast(bytes, 1, type, turn % ranks, comm, &requests[1]);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    MPI_Barrier(next);
    if (turn % 2) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    check_sum(20000);
    for (int i = 0; i < 2000; ++i)
      expect(bytes[i] == (i % 2 == 0 || rank == turn % ranks ? turn + i : -1), "a vector is wrong");
    MPI_Comm_free(&next);
  }
}

/* A hundred under way, of two communicators, ended from behind. */
static void hundred(void) {
  static int sums[most_open], ones[most_open];
  MPI_Request requests[most_open];
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  warm(other);
  for (int turn = 0; turn < 20; ++turn) {
    for (int i = 0; i < most_open; ++i) {
      ones[i] = i + rank;
      MPI_Iallreduce(&ones[i], &sums[i], 1, MPI_INT, MPI_SUM, i % 3 ? other : MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = most_open; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < most_open; ++i) expect(sums[i] == ranks * i + ranks * (ranks - 1) / 2, "a sum is wrong");
  }
  MPI_Comm_free(&other);
}

/* One rank expects less of a broadcast than comes: it gets MPI_ERR_TRUNCATE, and the communicator goes on. */
static void truncated(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  warm(comm);
  int values[8] = {0}, error_class = MPI_SUCCESS;
  for (int i = 0; i < 8; ++i) values[i] = rank == 0 ? i : -1;
  MPI_Request request;
  MPI_Ibcast(values, rank == 1 ? 4 : 8, MPI_INT, 0, comm, &request);
  const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Error_class(error, &error_class);
  expect(error_class == (rank == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "another error than MPI_ERR_TRUNCATE");
  for (int i = 0; i < 8; ++i) expect(values[i] == (rank == 1 && i >= 4 ? -1 : i), "values are wrong");
  expect(request == MPI_REQUEST_NULL, "the request is still there");
  warm(comm);
  MPI_Comm_free(&comm);
}

/* Ranks that begin different calls get an error, all of them, and may go on with other communicators. */
static void different(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  warm(comm);
  MPI_Request request;
  int sum = 0;
  if (rank == 0)
    MPI_Ibarrier(comm, &request);
  else
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  expect(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS, "no error");
  warm(MPI_COMM_WORLD);
}

struct thread {
  pthread_t id;
  MPI_Comm comm;
  int number;
};
static void* work(void* argument) {
  struct thread* self = argument;
  int own = 0;
  MPI_Comm_rank(self->comm, &own);
  warm(self->comm);
  for (int turn = 0; turn < 200; ++turn) {
    enum { open = 5, ints = 3000 };
    static __thread int from[open][ints], to[open][ints];
    MPI_Request requests[open];
    for (int i = 0; i < open; ++i) {
      const int count = turn % 7 == 0 ? ints : 1 + turn % 50;
      for (int k = 0; k < count; ++k) from[i][k] = own + k + self->number, to[i][k] = -1;
      MPI_Iallreduce(from[i], to[i], count, MPI_INT, MPI_SUM, self->comm, &requests[i]);
    }
    if (turn % 2)
      MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
    else
      for (int left = open, index; left > 0; --left) MPI_Waitany(open, requests, &index, MPI_STATUS_IGNORE);
    for (int i = 0; i < open; ++i)
      expect(to[i][0] == ranks * (ranks - 1) / 2 + ranks * self->number, "a thread's sum is wrong");
  }
  return NULL;
}
static void threads(void) {
  enum { count = 3 };
  struct thread all[count];
  for (int i = 0; i < count; ++i) {
    all[i].number = i;
    MPI_Comm_dup(MPI_COMM_WORLD, &all[i].comm);
  }
  for (int i = 0; i < count; ++i) pthread_create(&all[i].id, NULL, work, &all[i]);
  for (int i = 0; i < count; ++i) pthread_join(all[i].id, NULL);
  for (int i = 0; i < count; ++i) MPI_Comm_free(&all[i].comm);
}

/* Requests as values: in other arrays, through Fortran's numbers, compared. */
static void handles(void) {
  for (int turn = 0; turn < 100; ++turn) {
    MPI_Request first, second, moved[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag = 0;
    begin_sum(100, MPI_COMM_WORLD, &first);
    MPI_Ibarrier(MPI_COMM_WORLD, &second);
    expect(first != second && first != MPI_REQUEST_NULL, "requests are alike");
#ifdef MPI_ABI_VERSION
    moved[2] = MPI_Request_fromint(MPI_Request_toint(first));
#else
    moved[2] = MPI_Request_f2c(MPI_Request_c2f(first));
#endif
    moved[0] = second;
    expect(moved[2] == first, "a request is another in Fortran");
    while (!flag) MPI_Request_get_status(first, &flag, MPI_STATUS_IGNORE);
    check_sum(100);
    MPI_Request_get_status(first, &flag, MPI_STATUS_IGNORE);
    expect(flag, "completed, and then not");
    MPI_Waitall(3, moved, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) expect(moved[i] == MPI_REQUEST_NULL, "a request is left");
  }
}

#ifdef HAS_PERSISTENT
/* A persistent one, started together with messages, on a communicator that the program frees while it is active. */
static void persistent(void) {
  MPI_Comm comm;
  MPI_Request requests[3];
  int part = 0, sum = 0, told = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Allreduce_init(&part, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Recv_init(&told, 1, MPI_INT, (rank + 1) % ranks, 7, MPI_COMM_WORLD, &requests[1]);
  MPI_Send_init(&part, 1, MPI_INT, (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD, &requests[2]);
  const MPI_Request made = requests[0];
  for (int turn = 0; turn < 100; ++turn) {
    part = turn + rank, sum = told = -1;
    if (turn < 99) {
      MPI_Startall(3, requests);
    } else {
      MPI_Startall(2, requests + 1);
      MPI_Start(&requests[0]);
      MPI_Comm_free(&comm);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    expect(requests[0] == made, "a persistent request has changed");
    expect(sum == ranks * turn + ranks * (ranks - 1) / 2, "a persistent sum is wrong");
    expect(told == turn + (rank + 1) % ranks, "a message beside it is wrong");
  }
  int flag = 0;
  MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  expect(flag && requests[0] == made, "an inactive request has not completed, or has changed");
  for (int i = 0; i < 3; ++i) MPI_Request_free(&requests[i]);
  for (int i = 0; i < 3; ++i) expect(requests[i] == MPI_REQUEST_NULL, "a request is left");
}

/* The type of a persistent one is freed, and others are made, which may have its handle then. */
static void persistent_type(void) {
  enum { count = 1000 };
  MPI_Datatype type, other[8];
  MPI_Request request;
  static int values[2 * count];
  MPI_Type_vector(count, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Bcast_init(values, 1, type, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Type_free(&type);
  for (int i = 0; i < 8; ++i) {
    MPI_Type_contiguous(3 + i, MPI_INT, &other[i]);
    MPI_Type_commit(&other[i]);
  }
  for (int turn = 0; turn < 40; ++turn) {
    for (int i = 0; i < 2 * count; ++i) values[i] = rank == 0 ? turn + i : -1;
    MPI_Barrier(MPI_COMM_WORLD); /* else the root is through with all before the others could agree with it */
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * count; ++i)
      expect(values[i] == (i % 2 == 0 || rank == 0 ? turn + i : -1), "a vector whose type was freed is wrong");
  }
  for (int i = 0; i < 8; ++i) MPI_Type_free(&other[i]);
  MPI_Request_free(&request);
}
#endif

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  int level = 0;
  const int with_threads = strcmp(name, "threads") == 0;
  MPI_Init_thread(&argc, &argv, with_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  in = malloc(large * sizeof *in), out = malloc(large * sizeof *out);
  warm(MPI_COMM_WORLD);
  const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"inside_the_host", inside_the_host},
               {"messages_beside", messages_beside},
               {"while_computing", while_computing},
               {"freed", freed},
               {"hundred", hundred},
               {"truncated", truncated},
               {"different", different},
               {"handles", handles},
#ifdef HAS_PERSISTENT
               {"persistent", persistent},
               {"persistent_type", persistent_type},
#endif
               {"threads", threads}};
  int found = 0;
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(cases[i].name, name) == 0) {
      found = 1;
      if (!with_threads || level == MPI_THREAD_MULTIPLE) cases[i].run();
    }
  if (!found) printf("no such case: %s\n", name);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("done\n");
  free(in), free(out);
  MPI_Finalize();
  return 0;
}
