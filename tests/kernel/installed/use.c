/* A C program that knows nothing but the installed header. */
#include <millrace/millrace.h>
#include <stdio.h>

int main(void) {
  int a[3] = {1, 2, 3}, b[3] = {10, 20, 30};
  if (millrace_reduce(MILLRACE_SUM, MILLRACE_I32, a, b, 3) != MILLRACE_OK) return 1;
  printf("millrace %s: %d %d %d\n", millrace_version(), b[0], b[1], b[2]);
  return b[2] != 33;
}
