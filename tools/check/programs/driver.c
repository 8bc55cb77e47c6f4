/* Runs under the preload in check mode: calls every entry of check_rows and says which calls the preload did not see.
 *
 *     check_program RESULTS
 *
 * RESULTS gets one line for each entry: seen, slipped, absent (not in this host), foreign (the preload has it and the
 * host has not) or untried (the host has it, but its call did not compile), and the entry's name; and the paths of the
 * host's library and of the preload.
 *
 * In check mode a wrapper marks seen[entry] and returns. A call that slips past reaches the host with no arguments,
 * so it is made in a child, which may crash, exit or hang; a child goes on until something slips. */
#define _GNU_SOURCE
#include "check_row.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { longest_entry_count = 4096, seconds_per_call = 5, not_loaded = 3, no_results = 4 };

struct shared {
  unsigned char seen[longest_entry_count];     /* by entry, written by the preload */
  unsigned char row_seen[longest_entry_count]; /* by row: an entry may have several */
  volatile unsigned next;                      /* the row that the child works on */
};

/* A communicator with neighbours, as Fortran has it: some Fortran bindings ask the host about it before they call C. */
int check_comm;

/* The host's own functions, which the preload does not see. These strong references also make the program need the
 * host's library where the linker drops libraries that only weak references ask for. */
static void prepare(void) {
  MPI_Comm graph;
  PMPI_Init(NULL, NULL);
  PMPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                  &graph);
#if MPI_VERSION >= 5
  check_comm = MPI_Comm_toint(graph); /* the header of the MPI-5 ABI knows no Fortran */
#else
  check_comm = MPI_Comm_c2f(graph);
#endif
}

static int is_in_process(const char* symbols) {
  char copy[512];
  snprintf(copy, sizeof copy, "%s", symbols);
  for (char *rest = copy, *symbol; (symbol = strsep(&rest, " ")) != NULL;)
    if (dlsym(RTLD_DEFAULT, symbol)) return 1; /* the preload's versions are hidden from dlsym */
  return 0;
}

static void silence(void) {
  const int null = open("/dev/null", O_RDWR);
  if (null < 0) return;
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
}

/* Whether the row's call came by. */
static void note(struct shared* shared) {
  const unsigned row = shared->next;
  shared->row_seen[row] = row < check_row_count && check_rows[row].call && shared->seen[check_rows[row].entry];
}

static void call_the_rest(struct shared* shared) {
  silence();
  for (; shared->next < check_row_count; ++shared->next) {
    const struct check_row* row = &check_rows[shared->next];
    if (!row->call) continue;
    alarm(seconds_per_call);
    shared->seen[row->entry] = 0;
    row->call();
    note(shared);
    if (!shared->row_seen[shared->next]) _exit(1);
  }
  _exit(0);
}

/* After this every row has been called or cannot be. */
static int call_all(struct shared* shared) {
  for (shared->next = 0; shared->next < check_row_count; ++shared->next) {
    const pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) call_the_rest(shared);
    if (waitpid(child, NULL, 0) < 0) return -1;
    note(shared); /* a Fortran binding may come by and then stumble over what the host did not give it */
  }
  return 0;
}

static const char* verdict(const struct check_row* row, const struct shared* shared) {
  const int present = is_in_process(row->symbols);
  const int is_c = strcmp(row->symbols, row->name) == 0;
  if (is_c && !present && dlvsym(RTLD_DEFAULT, row->name, "MILLRACE_1")) return "foreign";
  if (!row->call) return present ? "untried" : "absent";
  return shared->row_seen[row - check_rows] ? "seen" : "slipped";
}

static void write_path(FILE* results, const char* what, const char* symbol) {
  Dl_info info;
  void* address = dlsym(RTLD_DEFAULT, symbol);
  if (address && dladdr(address, &info)) fprintf(results, "%s %s\n", what, info.dli_fname);
}

int main(int argc, char** argv) {
  FILE* results = argc == 2 ? fopen(argv[1], "w") : NULL;
  if (!results) return no_results;
  void (*begin)(unsigned char*, size_t) = NULL;
  *(void**)&begin = dlsym(RTLD_DEFAULT, "millrace_check_begin");
  if (!begin) return not_loaded;
  struct shared* shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return no_results;

  check_fill_rows();
  prepare();
  begin(shared->seen, sizeof shared->seen);
  const int status = call_all(shared);
  for (unsigned i = 0; status == 0 && i < check_row_count; ++i)
    fprintf(results, "%s %s\n", verdict(&check_rows[i], shared), check_rows[i].name);
  write_path(results, "host", "PMPI_Init");
  write_path(results, "preload", "millrace_check_begin");
  PMPI_Finalize();
  if (status == 0) fprintf(results, "end of results\n");
  return fclose(results) != 0 || status != 0 ? no_results : 0;
}
