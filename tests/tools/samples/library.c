// A library whose dynamic symbols the tests know.
#include <unistd.h>

extern int sample_undefined(void);
extern int sample_undefined_weak(void) __attribute__((weak));

const char sample_version_string[] = "7.8.9";
int sample_data = 3;
int MPI_Sample_b(void) { return sample_undefined(); }
int MPI_Sample_a(void) { return sample_undefined_weak ? sample_undefined_weak() : getpid(); }
int sample_weak(void) __attribute__((weak));
int sample_weak(void) { return 1; }
int sample_hidden(void) __attribute__((visibility("hidden")));
int sample_hidden(void) { return 2; }
static int sample_local(void) { return 4; }
int (*sample_pointer)(void) = sample_local;
