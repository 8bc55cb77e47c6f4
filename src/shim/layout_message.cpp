#include "shim/layout_message.h"

#include <unistd.h>

#include <string>

#include "base/settings.h"
#include "plan/layout_messages.h"
#include "shim/host_progress.h"
#include "shim/library_version.h"
#include "shim/tuning.h"

namespace millrace::shim {

namespace {

enum class When : std::uint8_t { automatic, always, never };

// What does not change while the process runs.
struct Policy {
  plan::MessageRanges ranges{};
  bool refuses_cut_elements = false;
  When when = When::automatic;
};

const Policy& policy() {
  static const Policy chosen = [] {
    const std::string when = setting_text(*find_setting("MILLRACE_LAYOUTS"), environ);
    const std::string version = library_version();
    return Policy{tuning().ranges(plan::host_family(version)),
                  version.starts_with("MPICH Version:") &&
                      (version.find("\t4.0") != std::string::npos || version.find("\t3.") != std::string::npos),
                  when == "always"  ? When::always
                  : when == "never" ? When::never
                                    : When::automatic};
  }();
  return chosen;
}

// MPICH 4.0 cannot receive contiguous bytes into a type whose elements its transport cuts (UCX's fragments are of 8256
// bytes): it reports a truncated message, also where no Millrace is near. Who receives ours may be such a rank.
bool may_be_refused(const Carried& carried, Direction direction) {
  return policy().refuses_cut_elements && carried.is_mixed && direction != Direction::in;
}

// Where the whole exchange was measured to be faster (src/plan/layout_messages.h).
bool pays(const Carried& carried) {
  const Policy& chosen = policy();
  if (chosen.when != When::automatic) return chosen.when == When::always;
  const layout::Layout& layout = *carried.layout;
  const plan::LayoutClass layout_class =
      plan::layout_class(carried.is_mixed, layout.is_list(), layout.mean_block_bytes(), carried.bytes,
                         layout.touched_bytes(carried.count));
  return chosen.ranges[static_cast<std::size_t>(layout_class)].holds(carried.bytes);
}

}  // namespace

Message::Message(const HostCall& call, std::size_t position, std::size_t peer_position, Direction direction,
                 FirstUse first_use)
    : position_(position) {
  if (peer_position != no_peer && call.integer(peer_position) == abi::proc_null) return;
  carried_ = look_at(call, position, true);
  if (carried_.unknown != 0 && first_use == FirstUse::ours && is_committed(carried_.unknown)) {
    remember_datatype(carried_.unknown);
    carried_ = look_at(call, position, true);
  }
  if (!carried_.layout) return;
  memory_ = as_pointer(carried_.base);
  if (may_be_refused(carried_, direction) || !pays(carried_)) {
    carried_.layout = nullptr;
    carried_.reason =
        may_be_refused(carried_, direction) ? record::Reason::type_not_covered : record::Reason::host_is_faster;
    return;
  }
  if (abi::host_abi == HostAbi::openmpi && direction != Direction::out) {
    split_ = split_type(carried_.bytes);
    if (split_.handle != 0) buffer_ = Buffer(carried_.bytes + split_gap_bytes);
  } else {
    buffer_ = Buffer(carried_.bytes);
  }
  if (!buffer_) carried_.reason = record::Reason::no_buffer;
}

void Message::put_into(HostCall& call) const {
  if (split_.handle != 0)
    call.set_split(position_, buffer_.data(), split_);
  else
    call.set_bytes(position_, buffer_.data(), carried_.bytes);
}

char* Message::second_part() const { return static_cast<char*>(buffer_.data()) + split_.first_bytes + split_gap_bytes; }

void Message::pack() const {
  const std::int64_t first = split_.first_bytes;
  if (split_.handle == 0) {
    carried_.layout->pack(memory_, carried_.count, buffer_.data());
  } else {
    carried_.layout->pack_segment(memory_, carried_.count, 0, first, buffer_.data());
    carried_.layout->pack_segment(memory_, carried_.count, first, carried_.bytes - first, second_part());
  }
}

void Message::unpack(std::int64_t bytes) const {
  if (bytes <= 0 || bytes > carried_.bytes) return;
  const std::int64_t first = split_.first_bytes;
  if (split_.handle != 0) {
    carried_.layout->unpack_segment(buffer_.data(), 0, bytes < first ? bytes : first, memory_, carried_.count);
    if (bytes > first) carried_.layout->unpack_segment(second_part(), first, bytes - first, memory_, carried_.count);
  } else if (bytes == carried_.bytes)
    carried_.layout->unpack(buffer_.data(), memory_, carried_.count);
  else
    carried_.layout->unpack_segment(buffer_.data(), 0, bytes, memory_, carried_.count);
}

}  // namespace millrace::shim
