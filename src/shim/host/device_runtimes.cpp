#include "shim/host/device_runtimes.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace millrace::shim {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// ---- CUDA's driver: cuPointerGetAttributes() knows every address, of any context, and fails for none ----

int (*cuda_attributes)(unsigned, const int*, void**, unsigned long long) = nullptr;

bool is_cuda_device(Word address) {
  constexpr int memory_type = 2, is_managed = 8;  // CU_POINTER_ATTRIBUTE_
  constexpr int device = 2, array = 3;            // CU_MEMORYTYPE_
  const int wanted[] = {memory_type, is_managed};
  int type[4] = {}, managed[4] = {};  // an enumeration and a boolean, with room for more
  void* answers[] = {type, managed};
  if (cuda_attributes(2, wanted, answers, address) != 0) return false;
  return (type[0] == device || type[0] == array) && managed[0] == 0;
}

DeviceQuestion bind_cuda(void* library, const std::string&) {
  return find(library, "cuPointerGetAttributes", cuda_attributes) ? is_cuda_device : nullptr;
}

// ---- HIP ----

struct HipAttributes {  // hipPointerAttribute_t, with room for what may be added
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned flags;
  void* more[16];
};

int (*hip_attributes)(HipAttributes*, const void*) = nullptr;
int (*hip_peek_error)() = nullptr;
int (*hip_take_error)() = nullptr;
int hip_device = 0, hip_array = 0;  // hipMemoryType, whose numbers have changed with ROCm 6

bool is_hip_device(Word address) {
  HipAttributes attributes{};
  const int former_error = hip_peek_error();
  if (hip_attributes(&attributes, as_pointer(address)) != 0) {
    // An address that it does not know is an error to some versions, which the program would find with its own next
    // look at errors.
    if (former_error == 0) hip_take_error();
    return false;
  }
  return (attributes.type == hip_device || attributes.type == hip_array) && attributes.is_managed == 0;
}

DeviceQuestion bind_hip(void* library, const std::string& path) {
  int (*version_of)(int*) = nullptr;
  if (!find(library, "hipPointerGetAttributes", hip_attributes) ||
      !find(library, "hipPeekAtLastError", hip_peek_error) || !find(library, "hipGetLastError", hip_take_error) ||
      !find(library, "hipRuntimeGetVersion", version_of))
    return nullptr;
  bool numbers_changed = true;
  int version = 0;
  if (version_of(&version) == 0)
    numbers_changed = version >= 60000000;
  else
    numbers_changed = path.find(".so.5") == std::string::npos && path.find(".so.4") == std::string::npos;
  hip_device = numbers_changed ? 2 : 1;
  hip_array = numbers_changed ? 10 : 2;
  return is_hip_device;
}

// ---- Level Zero: an address is known to a driver, which is asked through any context of it. We make one of our own
// for each, when somebody else has initialised the loader; it allocates nothing ----

struct ZeContextDescription {  // ze_context_desc_t
  int kind = 0xd;
  const void* next = nullptr;
  unsigned flags = 0;
};
struct ZeAllocation {  // ze_memory_allocation_properties_t
  int kind = 0x17;
  void* next = nullptr;
  int type = 0;
  std::uint64_t id = 0;
  std::uint64_t page_bytes = 0;
};

int (*ze_drivers)(unsigned*, void**) = nullptr;
int (*ze_make_context)(void*, const ZeContextDescription*, void**) = nullptr;
int (*ze_allocation)(void*, const void*, ZeAllocation*, void**) = nullptr;
std::atomic<const std::vector<void*>*> ze_contexts{nullptr};  // release by who makes them, acquire by who asks
std::mutex& making_contexts = *new std::mutex;

const std::vector<void*>* make_contexts() {
  unsigned count = 0;
  if (ze_drivers(&count, nullptr) != 0 || count == 0) return nullptr;
  const std::lock_guard hold(making_contexts);
  if (const std::vector<void*>* made = ze_contexts.load(std::memory_order_acquire)) return made;
  std::vector<void*> drivers(count);
  if (ze_drivers(&count, drivers.data()) != 0) return nullptr;
  auto* const contexts = new std::vector<void*>;  // kept for ever
  const ZeContextDescription description;
  for (void* const driver : drivers) {
    void* context = nullptr;
    if (driver && ze_make_context(driver, &description, &context) == 0) contexts->push_back(context);
  }
  ze_contexts.store(contexts, std::memory_order_release);
  return contexts;
}

bool is_ze_device(Word address) {
  constexpr int device = 2;  // ZE_MEMORY_TYPE_DEVICE
  const std::vector<void*>* contexts = ze_contexts.load(std::memory_order_acquire);
  if (!contexts) contexts = make_contexts();
  if (!contexts) return false;
  for (void* const context : *contexts) {
    ZeAllocation allocation;
    if (ze_allocation(context, as_pointer(address), &allocation, nullptr) == 0 && allocation.type == device)
      return true;
  }
  return false;
}

DeviceQuestion bind_ze(void* library, const std::string&) {
  return find(library, "zeDriverGet", ze_drivers) && find(library, "zeContextCreate", ze_make_context) &&
                 find(library, "zeMemGetAllocProperties", ze_allocation)
             ? is_ze_device
             : nullptr;
}

}  // namespace

const std::array<DeviceRuntime, device_runtime_count>& device_runtimes() {
  static constexpr std::array<DeviceRuntime, device_runtime_count> all{
      {{"libcuda.so", bind_cuda}, {"libamdhip64.so", bind_hip}, {"libze_loader.so", bind_ze}}};
  return all;
}

}  // namespace millrace::shim
