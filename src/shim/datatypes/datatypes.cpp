#include "shim/datatypes/datatypes.h"

#include <dlfcn.h>
#include <link.h>

#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

#include "base/hash.h"
#include "shim/bind/forward.h"
#include "shim/datatypes/datatypes_read.h"
#include "shim/host/bypass.h"

namespace millrace::shim {

constinit std::atomic<bool> datatypes_active{false};
constinit std::atomic<std::uint64_t> datatype_epoch{1};
constinit std::array<AddressRange, 2> predefined_ranges{};
constinit thread_local ThreadDatatypes* thread_datatypes = nullptr;

namespace {

using State = Datatype::State;

// Never destroyed: types may be freed by destructors of other libraries.
struct Known {
  std::shared_mutex mutex;
  std::unordered_map<Word, std::shared_ptr<Datatype>> by_handle;
};
Known& known() {
  alignas(Known) static unsigned char storage[sizeof(Known)];
  static Known* const instance = new (storage) Known;
  return *instance;
}

int keyval = 0;

int do_not_copy(Word, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return 0;
}

// Called by the host when the type is really gone: after MPI_Type_free, and when nothing under way uses it any more.
int forget(Word, int, void* attribute, void*) {
  auto* gone = static_cast<Datatype*>(attribute);
  std::shared_ptr<Datatype> last;  // destroyed outside the lock
  const std::unique_lock lock(known().mutex);
  const auto found = known().by_handle.find(gone->handle);
  if (found != known().by_handle.end() && found->second.get() == gone) {
    last = std::move(found->second);
    known().by_handle.erase(found);
  }
  datatype_epoch.fetch_add(1, std::memory_order_release);
  return 0;
}

// Frees the slots of a thread that ends.
struct Slots {
  ~Slots() {
    delete thread_datatypes;
    thread_datatypes = nullptr;
  }
  void touch() {}
};
thread_local Slots slots_of_thread;

ThreadDatatypes* own_slots() {
  if (!thread_datatypes) {
    thread_datatypes = new (std::nothrow) ThreadDatatypes;
    slots_of_thread.touch();
  }
  return thread_datatypes;
}

// The writable segment that holds `data`, as a range of addresses.
struct DatatypeSearch {
  Word data;
  AddressRange found;
};
int find_segment(dl_phdr_info* object, std::size_t, void* argument) {
  auto& search = *static_cast<DatatypeSearch*>(argument);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const Word begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || search.data - begin >= segment.p_memsz) continue;
    search.found = {begin, segment.p_memsz};
    return 1;
  }
  return 0;
}

AddressRange segment_of(const void* data) {
  DatatypeSearch search{as_word(data), {}};
  if (data) dl_iterate_phdr(find_segment, &search);
  return search.found;
}

// A program that is not position-independent holds copies of those objects that it names, libmpi the others.
bool find_predefined() {
  if constexpr (!abi::handles_are_addresses) return true;
  predefined_ranges[0] = segment_of(find_host_object("ompi_mpi_byte"));
  for (const char* name : {"ompi_mpi_int", "ompi_mpi_double", "ompi_mpi_float", "ompi_mpi_char", "ompi_mpi_integer",
                           "ompi_mpi_dblprec", "ompi_mpi_datatype_null"}) {
    const AddressRange range = segment_of(find_host_object(name));
    if (range.bytes != 0 && range.begin != predefined_ranges[0].begin) predefined_ranges[1] = range;
  }
  return predefined_ranges[0].bytes != 0;
}

bool agrees_with_host(Word handle, const layout::Layout& layout) {
  std::int64_t lb = 0;
  std::int64_t extent = 0;
  int size = 0;
  if (host<Symbol::MPI_Type_size>(handle, as_word(&size)) != 0) return false;
  if (size != abi::undefined && size != layout.size_bytes()) return false;
  if (host<Symbol::MPI_Type_get_extent>(handle, as_word(&lb), as_word(&extent)) != 0) return false;
  if (lb != layout.lb_bytes() || extent != layout.extent_bytes()) return false;
  if (layout.size_bytes() == 0) return true;  // true bounds of nothing: a matter of taste
  if (host<Symbol::MPI_Type_get_true_extent>(handle, as_word(&lb), as_word(&extent)) != 0) return false;
  // Inside, not equal: MPICH counts the place of an element without data among the true bounds of a structure.
  return lb <= layout.true_lb_bytes() && lb + extent >= layout.true_lb_bytes() + layout.true_extent_bytes();
}

