/* Functions that are newer than the glibc that packages run with, 2.28: every object of a package has those it uses,
 * hidden (cmake/toolchains/old_glibc.cmake). The first three are not in the glibc that packages are linked with at all:
 * GCC's libstdc++.a and libgcc_eh.a, compiled for Debian 12, want them. The others our own code uses, or the headers of
 * libstdc++. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* glibc 2.32. "Perhaps there are several threads" is always true enough: counts of references are atomic then. */
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

/* glibc 2.36. As there, it cannot fail. */
extern uint32_t arc4random(void);
uint32_t arc4random(void) {
  uint32_t word;
  if (getrandom(&word, sizeof word, 0) != (ssize_t)sizeof word) abort();
  return word;
}

/* glibc 2.35's _dl_find_object(), by which an exception finds the table of the code that it passes. The layout of the
 * answer is that of glibc's <dlfcn.h>; the name of the function is given to the assembler alone, for where that header
 * has it as well. */
struct object {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  struct link_map* link_map;
  void* eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  struct object* found;
};

static int visit(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* const search = data;
  uintptr_t table = 0;
  int is_here = 0;
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const ElfW(Phdr)* const header = &info->dlpi_phdr[k];
    const uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) table = start;
    if (header->p_type != PT_LOAD || search->address < start || search->address - start >= header->p_memsz) continue;
    is_here = 1;
    search->found->map_start = (void*)start;
    search->found->map_end = (void*)(start + header->p_memsz);
  }
  if (is_here && table) search->found->eh_frame = (void*)table;
  return is_here;
}

extern int find_object(void* address, struct object* found) __asm__("_dl_find_object");
int find_object(void* address, struct object* found) {
  struct search search = {(uintptr_t)address, found};
  *found = (struct object){0};
  dl_iterate_phdr(visit, &search);
  return found->eh_frame ? 0 : -1;
}

/* glibc 2.30. */
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

int tgkill(pid_t process, pid_t thread, int signal) { return (int)syscall(SYS_tgkill, process, thread, signal); }

/* glibc 2.30. The wait ends by the system's clock here, as it did before; should that be set meanwhile, the caller, who
 * asks his own clock, waits once more or finds that it is late. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  struct timespec now, end;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &end) != 0) return EINVAL;
  end.tv_sec += until->tv_sec - now.tv_sec;
  end.tv_nsec += until->tv_nsec - now.tv_nsec;
  const long second_ns = 1000000000;
  if (end.tv_nsec < 0) end.tv_nsec += second_ns, --end.tv_sec;
  if (end.tv_nsec >= second_ns) end.tv_nsec -= second_ns, ++end.tv_sec;
  return pthread_cond_timedwait(condition, mutex, &end);
}

/* Since glibc 2.29 these do without an older standard's reports of errors; the results are the same. */
#ifdef __x86_64__
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif
__asm__(".symver older_exp, exp@" OLDEST);
__asm__(".symver older_exp2, exp2@" OLDEST);
__asm__(".symver older_log, log@" OLDEST);
__asm__(".symver older_log2, log2@" OLDEST);
__asm__(".symver older_pow, pow@" OLDEST);
extern double older_exp(double);
extern double older_exp2(double);
extern double older_log(double);
extern double older_log2(double);
extern double older_pow(double, double);
extern double exp(double);
extern double exp2(double);
extern double log(double);
extern double log2(double);
extern double pow(double, double);
double exp(double x) { return older_exp(x); }
double exp2(double x) { return older_exp2(x); }
double log(double x) { return older_log(x); }
double log2(double x) { return older_log2(x); }
double pow(double x, double y) { return older_pow(x, y); }
