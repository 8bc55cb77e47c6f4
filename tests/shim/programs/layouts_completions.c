/* How messages of derived types complete where something is unusual: one of several is too long for its receiver, the
   forms of MPI 4.0 and 4.1, where the host has them. Two ranks. Prints what a program sees; the test compares that with
   the host alone. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 400, STRIDE = 3, INTS = BLOCKS * STRIDE, MESSAGES = 4, LONG_ONE = 2 };

/* Arguments: "old" leaves out MPI_Isendrecv, after which MPICH 4.0 by itself crashes; "replace" adds
   MPI_Isendrecv_replace, which MPICH 5.0 by itself gets wrong. */
static int rank, number, old, replaces;
static MPI_Datatype type;
static int sent[MESSAGES][2 * INTS], received[MESSAGES][2 * INTS];

static const char* name_of(int error) {
  int class;
  MPI_Error_class(error, &class);
  return class == MPI_SUCCESS         ? "success"
         : class == MPI_ERR_TRUNCATE  ? "truncate"
         : class == MPI_ERR_IN_STATUS ? "in status"
         : class == MPI_ERR_PENDING   ? "pending"
                                      : "another";
}

/* Blocks of two ints in three: the third stays as it was. */
static const char* data(const int* have, const int* want, int elements) {
  for (int i = 0; i < elements * INTS; ++i)
    if (have[i] != (i % STRIDE < 2 ? want[i] : -1)) return "wrong";
  return "right";
}

