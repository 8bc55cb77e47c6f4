#include "model/messages.h"

#include "model/others.h"

namespace millrace::model {
namespace {

constexpr std::size_t cells = 4;  // of each pair

}  // namespace

bool Messages::open(Clockwork& clockwork, std::uint32_t ranks, std::size_t each_bytes) {
  clockwork_ = &clockwork;
  ranks_ = ranks;
  each_bytes_ = each_bytes;
  counts_.resize(std::size_t{ranks} * ranks);
  const std::size_t shared_bytes = counts_.size() * (sizeof(Channel) + cells * eager_bytes);
  if (!shared_.map(shared_bytes) || !owned_.map(ranks * each_bytes)) return false;
  clockwork.share(shared_.base(), shared_bytes);
  clockwork.own(owned_.base(), each_bytes);
  return true;
}

char* Messages::cell(std::uint32_t from, std::uint32_t to, std::uint64_t number) const {
  const std::size_t pair = std::size_t{from} * ranks_ + to;
  return shared_.base() + counts_.size() * sizeof(Channel) + (pair * cells + number % cells) * eager_bytes;
}

void Messages::begin_send(std::uint32_t to, const char* from, std::size_t bytes) {
  clockwork_->spend(message_ns);
  Counts& counts = counts_[std::size_t{rank()} * ranks_ + to];
  const std::uint64_t number = counts.sent++;
  Channel& line = channel(rank(), to);
  if (bytes <= eager_bytes) {
    if (number >= cells) clockwork_->wait(line.taken, number - cells + 1);
    if (bytes != 0) clockwork_->copied(cell(rank(), to, number), from, bytes);
  } else {
    counts.from = from;
  }
  store(line.sent, number + 1);
}

void Messages::end_send(std::uint32_t to, std::size_t bytes) {
  if (bytes > eager_bytes) clockwork_->wait(channel(rank(), to).taken, counts_[std::size_t{rank()} * ranks_ + to].sent);
}

void Messages::receive(std::uint32_t from, char* to, std::size_t bytes) {
  clockwork_->spend(message_ns);
  Counts& counts = counts_[std::size_t{from} * ranks_ + rank()];
  const std::uint64_t number = counts.received++;
  Channel& line = channel(from, rank());
  clockwork_->wait(line.sent, number + 1);
  if (bytes > eager_bytes)
    clockwork_->copied(to, counts.from, bytes);
  else if (bytes != 0)
    clockwork_->copied(to, cell(from, rank(), number), bytes);
  store(line.taken, number + 1);
}

}  // namespace millrace::model
