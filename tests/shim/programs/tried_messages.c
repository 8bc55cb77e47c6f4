/* tried_messages TYPE BYTES ROUNDS [FORM]: ROUNDS messages of about BYTES of a derived type from each rank to the next
   one and back, blocking, nonblocking, both ways at once and by persistent requests, or by FORM alone. Every byte is
   checked, those between the data too, and what the status says. TYPE: pairs (of doubles, every other two), rows (of 32
   doubles), columns, structures, list. Prints on each rank how many were wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rim = 64 };
static int rank, ranks, wrong = 0;

static MPI_Datatype made(const char* type, int bytes) {
  MPI_Datatype result, one;
  if (strcmp(type, "pairs") == 0) {
    MPI_Type_vector(bytes / 16, 2, 4, MPI_DOUBLE, &result);
  } else if (strcmp(type, "rows") == 0) {
    MPI_Type_vector(bytes / 256, 32, 64, MPI_DOUBLE, &result);
  } else if (strcmp(type, "columns") == 0) {
    MPI_Type_vector(bytes / 8, 1, 16, MPI_DOUBLE, &result);
  } else if (strcmp(type, "structures") == 0) {
    const int lengths[2] = {1, 1};
    const MPI_Aint at[2] = {0, 8};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Type_create_struct(2, lengths, at, types, &one);
    MPI_Type_contiguous(bytes / 12, one, &result);
    MPI_Type_free(&one);
  } else {
    const int blocks = bytes / 12;
    int *lengths = malloc((size_t)blocks * sizeof(int)), *at = malloc((size_t)blocks * sizeof(int));
    for (int i = 0, place = 0; i < blocks; ++i) {
      lengths[i] = 2 + i % 3, at[i] = place;
      place += lengths[i] + 1 + i % 5;
    }
    MPI_Type_indexed(blocks, lengths, at, MPI_INT, &result);
    free(lengths), free(at);
  }
  MPI_Type_commit(&result);
  return result;
}

static unsigned char* memory(size_t bytes) {
  unsigned char* const begin = malloc(bytes + 2 * rim);
  memset(begin, 0xee, bytes + 2 * rim);
  return begin;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const form = argc > 4 ? argv[4] : "all";
  const int rounds = atoi(argv[3]), next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  const MPI_Datatype type = made(argv[1], atoi(argv[2]));
  MPI_Aint lb, extent;
  int size;
  MPI_Type_get_true_extent(type, &lb, &extent);
  MPI_Type_size(type, &size);
  unsigned char *const out = memory((size_t)extent), *const in = memory((size_t)extent),
                       *const right = memory((size_t)extent), *const packed = malloc((size_t)size);
  MPI_Request kept[2];
  MPI_Send_init(out + rim, 1, type, next, 4, MPI_COMM_WORLD, &kept[0]);
  MPI_Recv_init(in + rim, 1, type, last, 4, MPI_COMM_WORLD, &kept[1]);
  const int forms = strcmp(form, "all") == 0 ? 15 : atoi(form);
  for (int round = 0; round < rounds; ++round)
    for (int one = 1; one <= 8; one *= 2) {
      if ((forms & one) == 0) continue;
      /* What comes is what a rank's peer has in its buffer: a number that hangs on the round and on the sender. */
      memset(out + rim, (round * 31 + rank * 7 + one) & 0x7f, (size_t)extent);
      memset(in, 0xee, (size_t)extent + 2 * rim);
      memset(right, 0xee, (size_t)extent + 2 * rim);
      memset(packed, (round * 31 + last * 7 + one) & 0x7f, (size_t)size);
      int position = 0, came = -1;
      PMPI_Unpack(packed, size, &position, right + rim, 1, type, MPI_COMM_SELF);
      MPI_Status status[2];
      if (one == 1) {
        /* The first rank sends first, so that nobody waits in a ring. */
        if (rank == 0) MPI_Send(out + rim, 1, type, next, one, MPI_COMM_WORLD);
        MPI_Recv(in + rim, 1, type, last, one, MPI_COMM_WORLD, &status[1]);
        if (rank != 0) MPI_Send(out + rim, 1, type, next, one, MPI_COMM_WORLD);
      } else if (one == 2) {
        MPI_Request both[2];
        MPI_Isend(out + rim, 1, type, next, one, MPI_COMM_WORLD, &both[0]);
        MPI_Irecv(in + rim, 1, type, last, one, MPI_COMM_WORLD, &both[1]);
        MPI_Waitall(2, both, status);
      } else if (one == 4) {
        MPI_Sendrecv(out + rim, 1, type, next, one, in + rim, 1, type, last, one, MPI_COMM_WORLD, &status[1]);
      } else {
        MPI_Startall(2, kept);
        MPI_Waitall(2, kept, status);
      }
      MPI_Get_count(&status[1], type, &came);
      wrong += came != 1 || status[1].MPI_SOURCE != last || memcmp(in, right, (size_t)extent + 2 * rim) != 0;
    }
  MPI_Request_free(&kept[0]);
  MPI_Request_free(&kept[1]);
  printf("%d wrong\n", wrong);
  fflush(stdout);
  MPI_Finalize();
}