static void begin(void) {
  ++number;
  memset(received, -1, sizeof received);
  for (int message = 0; message < MESSAGES; ++message)
    for (int i = 0; i < 2 * INTS; ++i) sent[message][i] = number * 100000 + message * 10000 + i;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void show(const char* form, int message, const MPI_Status* status, int error) {
  int bytes;
  const int is_long = error != MPI_SUCCESS;
  MPI_Get_elements(status, type, &bytes);
  if (is_long)
    printf("%s %d: %s\n", form, message, name_of(error));
  else
    printf("%s %d: %s, tag %d, %d elements, %s\n", form, message, name_of(error), status->MPI_TAG, bytes,
           data(received[message], sent[message], 1));
}

/* Rank 1 sends two elements in message LONG_ONE, where rank 0 has room for one. */
static void one_too_long(const char* form) {
  MPI_Request requests[MESSAGES];
  MPI_Status statuses[MESSAGES];
  int indices[MESSAGES], done = 0, flag = 0;
  begin();
  if (rank == 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int message = 0; message < MESSAGES; ++message)
      MPI_Send(sent[message], message == LONG_ONE ? 2 : 1, type, 0, message, MPI_COMM_WORLD);
    return;
  }
  for (int message = 0; message < MESSAGES; ++message)
    MPI_Irecv(received[message], 1, type, 1, message, MPI_COMM_WORLD, &requests[message]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(form, "waitall") || !strcmp(form, "testall")) {
    int error = MPI_SUCCESS;
    if (!strcmp(form, "waitall")) {
      for (int i = 0; i < MESSAGES; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
      error = MPI_Waitall(MESSAGES, requests, statuses);
    } else {
      while (!flag && error == MPI_SUCCESS) error = MPI_Testall(MESSAGES, requests, &flag, statuses);
    }
    printf("%s: %s\n", form, name_of(error));
    for (int message = 0; message < MESSAGES; ++message)
      if (statuses[message].MPI_ERROR != MPI_ERR_PENDING)
        show(form, message, &statuses[message], statuses[message].MPI_ERROR);
    /* Whatever is pending still completes. */
    for (int message = 0; message < MESSAGES; ++message)
      if (requests[message] != MPI_REQUEST_NULL) MPI_Wait(&requests[message], MPI_STATUS_IGNORE);
    return;
  }
  int seen[MESSAGES] = {0};
  while (done < MESSAGES) {
    int outcount = 1;
    if (!strcmp(form, "waitsome")) {
      const int error = MPI_Waitsome(MESSAGES, requests, &outcount, indices, statuses);
      if (error == MPI_SUCCESS)
        for (int i = 0; i < outcount; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
    } else {
      statuses[0].MPI_ERROR = MPI_Waitany(MESSAGES, requests, &indices[0], &statuses[0]);
    }
    for (int i = 0; i < outcount; ++i) {
      seen[indices[i]] = 1;
      if (indices[i] == LONG_ONE || statuses[i].MPI_ERROR != MPI_SUCCESS)
        printf("%s %d: %s\n", form, indices[i], name_of(statuses[i].MPI_ERROR));
      else
        show(form, indices[i], &statuses[i], MPI_SUCCESS);
    }
    done += outcount;
  }
  for (int i = 0; i < MESSAGES; ++i)
    if (!seen[i]) printf("%s %d: never came\n", form, i);
}

#if MPI_VERSION >= 4
/* Rank 1 speaks up only if something is wrong. */
static void say(const char* what, const char* result) {
  if (rank == 0 || strcmp(result, "right")) printf("%s: %s\n", what, result);
}

static void send_and_receive(void) {
  MPI_Request request;
  MPI_Status status;
  begin();
  MPI_Isendrecv(sent[0], 2, type, 1 - rank, 7, received[0], 2, type, 1 - rank, 7, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  say("isendrecv", data(received[0], sent[0], 2));
  if (!replaces) return;
  begin();
  memcpy(received[1], sent[1], sizeof received[1]);
  for (int i = 0; i < 2 * INTS; ++i)
    if (i % STRIDE == 2) received[1][i] = -1;
  MPI_Isendrecv_replace(received[1], 2, type, 1 - rank, 8, 1 - rank, 8, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  say("isendrecv_replace", data(received[1], sent[1], 2));
}
#endif

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
static void ask_for_status(void) {
  MPI_Request requests[MESSAGES];
  MPI_Status statuses[MESSAGES];
  int flag = 0, index, outcount = 0, indices[MESSAGES];
  begin();
  for (int message = 0; message < MESSAGES; ++message) {
    if (rank == 1)
      MPI_Isend(sent[message], 1, type, 0, message, MPI_COMM_WORLD, &requests[message]);
    else
      MPI_Irecv(received[message], 1, type, 1, message, MPI_COMM_WORLD, &requests[message]);
  }
  while (!flag) MPI_Request_get_status_any(MESSAGES, requests, &index, &flag, statuses);
  if (rank == 0) printf("get_status_any: %s\n", data(received[index], sent[index], 1));
  do MPI_Request_get_status_some(MESSAGES, requests, &outcount, indices, statuses);
  while (outcount == 0);
  if (rank == 0)
    for (int i = 0; i < outcount; ++i)
      if (strcmp(data(received[indices[i]], sent[indices[i]], 1), "right")) printf("get_status_some: wrong\n");
  for (flag = 0; !flag;) MPI_Request_get_status_all(MESSAGES, requests, &flag, statuses);
  if (rank == 0)
    for (int message = 0; message < MESSAGES; ++message)
      printf("get_status_all %d: %s\n", message, data(received[message], sent[message], 1));
  MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
  for (int message = 0; message < MESSAGES; ++message)
    if (requests[message] != MPI_REQUEST_NULL) printf("a request is left\n");
}
#endif

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  MPI_Init(&argc, &argv);
  old = argc > 1 && !strcmp(argv[1], "old");
  replaces = argc > 1 && !strcmp(argv[1], "replace");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Type_vector(BLOCKS, 2, STRIDE, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Datatype resized;
  MPI_Type_create_resized(type, 0, INTS * sizeof(int), &resized);
  MPI_Type_commit(&resized);
  MPI_Type_free(&type);
  type = resized;
  const char* forms[] = {"waitall", "testall", "waitsome", "waitany"};
  for (int round = 0; round < 3; ++round) {
    for (int form = 0; form < 4; ++form) one_too_long(forms[form]);
#if MPI_VERSION >= 4
    if (!old) send_and_receive();
#endif
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
    ask_for_status();
#endif
  }
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
