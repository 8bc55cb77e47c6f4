/* local_fortran LIBMPI PART: loads an MPI for all to see, and for itself alone what is written in Fortran above it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 3 || !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)) return 2;
  void* const part = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  void (*work)(void) = part ? (void (*)(void))dlsym(part, "work_") : NULL;
  if (!work) return fprintf(stderr, "%s\n", dlerror()), 2;
  work();
  return 0;
}
