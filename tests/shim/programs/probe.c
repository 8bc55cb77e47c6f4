/* What a program can find out about the MPI beneath it by weak references and by dlsym: must not change. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#pragma weak MPI_Allreduce_c
extern int MPI_Allreduce_c();
extern int MPI_Init(int*, char***), MPI_Finalize(void);
#pragma weak MPI_Session_init
extern int MPI_Session_init();
#pragma weak MPI_Abi_get_version
extern int MPI_Abi_get_version();
#pragma weak MPI_Comm_revoke_everything
extern int MPI_Comm_revoke_everything(void);

static void say(const char* name, int weak) {
  void* address = dlsym(RTLD_DEFAULT, name);
  Dl_info where = {0};
  if (address) dladdr(address, &where);
  const char* file = where.dli_fname ? strrchr(where.dli_fname, '/') : NULL;
  printf("%s weak %s dlsym %s\n", name, weak ? "found" : "null", file ? file + 1 : "null");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  say("MPI_Allreduce_c", (void*)MPI_Allreduce_c != NULL);
  say("MPI_Session_init", (void*)MPI_Session_init != NULL);
  say("MPI_Abi_get_version", (void*)MPI_Abi_get_version != NULL);
  say("MPI_Comm_revoke_everything", (void*)MPI_Comm_revoke_everything != NULL);
  say("MPI_Init", 1);
  say("MPI_Reduce_local", 1);
  MPI_Finalize();
  return 0;
}
