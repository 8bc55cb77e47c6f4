/* Programs that do not end as they should: argv[1] says how; with a digit behind it only that rank does so, and the
   others wait for it. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int* volatile nowhere = NULL;
static sigjmp_buf safe_place;

static void say(const char* line) {
  if (write(STDOUT_FILENO, line, strlen(line)) < 0) _exit(9);
}

static void last_words(int signal_number) {
  say("handler of the program\n");
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void leave(int signal_number) {
  (void)signal_number;
  say("handler that exits\n");
  exit(7);
}

static void mend(int signal_number) {
  (void)signal_number;
  siglongjmp(safe_place, 1);
}

static void see_sender(int signal_number, siginfo_t* info, void* context) {
  (void)signal_number, (void)context;
  say(info->si_code == SI_QUEUE && info->si_value.sival_int == 42 ? "handler: sent with 42\n"
                                                                  : "handler: sent anyhow\n");
}

static pthread_t main_thread;
static int ends_of_pipe[2];
static void* interrupt(void* unused) {
  usleep(100000);
  pthread_kill(main_thread, SIGSEGV);
  usleep(100000);
  if (write(ends_of_pipe[1], "x", 1) != 1) _exit(9);
  return unused;
}

/* Reads while a signal comes whose handler is for SA_RESTART. */
static void read_on(void) {
  pthread_t thread;
  char letter;
  if (pipe(ends_of_pipe)) _exit(9);
  main_thread = pthread_self();
  pthread_create(&thread, NULL, interrupt, NULL);
  say(read(ends_of_pipe[0], &letter, 1) == 1 ? "handler: read on\n" : "handler: interrupted\n");
  pthread_join(thread, NULL);
}

static struct sigaction before;
static void pass_on(int signal_number, siginfo_t* info, void* context) {
  say("handler that passes on\n");
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal_number, info, context);
  } else {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
}

static volatile int depth;
static int overflow(int level) {
  volatile char room[4096];
  room[0] = (char)level;
  depth = level;
  return overflow(level + 1) + room[0];
}

static void finalize(void) { MPI_Finalize(); }

static void* receive(void* unused) {
  int word;
  MPI_Recv(&word, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return unused;
}

/* A child of this process ends, which is nothing that its report says. */
static void lose_child(int faults) {
  const pid_t child = fork();
  if (child == 0) {
    if (faults) *nowhere = 1;
    exit(3);
  }
  int status = 0;
  const double start = MPI_Wtime();
  waitpid(child, &status, 0);
  if (MPI_Wtime() - start > 1) say("handler: child waited\n");
  say(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? "handler: child faulted\n"
      : WIFEXITED(status) && WEXITSTATUS(status) == 3    ? "handler: child exited\n"
                                                         : "handler: child of another end\n");
}

static void* fault(void* unused) {
  *nowhere = 1;
  return unused;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "finalize";
  if (!strcmp(how, "handled_before")) signal(SIGSEGV, last_words);
  if (!strncmp(how, "mended", 6)) signal(SIGSEGV, mend);
  if (!strcmp(how, "sender") || !strcmp(how, "restart")) {
    struct sigaction action = {0};
    action.sa_sigaction = see_sender;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGSEGV, &action, NULL);
  }
  if (!strcmp(how, "exit_finalizes")) atexit(finalize);
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double in[512] = {0}, inout[512] = {0};
  MPI_Reduce_local(in, inout, 512, MPI_DOUBLE, MPI_SUM);
  MPI_Allreduce(in, inout, 512, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (strchr("0123456789", how[strlen(how) - 1]) && rank != how[strlen(how) - 1] - '0') pause();
  if (!strncmp(how, "abort", 5) && strcmp(how, "abort()")) MPI_Abort(MPI_COMM_WORLD, 5);
  if (!strcmp(how, "kill")) raise(SIGKILL);
  if (!strcmp(how, "exit") || !strcmp(how, "exit_finalizes")) exit(0);
  if (!strcmp(how, "exit_busy")) {
    pthread_t thread;
    pthread_create(&thread, NULL, receive, NULL);
    usleep(50000);
    exit(4);
  }
  if (!strcmp(how, "child_exits") || !strcmp(how, "child_faults")) lose_child(!strcmp(how, "child_faults"));
  if (!strcmp(how, "_exit")) _exit(0);
  if (!strcmp(how, "crash")) raise(SIGSEGV);
  if (!strncmp(how, "fault", 5) || !strcmp(how, "handled_before")) *nowhere = 1;
  if (!strcmp(how, "overflow")) return overflow(0);
  if (!strcmp(how, "abort()")) abort();
  if (!strcmp(how, "term")) raise(SIGTERM);
  if (!strcmp(how, "heap")) {
    char* block = malloc(64);
    free(block);
    memset(block, 1, 16); /* the key by which the C library sees it freed twice */
    free((char*)block + 8);
  }
  if (!strcmp(how, "handled_after")) {
    struct sigaction action = {0};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before);
    *nowhere = 1;
  }
  if (!strcmp(how, "other_thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, fault, NULL);
    pthread_join(thread, NULL);
  }
  if (!strcmp(how, "in_handler")) {
    signal(SIGUSR1, leave);
    raise(SIGUSR1);
  }
  if (!strncmp(how, "mended", 6))
    for (volatile int times = 0; times < 100; ++times)
      if (!sigsetjmp(safe_place, 1)) *nowhere = 1;
  if (!strcmp(how, "mended_exit")) exit(6);
  if (!strcmp(how, "sender")) sigqueue(getpid(), SIGSEGV, (union sigval){.sival_int = 42});
  if (!strcmp(how, "restart")) read_on();
  if (!strcmp(how, "chdir") && chdir("/")) return 2;
  MPI_Finalize();
  return 0;
}
