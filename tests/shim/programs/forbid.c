/* forbid NAME... -- PROGRAM ARGUMENTS: runs PROGRAM where system calls fail with EPERM: memfd (memfd_create), cma
   (process_vm_readv and process_vm_writev). */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int forbid(long number) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char** argv) {
  int i = 1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return perror("prctl"), 126;
  for (; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    int failed = 0;
    if (!strcmp(argv[i], "memfd"))
      failed = forbid(SYS_memfd_create);
    else if (!strcmp(argv[i], "cma"))
      failed = forbid(SYS_process_vm_readv) || forbid(SYS_process_vm_writev);
    else
      return fprintf(stderr, "forbid: what is %s?\n", argv[i]), 126;
    if (failed) return perror("forbid"), 126;
  }
  if (i + 1 >= argc) return fprintf(stderr, "forbid NAME... -- PROGRAM\n"), 126;
  execvp(argv[i + 1], argv + i + 1);
  return perror(argv[i + 1]), 126;
}
