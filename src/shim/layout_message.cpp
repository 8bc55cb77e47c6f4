#include "shim/layout_message.h"

#include <unistd.h>

#include <string>

#include "base/settings.h"
#include "shim/library_version.h"

namespace millrace::shim {

namespace {

enum class Family : std::uint8_t { other, openmpi, mpich4 };
enum class When : std::uint8_t { automatic, always, never };

// What does not change while the process runs.
struct Policy {
  Family family = Family::other;
  When when = When::automatic;
};

Family family_of(const std::string& version) {
  if (version.starts_with("Open MPI")) return Family::openmpi;
  const bool old = version.find("\t4.0") != std::string::npos || version.find("\t3.") != std::string::npos;
  return version.starts_with("MPICH Version:") && old ? Family::mpich4 : Family::other;
}

const Policy& policy() {
  static const Policy chosen = [] {
    const std::string when = setting_text(*find_setting("MILLRACE_LAYOUTS"), environ);
    return Policy{family_of(library_version()), when == "always"  ? When::always
                                                : when == "never" ? When::never
                                                                  : When::automatic};
  }();
  return chosen;
}

// MPICH 4.0 cannot receive contiguous bytes into a type whose elements its transport cuts (UCX's fragments are of 8256
// bytes): it reports a truncated message, also where no Millrace is near. Who receives ours may be such a rank.
bool may_be_refused(const Carried& carried, Direction direction) {
  return policy().family == Family::mpich4 && carried.is_mixed && direction != Direction::in;
}

// Where the whole exchange was measured to be faster (docs/results/layout_messages.md). Open MPI packs vectors while
// they travel, which is hard to beat; structures of several types are slow in every host. MPICH 4.0 moves what is not
// contiguous beyond its eager messages at a hundredth of the memory's speed.
bool pays(const Carried& carried) {
  if (policy().when != When::automatic) return policy().when == When::always;
  switch (policy().family) {
    case Family::openmpi: return carried.is_mixed;
    case Family::mpich4: return carried.is_mixed || carried.bytes >= 32768;
    case Family::other: break;
  }
  return false;
}

}  // namespace

Message::Message(const HostCall& call, std::size_t position, std::size_t peer_position, Direction direction)
    : position_(position), memory_(as_pointer(call.word(position))) {
  if (peer_position != no_peer && call.integer(peer_position) == abi::proc_null) return;
  carried_ = look_at(call, position, true);
  if (!carried_.layout) return;
  if (may_be_refused(carried_, direction) || !pays(carried_)) {
    carried_.layout = nullptr;
    carried_.reason =
        may_be_refused(carried_, direction) ? record::Reason::type_not_covered : record::Reason::host_is_faster;
    return;
  }
  buffer_ = Buffer(carried_.bytes);
  if (!buffer_) carried_.reason = record::Reason::no_buffer;
}

void Message::unpack(std::int64_t bytes) const {
  if (bytes == carried_.bytes)
    carried_.layout->unpack(buffer_.data(), memory_, carried_.count);
  else if (bytes > 0 && bytes < carried_.bytes)
    carried_.layout->unpack_segment(buffer_.data(), 0, bytes, memory_, carried_.count);
}

}  // namespace millrace::shim
