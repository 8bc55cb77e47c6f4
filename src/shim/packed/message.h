// One direction of a message whose datatype is a layout's: what goes out is packed, what came in is unpacked.
#pragma once

#include "shim/packed/buffer_pool.h"
#include "shim/packed/host_call.h"
#include "shim/packed/tried_messages.h"

namespace millrace::shim {

enum class Direction : std::uint8_t { out, in, both };

// When a datatype that is used for the first time may be ours: after the host has accepted it in a call, or, where
// there may be no second call (persistent requests), at once if the host says that it is committed.
enum class FirstUse : std::uint8_t { host, ours };

// Looks at the triple at `position` and, if it is ours, gets a buffer for its packed bytes. The peer must be a rank.
class PackedMessage {
 public:
  PackedMessage(const HostCall& call, std::size_t position, PeerPlaces peer, Direction direction,
                plan::MessageForm form, FirstUse first_use = FirstUse::host);

  bool is_ours() const { return static_cast<bool>(buffer_); }
  const Carried& carried() const { return carried_; }

  void pack() const;
  // Of a message of `bytes` bytes, at most those of the whole; -1 for none that came.
  void unpack(std::int64_t bytes) const;
  // Puts the buffer into the call in place of the program's.
  void put_into(HostCall& call) const;

 private:
  char* second_part() const;

  std::size_t position_;
  void* memory_ = nullptr;
  Carried carried_;
  Buffer buffer_;
  HostType split_;  // of packed bytes that lie in two parts; handle 0: they are a row
};

}  // namespace millrace::shim
