#include "shim/packed/packed_side.h"

#include "kernel/copy/row.h"
#include "shim/datatypes/wire_types.h"
#include "shim/host/device_memory.h"
#include "shim/host/quiet_comm.h"

namespace millrace::shim {

using Blocks = ExchangeSide::Blocks;
using record::Reason;

// False: the host's, for reason_.
bool PackedSide::find_type(Word handle, bool types_at_once, Type& type) {
  if (type.handle == handle) return true;
  type = {};
  if (is_predefined(handle)) {
    const std::optional<WireType> wire = wire_type(handle);
    reason_ = Reason::type_not_covered;
    if (!wire || !wire->plain) return false;
    type = {handle, nullptr, wire->size_bytes, wire->extent_bytes, false};
    return true;
  }
  const std::shared_ptr<Datatype>* known = find_datatype(handle);
  if (!known && types_at_once && is_committed(handle)) {
    remember_datatype(handle);
    known = find_datatype(handle);
  }
  reason_ = Reason::first_use;
  if (!known) {
    unknown_.push_back(handle);
    return false;
  }
  const std::shared_ptr<Datatype> datatype = *known;  // reading it calls MPI
  if (datatype->state.load(std::memory_order_acquire) == Datatype::State::seen) compile_datatype(*datatype);
  const Datatype::State state = datatype->state.load(std::memory_order_acquire);
  if (state == Datatype::State::refused) reason_ = datatype->refusal;
  if (state != Datatype::State::ready) return false;
  const layout::Layout& layout = *datatype->layout;
  type = {handle, datatype->layout, layout.size_bytes(), layout.extent_bytes(), datatype->is_mixed};
  return true;
}

// Elements that lie as those of the block before would go on are one block with it.
void PackedSide::add(const Type& type, Word address, std::int64_t count, BlockRole role) {
  const std::int64_t bytes = count * type.size_bytes;
  if (role.outgoing || role.incoming) {
    receives_ = receives_ || role.incoming;
    Block* const last = blocks_.empty() ? nullptr : &blocks_.back();
    // Without a layout the blocks may be of different types, whose data are rows of bytes.
    const std::int64_t reach = last && last->layout ? last->count * type.extent_bytes : last ? last->bytes : 0;
    if (last && last->layout == type.layout && last->offset_bytes + last->bytes == bytes_ &&
        last->address + static_cast<Word>(reach) == address && last->role.outgoing == role.outgoing &&
        last->role.incoming == role.incoming) {
      last->count += count;
      last->bytes += bytes;
    } else {
      blocks_.push_back({type.layout, address, count, bytes, bytes_, role});
    }
  }
  bytes_ += bytes;
}

// Fills in blocks_ and places_. Reason::none if the side is ours.
Reason PackedSide::list(const ExchangeCall& call, std::span<const BlockRole> roles, Goes goes, bool types_at_once) {
  const ExchangeSide& side = *side_;
  if (call.is_in_place(side)) return Reason::invalid_argument;
  const Word buffer = call.buffer(side);
  if (buffer == 0) return Reason::invalid_argument;  // addresses of data among the displacements, or a mistake
  const bool array = side.blocks == Blocks::array;
  const Traffic traffic = traffic_of(call.shape);
  if (array) places_.resize(roles.size());
  Type type;
  if (!side.own_types) {
    const Word handle = call.datatype(side, 0);
    if (is_predefined(handle)) return Reason::not_accelerated;
    if (!find_type(handle, types_at_once, type)) return reason_;
    if (type.size_bytes <= 0) return Reason::host_is_faster;
  }
  // Bytes of blocks that we move faster than the host; of what else there is, we are content to be as fast.
  std::int64_t gain_bytes = 0;
  bool derived = !side.own_types;
  bool complete = true;
  Reason refusal = Reason::host_is_faster;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const std::int64_t count = call.count(side, i);
    if (count < 0) return Reason::invalid_argument;
    if (array) places_[i] = {bytes_, type.size_bytes};
    if (count == 0) continue;
    if (side.own_types) {
      const Word handle = call.datatype(side, i);
      derived = derived || !is_predefined(handle);
      if (!find_type(handle, types_at_once, type)) {
        complete = false;  // those that follow may be unknown, too
        continue;
      }
      places_[i].size_bytes = type.size_bytes;
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(count, type.size_bytes, &bytes) || bytes > most_bytes - bytes_)
      return Reason::large_count;
    if (bytes == 0) continue;
    if (type.layout && type.layout->worth_taking(count)) {
      const Reason reason = policy_on(*type.layout, type.is_mixed, count, bytes, goes, traffic);
      if (reason == Reason::type_not_covered || reason == Reason::fault_tolerance) return reason;
      if (reason == Reason::none) gain_bytes += bytes;
    }
    std::int64_t distance = 0;
    if (side.own_types)
      distance = call.displacement(side, i);
    else if (array)
      distance = call.displacement(side, i) * type.extent_bytes;
    else
      distance = static_cast<std::int64_t>(i) * count * type.extent_bytes;
    const Word address = buffer + static_cast<Word>(distance);
    if (is_device_memory(address + (type.layout ? static_cast<Word>(type.layout->true_lb_bytes()) : 0)))
      return Reason::device_memory;
    add(type, address, count, roles[i]);
  }
  if (!derived) return Reason::not_accelerated;
  if (!complete) return reason_;
  return gain_bytes == 0 || gain_bytes < bytes_ - gain_bytes || blocks_.empty() ? refusal : Reason::none;
}

