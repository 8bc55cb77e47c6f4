/* Datatypes made of addresses, with MPI_BOTTOM: scattered variables of a program as one message. Prints "N wrong". */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { pieces = 40 };

struct particle {
  double place[3];
  int cell;
  char kind;
};

static struct particle* scattered[pieces];
static int wrong = 0;

static void expect(int right, const char* what) {
  if (!right) {
    ++wrong;
    printf("wrong: %s\n", what);
  }
}

static void fill(int seed) {
  for (int i = 0; i < pieces; ++i) {
    memset(scattered[i], 0x77, 3 * sizeof(struct particle)); /* gaps too */
    for (int k = 0; k < 3; ++k) {
      struct particle* const p = scattered[i] + k;
      for (int d = 0; d < 3; ++d) p->place[d] = seed + i * 10 + k + d * 0.25;
      p->cell = seed * 1000 + i + k;
      p->kind = (char)(seed + i);
    }
  }
}

static void compare(int seed, const char* what) {
  struct particle* kept[pieces];
  for (int i = 0; i < pieces; ++i) {
    kept[i] = malloc(3 * sizeof(struct particle));
    memcpy(kept[i], scattered[i], 3 * sizeof(struct particle));
  }
  fill(seed);
  for (int i = 0; i < pieces; ++i) {
    expect(memcmp(kept[i], scattered[i], 3 * sizeof(struct particle)) == 0, what);
    free(kept[i]);
  }
}

/* The particles without their gaps, at their addresses. */
static MPI_Datatype by_address(void) {
  MPI_Datatype fields, one, all;
  const int lengths[3] = {3, 1, 1};
  const MPI_Aint places[3] = {offsetof(struct particle, place), offsetof(struct particle, cell),
                              offsetof(struct particle, kind)};
  const MPI_Datatype types[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
  MPI_Type_create_struct(3, lengths, places, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(struct particle), &one);
  MPI_Aint addresses[pieces];
  for (int i = 0; i < pieces; ++i) MPI_Get_address(scattered[i], &addresses[i]);
  int three[pieces];
  for (int i = 0; i < pieces; ++i) three[i] = 3;
  MPI_Type_create_hindexed(pieces, three, addresses, one, &all);
  MPI_Type_commit(&all);
  MPI_Type_free(&fields);
  MPI_Type_free(&one);
  return all;
}

static void transfer(int way, int rank, MPI_Datatype type) {
  MPI_Request request;
  const int other = 1 - rank;
  if (way == 0) {
    if (rank == 0)
      MPI_Send(MPI_BOTTOM, 1, type, other, 7, MPI_COMM_WORLD);
    else
      MPI_Recv(MPI_BOTTOM, 1, type, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (way == 1) {
    if (rank == 0)
      MPI_Isend(MPI_BOTTOM, 1, type, other, 7, MPI_COMM_WORLD, &request);
    else
      MPI_Irecv(MPI_BOTTOM, 1, type, other, 7, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (way == 2) {
    if (rank == 0)
      MPI_Send_init(MPI_BOTTOM, 1, type, other, 7, MPI_COMM_WORLD, &request);
    else
      MPI_Recv_init(MPI_BOTTOM, 1, type, other, 7, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  } else {
    MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
  }
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < pieces; ++i) scattered[i] = malloc((size_t)(3 + i % 5) * sizeof(struct particle) + 64);
  MPI_Datatype type = by_address();
  /* The first of each goes to the host, which must accept the type. */
  for (int turn = 0; turn < 3; ++turn)
    for (int way = 0; way < 4; ++way) {
      fill(rank == 0 ? 10 * turn + way + 1 : 5);
      transfer(way, rank, type);
      compare(10 * turn + way + 1, "the data");
    }
  MPI_Type_free(&type);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  for (int i = 0; i < pieces; ++i) free(scattered[i]);
  MPI_Finalize();
  return 0;
}
