// The compiler's own loop: what a C programmer writes, without the NaN rule of Millrace.
#include <stddef.h>

void plain_max(const void* in, void* inout, size_t elements) {
  const float* restrict a = in;
  float* restrict b = inout;
  for (size_t i = 0; i < elements; ++i) b[i] = a[i] > b[i] ? a[i] : b[i];
}
