/* A stand-in for a GPU runtime: "device memory" that the processor cannot touch, but for a second view of it that only
 * the stand-in knows. Compiled as libcuda.so.1 (-DCUDA), libamdhip64.so.6 (-DHIP) or libze_loader.so.1 (-DZE), each
 * with as much of that library as is asked about addresses, and functions of its own for programs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { device_bytes = 64 << 20, alignment = 64 };
enum kind { unknown, device, managed, pinned };

static char *device_view, *second_view, *managed_memory, *pinned_memory;
static size_t used[4];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void) {
  const int file = memfd_create("device memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, device_bytes) != 0) return;
  device_view = mmap(NULL, device_bytes, PROT_NONE, MAP_SHARED, file, 0);
  second_view = mmap(NULL, device_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  managed_memory = mmap(NULL, device_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pinned_memory = mmap(NULL, device_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  close(file);
}

static int lies_in(const void* address, const char* memory) {
  return memory && (const char*)address >= memory && (const char*)address < memory + device_bytes;
}

static enum kind kind_of(const void* address) {
  if (lies_in(address, device_view)) return device;
  if (lies_in(address, managed_memory)) return managed;
  if (lies_in(address, pinned_memory)) return pinned;
  return unknown;
}

/* ---- for programs and for the stand-in of a GPU-aware host ---- */

void* stand_in_allocate(int kind, size_t bytes) {
  pthread_once(&once, make);
  char* const memory[] = {NULL, device_view, managed_memory, pinned_memory};
  const size_t first = used[kind];
  used[kind] += (bytes + alignment - 1) / alignment * alignment;
  return used[kind] <= device_bytes ? memory[kind] + first : NULL;
}

void stand_in_release_all(void) { memset(used, 0, sizeof used); }

/* Where the processor finds what is at an address. */
void* stand_in_touchable(const void* address) {
  return lies_in(address, device_view) ? second_view + ((const char*)address - device_view) : (void*)address;
}

/* ---- what the runtime answers ---- */

#ifdef CUDA
int cuPointerGetAttributes(unsigned count, const int* wanted, void** answers, unsigned long long address) {
  const enum kind kind = kind_of((const void*)(uintptr_t)address);
  for (unsigned i = 0; i < count; ++i) {
    if (wanted[i] == 2) *(unsigned*)answers[i] = kind == unknown ? 0 : kind == pinned ? 1 : 2;
    if (wanted[i] == 8) *(unsigned*)answers[i] = kind == managed;
  }
  return 0;
}
#endif

#ifdef HIP
struct attributes {
  int type, device;
  void *device_address, *host_address;
  int is_managed;
  unsigned flags;
};
static __thread int last_error;

int hipPeekAtLastError(void) { return last_error; }
int hipGetLastError(void) {
  const int error = last_error;
  last_error = 0;
  return error;
}
int hipRuntimeGetVersion(int* version) {
  *version = HIP;
  return 0;
}
int hipPointerGetAttributes(struct attributes* attributes, const void* address) {
  static const int old_types[] = {0, 1, 1, 0}, new_types[] = {0, 2, 3, 1};
  const enum kind kind = kind_of(address);
  memset(attributes, 0, sizeof *attributes);
  if (kind == unknown && HIP < 60000000) return last_error = 1;
  attributes->type = (HIP < 60000000 ? old_types : new_types)[kind];
  attributes->is_managed = kind == managed;
  return 0;
}
#endif

#ifdef ZE
struct allocation {
  int kind;
  void* next;
  int type;
  uint64_t id, page_bytes;
};
static int initialised;

int zeInit(unsigned flags) {
  (void)flags;
  initialised = 1;
  return 0;
}
int zeDriverGet(unsigned* count, void** drivers) {
  if (!initialised) return 0x78000001;
  if (drivers && *count > 0) drivers[0] = &initialised;
  *count = 1;
  return 0;
}
int zeContextCreate(void* driver, const void* description, void** context) {
  if (driver != &initialised || *(const int*)description != 0xd) return 0x78000004;
  *context = &used;
  return 0;
}
int zeMemGetAllocProperties(void* context, const void* address, struct allocation* allocation, void** owner) {
  static const int types[] = {0, 2, 3, 1};
  (void)owner;
  if (context != &used || allocation->kind != 0x17) return 0x78000004;
  allocation->type = types[kind_of(address)];
  return 0;
}
#endif
