#include "shim/packed/pack.h"

#include "positions.h"
#include "shim/host/device_memory.h"

namespace millrace::shim {
namespace {

using record::Reason;

// Whether [position, position + bytes) lies inside a buffer of `size` bytes.
bool fits(std::int64_t position, std::int64_t bytes, std::int64_t size) {
  return position >= 0 && bytes <= size && position <= size - bytes;
}

// The layout of a compiled type; null with `who` saying whose call it is.
const layout::Layout* ready_layout(Word handle, std::int64_t count, AtOnce& who) {
  who = AtOnce::unknown;
  const std::shared_ptr<Datatype>* const known = find_datatype(handle);
  if (!known || (*known)->state.load(std::memory_order_acquire) != Datatype::State::ready) return nullptr;
  const layout::Layout* const layout = (*known)->layout.get();
  if (count > 0 && layout->worth_packing(count)) return layout;
  who = AtOnce::hosts;
  return nullptr;
}

bool touches_device(const layout::Layout& layout, Word data, Word packed) {
  return is_device_memory(data + static_cast<Word>(layout.true_lb_bytes()), packed);
}

// `position` of either width.
class Position {
 public:
  Position(const HostCall& call, std::size_t at)
      : address_(as_pointer(call.word(at))), large_(call.has_large_counts()) {}
  std::int64_t get() const {
    return large_ ? *static_cast<const std::int64_t*>(address_) : *static_cast<const int*>(address_);
  }
  void set(std::int64_t value) {
    if (large_)
      *static_cast<std::int64_t*>(address_) = value;
    else
      *static_cast<int*>(address_) = static_cast<int>(value);
  }

 private:
  void* address_;
  bool large_;
};

std::byte* byte_at(Word buffer, std::int64_t offset) { return static_cast<std::byte*>(as_pointer(buffer)) + offset; }

// Where the words of the two entries lie.
struct Places {
  std::size_t data;  // buffer, count, datatype
  std::size_t packed, packed_size, position, comm;
};
constexpr Places pack_places{at::Pack::inbuf, at::Pack::outbuf, at::Pack::outsize, at::Pack::position, at::Pack::comm};
constexpr Places unpack_places{at::Unpack::outbuf, at::Unpack::inbuf, at::Unpack::insize, at::Unpack::position,
                               at::Unpack::comm};

Reason refusal(const HostCall& call, const Places& places, std::int64_t bytes) {
  if (!call.is_real_buffer(places.packed) || call.word(places.position) == 0) return Reason::invalid_argument;
  // MPI_BOTTOM: MPICH 4 refuses it here.
  if (!call.is_real_buffer(places.data)) return Reason::invalid_argument;
  // A communicator that the host might refuse is the host's business.
  if (!abi::may_be_comm(call.comm(places.comm))) return Reason::invalid_argument;
  if (is_device_memory(call.word(places.packed))) return Reason::device_memory;
  const std::int64_t position = Position(call, places.position).get();
  return fits(position, bytes, call.count(places.packed_size)) ? Reason::none : Reason::invalid_argument;
}

}  // namespace

AtOnce packed_at_once(Word in, std::int64_t count, Word datatype, Word out, std::int64_t out_bytes,
                      std::int64_t& position, Word comm) {
  AtOnce who;
  const layout::Layout* const layout = ready_layout(datatype, count, who);
  std::int64_t bytes = 0;
  if (!layout) return who;
  if (abi::is_special_address(in) || abi::is_special_address(out) || !abi::may_be_comm(comm)) return AtOnce::unknown;
  if (layout->packed_bytes(count, bytes) != Status::ok || !fits(position, bytes, out_bytes)) return AtOnce::unknown;
  if (touches_device(*layout, in, out)) return AtOnce::unknown;
  if (layout->pack(as_pointer(in), count, byte_at(out, position)) != Status::ok) return AtOnce::unknown;
  position += bytes;
  return AtOnce::done;
}

AtOnce unpacked_at_once(Word in, std::int64_t in_bytes, std::int64_t& position, Word out, std::int64_t count,
                        Word datatype, Word comm) {
  AtOnce who;
  const layout::Layout* const layout = ready_layout(datatype, count, who);
  std::int64_t bytes = 0;
  if (!layout) return who;
  if (abi::is_special_address(in) || abi::is_special_address(out) || !abi::may_be_comm(comm)) return AtOnce::unknown;
  if (layout->packed_bytes(count, bytes) != Status::ok || !fits(position, bytes, in_bytes)) return AtOnce::unknown;
  if (touches_device(*layout, out, in)) return AtOnce::unknown;
  if (layout->unpack(byte_at(in, position), as_pointer(out), count) != Status::ok) return AtOnce::unknown;
  position += bytes;
  return AtOnce::done;
}

Word pack_call(HostCall call) {
  Carried carried = look_at(call, pack_places.data, Carrying::packing);
  if (carried.layout) carried.reason = refusal(call, pack_places, carried.bytes);
  if (!carried.layout || carried.reason != Reason::none) return pass_on(call, carried);
  Observation observation(call);
  Position position(call, pack_places.position);
  carried.layout->pack(as_pointer(carried.base), carried.count, byte_at(call.word(pack_places.packed), position.get()));
  position.set(position.get() + carried.bytes);
  observation.finish(LayoutAlgorithm::pack, carried.bytes, true);
  return call.succeed();
}

Word unpack_call(HostCall call) {
  Carried carried = look_at(call, unpack_places.data, Carrying::packing);
  if (carried.layout) carried.reason = refusal(call, unpack_places, carried.bytes);
  if (!carried.layout || carried.reason != Reason::none) return pass_on(call, carried);
  Observation observation(call);
  Position position(call, unpack_places.position);
  carried.layout->unpack(byte_at(call.word(unpack_places.packed), position.get()), as_pointer(carried.base),
                         carried.count);
  position.set(position.get() + carried.bytes);
  observation.finish(LayoutAlgorithm::unpack, carried.bytes, true);
  return call.succeed();
}

}  // namespace millrace::shim
