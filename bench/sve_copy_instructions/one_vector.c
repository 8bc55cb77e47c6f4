// The loop of one vector a turn that the four-vector copy is compared with.
#include <arm_sve.h>
#include <stddef.h>

void copy_one_vector(void* to, const void* from, size_t bytes) {
  for (uint64_t i = 0; i < bytes; i += svcntb()) {
    const svbool_t left = svwhilelt_b8_u64(i, bytes);
    svst1_u8(left, (uint8_t*)to + i, svld1_u8(left, (const uint8_t*)from + i));
  }
}
