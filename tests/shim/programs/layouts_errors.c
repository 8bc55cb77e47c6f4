/* Calls with derived types that the host must refuse, three times each so that a compiled type gets no other answer.
   Prints the class of each error. Whoever cannot return from an error prints what it could until then. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void say(const char* what, int error) {
  int class;
  MPI_Error_class(error, &class);
  printf("%s: %s\n", what,
         class == MPI_SUCCESS        ? "success"
         : class == MPI_ERR_TYPE     ? "type"
         : class == MPI_ERR_COUNT    ? "count"
         : class == MPI_ERR_COMM     ? "comm"
         : class == MPI_ERR_TRUNCATE ? "truncate"
         : class == MPI_ERR_BUFFER   ? "buffer"
         : class == MPI_ERR_ARG      ? "argument"
         : class == MPI_ERR_RANK     ? "rank"
         : class == MPI_ERR_TAG      ? "tag"
                                     : "another");
  fflush(stdout);
}

int main(int argc, char** argv) {
  int source[64] = {0}, packed[64], position, round;
  MPI_Datatype type, other;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Type_vector(8, 1, 2, MPI_INT, &type);
  position = 0;
  say("uncommitted", MPI_Pack(source, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
  say("uncommitted send", MPI_Send(source, 1, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  MPI_Type_commit(&type);
  for (round = 0; round < 3; ++round) {
    position = 0;
    say("fine", MPI_Pack(source, 2, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
    printf("position %d\n", position);
    position = 0;
    say("no room", MPI_Pack(source, 2, type, packed, 63, &position, MPI_COMM_WORLD));
    position = sizeof packed - 8;
    say("no room behind", MPI_Pack(source, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
    position = 0;
    say("negative count", MPI_Pack(source, -1, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
    position = 0;
    say("no comm", MPI_Pack(source, 1, type, packed, sizeof packed, &position, MPI_COMM_NULL));
    position = 0;
    say("too little", MPI_Unpack(packed, 31, &position, source, 1, type, MPI_COMM_WORLD));
    say("null send", MPI_Send(source, 1, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    say("rank", MPI_Send(source, 1, type, 77, 0, MPI_COMM_WORLD));
    say("tag", MPI_Send(source, 1, type, 0, -77, MPI_COMM_WORLD));
    say("negative send", MPI_Send(source, -1, type, 0, 0, MPI_COMM_WORLD));
    say("null comm send", MPI_Send(source, 1, type, 0, 0, MPI_COMM_NULL));
  }
  /* A handle that was in use and is uncommitted now, in hosts that give the same value again. */
  MPI_Type_free(&type);
  MPI_Type_vector(8, 1, 2, MPI_INT, &other);
  position = 0;
  say("uncommitted again", MPI_Pack(source, 1, other, packed, sizeof packed, &position, MPI_COMM_WORLD));
  MPI_Type_commit(&other);
  position = 0;
  say("committed", MPI_Pack(source, 1, other, packed, sizeof packed, &position, MPI_COMM_WORLD));
  MPI_Type_free(&other);
  /* Another layout behind a handle that was compiled. */
  for (round = 0; round < 6; ++round) {
    int i, j;
    MPI_Type_vector(4, 1 + round % 2, 2 + round, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (i = 0; i < 64; ++i) source[i] = i;
    for (j = 0; j < 3; ++j) {
      memset(packed, 0, sizeof packed);
      position = 0;
      MPI_Pack(source, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
    }
    printf("round %d:", round);
    for (i = 0; i < position / 4; ++i) printf(" %d", packed[i]);
    printf("\n");
    MPI_Type_free(&type);
  }
  MPI_Finalize();
  return 0;
}
