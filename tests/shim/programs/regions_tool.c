/* A profiler that takes everything that MPI_Pcontrol can be given, and says if it came as it was sent. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int MPI_Pcontrol(const int level, ...) {
  if (level != 77) return 100 + level;
  va_list more;
  va_start(more, level);
  int wrong = strcmp(va_arg(more, const char*), "first") != 0;
  for (int i = 0; i < 12; ++i) {
    wrong += va_arg(more, long) != 1000000007L * (i + 1);
    wrong += va_arg(more, double) != 0.25 * (i + 1);
  }
  wrong += va_arg(more, long double) != 1.125L;
  va_end(more);
  return wrong;
}
