/* From which size a second thread pays: millrace_reduce() of floats, SUM, by 1 thread, by THREADS and as decided, in
   turns. Prints: mode bytes one_ns many_ns auto_ns ratio low high (median and quartiles of one / many by turn). hot the
   same buffers again and again spaced  after 30 ms of sleep, when the other threads sleep too, with every line of both
   buffers flushed */
#include <millrace/millrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { most_turns = 101 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return difference < 0 ? -1 : difference > 0;
}

static void flush(const char* buffer, size_t bytes) {
#if defined(__x86_64__)
  for (size_t i = 0; i < bytes; i += 64) __builtin_ia32_clflush(buffer + i);
  __builtin_ia32_mfence();
#else
  (void)buffer, (void)bytes;
#endif
}

static double time_ns(unsigned threads, const float* in, float* inout, size_t bytes, int spaced) {
  int calls = spaced ? 1 : (int)((size_t)(8 << 20) / bytes);
  if (calls < 1) calls = 1;
  millrace_use_threads(threads, 1);
  if (spaced) {
    flush((const char*)in, bytes), flush((const char*)inout, bytes);
    usleep(30000);
  } else {
    millrace_reduce(MILLRACE_SUM, MILLRACE_F32, in, inout, bytes / 4);
  }
  double start = now_ns();
  for (int call = 0; call < calls; ++call) millrace_reduce(MILLRACE_SUM, MILLRACE_F32, in, inout, bytes / 4);
  return (now_ns() - start) / calls;
}

static void measure(size_t bytes, unsigned threads, int turns, int spaced) {
  float *in = aligned_alloc(4096, bytes), *inout = aligned_alloc(4096, bytes);
  for (size_t i = 0; i < bytes / 4; ++i) in[i] = 1e-3f, inout[i] = 1;
  double times[3][most_turns], ratio[most_turns];
  const unsigned wanted[3] = {1, threads, 0};
  for (int turn = 0; turn < turns; ++turn) {
    for (int k = 0; k < 3; ++k) {
      int which = (k + turn) % 3; /* whoever comes first finds other caches */
      times[which][turn] = time_ns(wanted[which], in, inout, bytes, spaced);
    }
    ratio[turn] = times[0][turn] / times[1][turn];
  }
  for (int k = 0; k < 3; ++k) qsort(times[k], (size_t)turns, sizeof(double), ascending);
  qsort(ratio, (size_t)turns, sizeof(double), ascending);
  printf("%s %zu %.0f %.0f %.0f %.3f %.3f %.3f\n", spaced ? "spaced" : "hot", bytes, times[0][turns / 2],
         times[1][turns / 2], times[2][turns / 2], ratio[turns / 2], ratio[turns / 4], ratio[3 * turns / 4]);
  fflush(stdout);
  free(in), free(inout);
}

int main(int argc, char** argv) {
  int turns = argc > 1 ? atoi(argv[1]) : 21;
  unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 2;
  size_t largest = argc > 3 ? (size_t)atoll(argv[3]) : (size_t)1 << 30;
  if (turns < 1 || turns > most_turns) turns = 21;
  for (int spaced = 0; spaced < 2; ++spaced)
    for (size_t bytes = 64 << 10; bytes <= largest; bytes *= bytes < (16 << 20) ? 2 : 4)
      measure(bytes, threads, bytes >= (size_t)256 << 20 && turns > 5 ? 5 : turns, spaced);
  return 0;
}
