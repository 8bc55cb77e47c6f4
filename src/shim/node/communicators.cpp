#include "shim/node/communicators.h"

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "abi.h"
#include "base/hash.h"
#include "shim/bind/forward.h"
#include "shim/node/announce.h"
#include "shim/node/node_accord.h"
#include "shim/node/node_agreement.h"
#include "shim/node/node_group.h"
#include "shim/node/nodes_accord.h"

namespace millrace::shim {

constinit std::atomic<std::uint64_t> communicator_generation{1};

Communicator::Communicator() = default;

Communicator::~Communicator() {
  if ((accord || nodes_accord) && stage == Stage::undecided) announce(*this);
  if ((accord || nodes_accord) && !is_background) agreement_ended(group ? group->group().calls() : 0);
  group.reset();  // before the last rank gives its memory back, and before what it goes over ends
}

namespace {

std::mutex registry_mutex;
std::unordered_map<Word, std::unique_ptr<Communicator>>& registry() {
  // Never destroyed: communicators may be freed by other libraries' destructors.
  static auto& communicators = *new std::unordered_map<Word, std::unique_ptr<Communicator>>;
  return communicators;
}

int keyval = 0;
bool has_keyval = false;  // hosts use any number, negative ones too

struct RememberedCommunicator {
  Word handle = 0;
  std::uint64_t generation = 0;
  Communicator* communicator = nullptr;
};
thread_local std::array<RememberedCommunicator, 8> remembered __attribute__((tls_model("initial-exec")));

RememberedCommunicator& place_of(Word handle) { return remembered[(spread(handle) >> 61) % remembered.size()]; }

// Callbacks of the attribute. MPI passes a handle and pointers: one word each in every ABI.
int do_not_copy(Word, Word, void*, void*, void*, int* flag) {
  *flag = 0;
  return 0;
}

int forget(Word comm, Word, void*, void*) {
  std::unique_ptr<Communicator> ended;
  {
    const std::lock_guard lock(registry_mutex);
    const auto found = registry().find(abi::handle(comm));
    if (found == registry().end()) return 0;
    ended = std::move(found->second);
    registry().erase(found);
    communicator_generation.fetch_add(1, std::memory_order_release);  // with the acquire in find_communicator()
  }
  return 0;
}

}  // namespace

bool prepare_communicators() {
  has_keyval = host<Symbol::MPI_Comm_create_keyval>(reinterpret_cast<Word>(&do_not_copy),
                                                    reinterpret_cast<Word>(&forget), as_word(&keyval), 0) == 0;
  return has_keyval;
}

void forget_communicators() {
  if (!has_keyval) return;
  // Attributes of communicators that are still alive are left to MPI_Finalize, which calls nobody of ours any more once
  // the map is empty.
  std::unordered_map<Word, std::unique_ptr<Communicator>> ended;
  {
    const std::lock_guard lock(registry_mutex);
    ended.swap(registry());
    communicator_generation.fetch_add(1, std::memory_order_release);
  }
  ended.clear();
  host<Symbol::MPI_Comm_free_keyval>(as_word(&keyval));
  has_keyval = false;
}

Communicator* find_communicator(Word handle) {
  RememberedCommunicator& place = place_of(handle);
  const std::uint64_t now = communicator_generation.load(std::memory_order_acquire);  // with the releases above
  if (place.handle == handle && place.generation == now) return place.communicator;
  const std::lock_guard lock(registry_mutex);
  const auto found = registry().find(handle);
  if (found == registry().end()) return nullptr;
  place = {handle, now, found->second.get()};
  return place.communicator;
}

Communicator* register_communicator(Word handle, const node::Identity* identity) noexcept try {
  static std::atomic<std::uint64_t> registered{0};
  if (!has_keyval) return nullptr;
  auto communicator = std::make_unique<Communicator>();
  Communicator* result = communicator.get();
  communicator->handle = handle;
  communicator->serial = registered.fetch_add(1, std::memory_order_relaxed) + 1;
  communicator->has_identity = identity && !(*identity == node::Identity{});
  if (communicator->has_identity) communicator->identity = *identity;
  int between = 0;
  if (host<Symbol::MPI_Comm_test_inter>(handle, as_word(&between)) != 0 ||
      host<Symbol::MPI_Comm_rank>(handle, as_word(&communicator->rank)) != 0 ||
      host<Symbol::MPI_Comm_size>(handle, as_word(&communicator->ranks)) != 0)
    return nullptr;
  communicator->between = between != 0;
  if (between) {
    communicator->stage = Communicator::Stage::host;
    communicator->reason = record::Reason::intercommunicator;
  } else if (communicator->ranks == 1) {
    communicator->stage = Communicator::Stage::host;
    communicator->reason = record::Reason::host_is_faster;
  } else if (!communicator->has_identity) {
    communicator->stage = Communicator::Stage::host;  // made out of our sight
  }
  {
    const std::lock_guard lock(registry_mutex);
    const auto [position, is_new] = registry().try_emplace(handle, std::move(communicator));
    if (!is_new) return position->second.get();
  }
  if (host<Symbol::MPI_Comm_set_attr>(handle, static_cast<Word>(keyval), as_word(result)) != 0) {
    // Nobody would tell us when it ends.
    const std::lock_guard lock(registry_mutex);
    registry().erase(handle);
    communicator_generation.fetch_add(1, std::memory_order_release);
    return nullptr;
  }
  return result;
} catch (...) {
  return nullptr;
}

}  // namespace millrace::shim
