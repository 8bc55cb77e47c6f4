#include "shim/shared/exchange_blocks.h"

#include <algorithm>
#include <new>
#include <utility>

#include "collective/data.h"
#include "kernel/copy/row.h"
#include "shim/host/device_memory.h"
#include "shim/shared/device_staging.h"
#include "shim/shared/shared_attempt.h"

namespace millrace::shim {

using Blocks = ExchangeSide::Blocks;
using collective::Data;

void ExchangeBlocks::clear() {
  sends.clear();
  receives.clear();
  gathered.clear();
  sent.clear();
  walks_.clear();
  types_.clear();
  by_host_.clear();
  copies_.reset();
  type_ = nullptr;
}

void ExchangeBlocks::pack_part(void* walk, std::size_t first, std::size_t length, void* packed) {
  const auto& at = *static_cast<const Walk*>(walk);
  at.layout->pack_segment(at.base, at.count, static_cast<std::int64_t>(first), static_cast<std::int64_t>(length),
                          packed);
}

void ExchangeBlocks::unpack_part(void* walk, std::size_t first, std::size_t length, void* packed) {
  const auto& at = *static_cast<const Walk*>(walk);
  at.layout->unpack_segment(packed, static_cast<std::int64_t>(first), static_cast<std::int64_t>(length), at.base,
                            at.count);
}

void ExchangeBlocks::discard(void*, std::size_t, std::size_t, void*) {}

// What the host is to unpack: as much as came.
void ExchangeBlocks::note_part(void* block, std::size_t first, std::size_t length, void* packed) {
  auto& at = *static_cast<ByHost*>(block);
  kernel::copy_row(at.packed.get() + first, packed, length);
  at.came_bytes = std::max(at.came_bytes, first + length);
}

bool ExchangeBlocks::take_type(std::size_t index) {
  const Word handle = call_->datatype(*side_, index);
  if (type_ && type_->handle == handle) return true;
  type_ = nullptr;
  std::optional<ExchangeType> type = exchange_type(handle);
  if (!type) return false;
  types_.push_back(*std::move(type));
  type_ = &types_.back();
  return true;
}

bool ExchangeBlocks::open(const ExchangeCall& call, const ExchangeSide& side, bool outgoing) {
  call_ = &call;
  side_ = &side;
  outgoing_ = outgoing;
  if (call.is_in_place(side)) return false;
  buffer_ = call.buffer(side);
  if (!side.own_types && !take_type(0)) return false;
  if (side.blocks == Blocks::array) return true;
  count_ = call.count(side, 0);
  std::int64_t bytes = 0;
  return count_ >= 0 && !__builtin_mul_overflow(count_, type_->size_bytes, &bytes);
}

bool ExchangeBlocks::find(std::size_t index, Data& data) {
  data = {};
  const bool array = side_->blocks == Blocks::array;
  const std::int64_t count = array ? call_->count(*side_, index) : count_;
  if (count < 0) return false;
  // Datatypes of blocks without elements may be anything.
  if (count == 0) return true;
  if (side_->own_types && !take_type(index)) return false;
  const ExchangeType& type = *type_;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, type.size_bytes, &bytes)) return false;
  if (bytes == 0) return true;
  std::int64_t distance = 0;
  if (side_->own_types)
    distance = call_->displacement(*side_, index);
  else if (array)
    distance = call_->displacement(*side_, index) * type.extent_bytes;
  else
    distance = static_cast<std::int64_t>(index) * count * type.extent_bytes;
  const Word address = buffer_ + static_cast<Word>(distance);
  data.bytes = static_cast<std::size_t>(bytes);
  const Word first = address + (type.layout ? static_cast<Word>(type.layout->true_lb_bytes()) : 0);
  const bool on_device = is_device_memory(first);
  if (type.plain && !on_device) {
    data.row = as_pointer(address);
    return address != 0;
  }
  if (type.layout && !on_device) {
    if (type.layout->is_contiguous(count)) {
      data.row = as_pointer(first);
      return data.row != nullptr;
    }
    walks_.push_back({type.layout.get(), as_pointer(address), count});
    data.move = outgoing_ ? pack_part : unpack_part;
    data.context = &walks_.back();
    return true;
  }
  keep_from_helpers();
  Scratch packed = scratch(data.bytes);
  if (!packed) throw std::bad_alloc();
  LastingType lasting(type.handle);
  by_host_.push_back({type, address, count, std::move(packed), outgoing_, on_device, 0, std::move(lasting)});
  ByHost& block = by_host_.back();
  block.type.handle = block.lasting.handle();
  if (outgoing_) {
    data.row = block.packed.get();
  } else {
    data.move = note_part;
    data.context = &block;
  }
  return true;
}

int ExchangeBlocks::pack() {
  for (const ByHost& block : by_host_) {
    if (!block.outgoing) continue;
    const ExchangeType& type = block.type;
    const int error =
        block.on_device
            ? copy_from_device({block.address, block.count, type.handle, type.size_bytes, type.extent_bytes},
                               block.packed.get())
            : pack_by_host(type, block.address, block.count, block.packed.get());
    if (error != 0) return error;
  }
  return 0;
}

int ExchangeBlocks::unpack() {
  for (const ByHost& block : by_host_) {
    if (block.outgoing) continue;
    const ExchangeType& type = block.type;
    const std::int64_t count = static_cast<std::int64_t>(block.came_bytes) / type.size_bytes;
    const int error = block.on_device ? copy_to_device(block.packed.get(), {block.address, count, type.handle,
                                                                            type.size_bytes, type.extent_bytes})
                                      : unpack_by_host(type, block.packed.get(), block.address, count);
    if (error != 0) return error;
  }
  return 0;
}

bool ExchangeBlocks::copy_sends(Data& own) {
  std::size_t bytes = own.bytes;
  for (const collective::Message& message : sends) bytes += message.data.bytes;
  copies_ = scratch(bytes);
  if (!copies_) return false;
  char* at = copies_.get();
  const auto copy = [&at](Data& data) {
    collective::pack(data, 0, data.bytes, at);
    data = {data.bytes, at, nullptr, nullptr};
    at += data.bytes;
  };
  if (own.bytes != 0) copy(own);
  for (collective::Message& message : sends) copy(message.data);
  return true;
}

void ExchangeBlocks::discard_receives() {
  for (collective::Message& message : receives) message.data = {message.data.bytes, nullptr, discard, nullptr};
  for (Data& data : gathered) data = {data.bytes, nullptr, discard, nullptr};
}

bool ExchangeBlocks::same_place(const Data& a, const Data& b) {
  if (a.row || b.row) return a.row == b.row;
  if (a.move != pack_part || b.move != unpack_part) return false;
  const auto &from = *static_cast<const Walk*>(a.context), &to = *static_cast<const Walk*>(b.context);
  return from.base == to.base && from.layout == to.layout;
}

}  // namespace millrace::shim
