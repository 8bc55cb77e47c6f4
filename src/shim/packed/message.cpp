#include "shim/packed/message.h"

#include "shim/host/quiet_comm.h"
#include "shim/packed/policy.h"
#include "shim/packed/split_types.h"

namespace millrace::shim {

PackedMessage::PackedMessage(const HostCall& call, std::size_t position, PeerPlaces peer, Direction direction,
                             plan::MessageForm form, FirstUse first_use)
    : position_(position) {
  if (peer.is_known() && call.integer(peer.rank) == abi::proc_null) return;
  carried_ = look_at(call, position, Carrying::message);
  if (carried_.unknown != 0 && first_use == FirstUse::ours && is_committed(carried_.unknown)) {
    remember_datatype(carried_.unknown);
    carried_ = look_at(call, position, Carrying::message);
  }
  if (!carried_.layout) return;
  memory_ = as_pointer(carried_.base);
  const record::Reason by_table = policy_on(*carried_.layout, carried_.is_mixed, carried_.count, carried_.bytes,
                                            direction == Direction::in ? Goes::in : Goes::out);
  const bool is_counted = first_use == FirstUse::host;  // persistent ones are begun elsewhere
  const WhoseMessage whose =
      whose_message(call, carried_, by_table, is_counted ? peer : PeerPlaces{}, direction != Direction::in, form);
  carried_.reason = whose.reason;
  if (carried_.reason != record::Reason::none) {
    carried_.by_type = whose.is_final;
    carried_.layout = nullptr;
    return;
  }
  if (abi::writes_past_receive_buffers && direction != Direction::out) {
    split_ = split_type(carried_.bytes);
    if (split_.handle != 0) buffer_ = Buffer(carried_.bytes + split_gap_bytes);
  } else {
    buffer_ = Buffer(carried_.bytes);
  }
  if (!buffer_) carried_.reason = record::Reason::no_buffer;
}

void PackedMessage::put_into(HostCall& call) const {
  if (split_.handle != 0)
    call.set_type(position_, buffer_.data(), split_);
  else
    call.set_bytes(position_, buffer_.data(), carried_.bytes);
}

char* PackedMessage::second_part() const {
  return static_cast<char*>(buffer_.data()) + split_first_bytes(carried_.bytes) + split_gap_bytes;
}

void PackedMessage::pack() const {
  const std::int64_t first = split_first_bytes(carried_.bytes);
  if (split_.handle == 0) {
    carried_.layout->pack(memory_, carried_.count, buffer_.data());
  } else {
    carried_.layout->pack_segment(memory_, carried_.count, 0, first, buffer_.data());
    carried_.layout->pack_segment(memory_, carried_.count, first, carried_.bytes - first, second_part());
  }
}

void PackedMessage::unpack(std::int64_t bytes) const {
  if (bytes <= 0 || bytes > carried_.bytes) return;
  const std::int64_t first = split_first_bytes(carried_.bytes);
  if (split_.handle != 0) {
    carried_.layout->unpack_segment(buffer_.data(), 0, bytes < first ? bytes : first, memory_, carried_.count);
    if (bytes > first) carried_.layout->unpack_segment(second_part(), first, bytes - first, memory_, carried_.count);
  } else if (bytes == carried_.bytes)
    carried_.layout->unpack(buffer_.data(), memory_, carried_.count);
  else
    carried_.layout->unpack_segment(buffer_.data(), 0, bytes, memory_, carried_.count);
}

}  // namespace millrace::shim