Reason PackedSide::make_arguments(const ExchangeCall& call, std::size_t blocks) {
  const ExchangeSide& side = *side_;
  if (!side.own_types) {
    const Word handle = call.datatype(side, 0);
    Type type;
    if (!find_type(handle, false, type)) return reason_;
    type_ = packed_type(type.size_bytes);
    if (type_.handle == 0) return Reason::no_buffer;
  }
  if (side.blocks != Blocks::array) return Reason::none;
  wide_ = call.has_wide_displacements();
  if (wide_)
    wide_displacements_.resize(blocks);
  else
    displacements_.resize(blocks);
  if (side.own_types) (call.from_fortran() ? fortran_types_.resize(blocks) : types_.resize(blocks));
  for (std::size_t i = 0; i < blocks; ++i) {
    const Place& place = places_[i];
    const std::int64_t unit = side.own_types ? 1 : place.size_bytes;
    const std::int64_t displacement = place.first_bytes / unit;
    if (wide_)
      wide_displacements_[i] = displacement;
    else
      displacements_[i] = static_cast<int>(displacement);
    if (!side.own_types) continue;
    // What a block without elements has for a datatype does not matter.
    const HostType type = packed_type(place.size_bytes > 0 ? place.size_bytes : 1);
    if (type.handle == 0) return Reason::no_buffer;
    if (call.from_fortran())
      fortran_types_[i] = type.fortran_handle;
    else
      types_[i] = static_cast<abi::HandleStorage>(type.handle);
  }
  return Reason::none;
}

void PackedSide::open(const ExchangeCall& call, const ExchangeSide& side, std::span<const BlockRole> roles, Goes goes,
                      bool types_at_once) {
  side_ = &side;
  reason_ = list(call, roles, goes, types_at_once);
  if (reason_ == Reason::none) reason_ = make_arguments(call, roles.size());
  if (reason_ != Reason::none) return;
  buffer_ = Buffer(bytes_);
  if (!buffer_) reason_ = Reason::no_buffer;
}

void PackedSide::pack() const {
  if (!is_ours()) return;
  for (const Block& block : blocks_) {
    if (!block.role.outgoing) continue;
    char* const packed = static_cast<char*>(buffer_.data()) + block.offset_bytes;
    if (block.layout)
      block.layout->pack(as_pointer(block.address), block.count, packed);
    else
      kernel::copy_row(packed, as_pointer(block.address), static_cast<std::size_t>(block.bytes));
  }
}

void PackedSide::unpack() const {
  if (!is_ours()) return;
  for (const Block& block : blocks_) {
    if (!block.role.incoming) continue;
    const char* const packed = static_cast<const char*>(buffer_.data()) + block.offset_bytes;
    if (block.layout)
      block.layout->unpack(packed, as_pointer(block.address), block.count);
    else
      kernel::copy_row(as_pointer(block.address), packed, static_cast<std::size_t>(block.bytes));
  }
}

void PackedSide::put_into(HostCall& call) {
  if (!is_ours()) return;
  const ExchangeSide& side = *side_;
  call.set_word(side.buffer, as_word(buffer_.data()));
  if (side.blocks == Blocks::array)
    call.set_word(side.displacements, wide_ ? as_word(wide_displacements_.data()) : as_word(displacements_.data()));
  if (side.own_types)
    call.set_word(side.datatype, call.from_fortran() ? as_word(fortran_types_.data()) : as_word(types_.data()));
  else
    call.set_word(side.datatype, call.from_fortran() ? as_word(&type_.fortran_handle) : type_.handle);
}

}  // namespace millrace::shim
