#include "model/block_call.h"

#include <algorithm>

namespace millrace::model {

using namespace collective;

void BlockCall::pack(void* context, std::size_t first, std::size_t length, void* packed) {
  const End& end = *static_cast<End*>(context);
  end.copy(packed, end.row + first, length);
}

void BlockCall::unpack(void* context, std::size_t first, std::size_t length, void* packed) {
  const End& end = *static_cast<End*>(context);
  end.copy(end.row + first, packed, length);
}

Data BlockCall::data(char* row, bool is_sent) {
  if (are_rows_) return {bytes_, row, nullptr, nullptr};
  ends_.push_back({row, copy_});
  return {bytes_, nullptr, is_sent ? pack : unpack, &ends_.back()};
}

void BlockCall::prepare(const Group& group, Kind kind, std::size_t bytes, char* in, char* out, Copy copy) {
  kind_ = kind;
  bytes_ = bytes;
  copy_ = copy;
  are_rows_ = group.reads_memory() && !group.crowded() && at_least(bytes, group.selection().publish_single_copy_bytes);
  const std::size_t ranks = group.ranks();
  const bool is_root = group.rank() == 0;
  const std::size_t sent = kind == Kind::alltoall ? ranks : kind == Kind::scatter ? (is_root ? ranks : 0) : 1;
  const std::size_t received = kind == Kind::scatter ? 1 : kind == Kind::gather ? (is_root ? ranks : 0) : ranks;
  ends_.reserve(sent + received);
  for (std::size_t block = 0; block < sent; ++block) sent_.push_back(data(in + block * bytes, true));
  for (std::size_t block = 0; block < received; ++block) received_.push_back(data(out + block * bytes, false));
}

bool BlockCall::is_modelled(const Group& group, Kind kind, std::size_t bytes) {
  return kind == Kind::allgather || exchanges_blocks(group, kind, bytes);
}

Result BlockCall::run(Group& group) {
  if (exchanges_blocks(group, kind_, bytes_)) return exchange_blocks(group, kind_, bytes_, sent_, received_);
  return publish(group, kind_, 0, sent_.front(), received_, bytes_);
}

}  // namespace millrace::model