// The size of all predefined types in the tree; 0 if there are several, or pairs.
std::int64_t element_bytes(const layout::Description& description) {
  if (description.combiner == layout::Combiner::named)
    return description.pieces.size() == 1 ? description.pieces[0].length_bytes : 0;
  std::int64_t bytes = -1;
  const layout::Description* last = nullptr;
  for (const layout::DescriptionPtr& child : description.children) {
    if (child.get() == last) continue;
    last = child.get();
    const std::int64_t own = element_bytes(*child);
    if (bytes != -1 && own != bytes) return 0;
    bytes = own;
  }
  return bytes;
}

bool compile_into(Datatype& datatype) {
  const layout::DescriptionPtr description = read_datatype(datatype.handle);
  if (!description) return false;
  std::shared_ptr<const layout::Layout> layout;
  if (compile(*description, layout) != Status::ok || !agrees_with_host(datatype.handle, *layout)) return false;
  const std::int64_t bytes = element_bytes(*description);
  datatype.is_mixed = bytes <= 0 || bytes > 8;
  datatype.layout = std::move(layout);
  return true;
}

}  // namespace

bool prepare_datatypes() {
  if (datatypes_active.load(std::memory_order_relaxed)) return true;
  if (!find_predefined()) return false;
  if (host<Symbol::MPI_Type_create_keyval>(reinterpret_cast<Word>(&do_not_copy), reinterpret_cast<Word>(&forget),
                                           as_word(&keyval), 0) != 0)
    return false;
  known();
  datatypes_active.store(true, std::memory_order_relaxed);
  return true;
}

void forget_datatypes() {
  if (!datatypes_active.exchange(false, std::memory_order_relaxed)) return;
  host<Symbol::MPI_Type_free_keyval>(as_word(&keyval));  // lives on in the host until the last type is gone
}

const std::shared_ptr<Datatype>* find_datatype_slowly(Word handle) {
  ThreadDatatypes* own = own_slots();
  if (!own) return nullptr;
  DatatypeSlot& slot = own->slots[spread(handle) >> 58];
  // The epoch first: if the type dies after this, the slot is out of date already.
  slot.epoch = datatype_epoch.load(std::memory_order_acquire);
  slot.handle = 0;
  slot.datatype.reset();
  const std::shared_lock lock(known().mutex);
  const auto found = known().by_handle.find(handle);
  if (found == known().by_handle.end()) return nullptr;
  slot.handle = handle;
  slot.datatype = found->second;
  return &slot.datatype;
}

void remember_datatype(Word handle) try {
  auto datatype = std::make_shared<Datatype>(handle);
  {
    const std::unique_lock lock(known().mutex);
    if (!known().by_handle.emplace(handle, datatype).second) return;  // another thread was faster
  }
  if (host<Symbol::MPI_Type_set_attr>(handle, as_word(keyval), as_word(datatype.get())) == 0) return;
  const std::unique_lock lock(known().mutex);
  known().by_handle.erase(handle);
} catch (const std::bad_alloc&) {
  // The type stays unknown: the host does its calls.
}

void compile_datatype(Datatype& datatype) {
  State expected = State::seen;
  if (!datatype.state.compare_exchange_strong(expected, State::compiling, std::memory_order_acquire)) return;
  find_bypassed_entries();  // rare enough to ask what has been loaded since
  bool compiled = false;
  try {
    compiled = compile_into(datatype);
  } catch (const std::bad_alloc&) {
    compiled = false;
  }
  datatype.state.store(compiled ? State::ready : State::refused, std::memory_order_release);
}

}  // namespace millrace::shim
