#include "messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>

namespace millrace::collective::test {
namespace {

constexpr std::size_t margin = 64;
constexpr char untouched = 0x5b;

std::vector<char> text(std::uint64_t seed, std::size_t bytes) {
  std::vector<char> made(bytes);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::size_t at = 0; at < bytes; at += 8) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    std::memcpy(made.data() + at, &state, std::min<std::size_t>(8, bytes - at));
  }
  return made;
}

bool is_row(Form form, std::mt19937& random) {
  return form == Form::rows || (form == Form::mixed && random() % 2 == 0);
}

}  // namespace

End::End(std::size_t bytes, bool row, const std::vector<char>* data)
    : bytes_(bytes),
      stride_(row ? 1 : 3),
      row_(row),
      sends_(data != nullptr),
      all_(2 * margin + bytes * stride_, untouched) {
  if (data)
    for (std::size_t byte = 0; byte < bytes; ++byte) all_[place(byte)] = (*data)[byte];
}

std::size_t End::place(std::size_t byte) const { return margin + byte * stride_; }

Data End::data() {
  if (row_) return {bytes_, all_.data() + margin, nullptr, nullptr};
  return {bytes_, nullptr, sends_ ? send : receive, this};
}

void End::send(void* self, std::size_t first, std::size_t length, void* packed) {
  const End& end = *static_cast<End*>(self);
  for (std::size_t byte = 0; byte < length; ++byte)
    static_cast<char*>(packed)[byte] = end.all_[end.place(first + byte)];
}

void End::receive(void* self, std::size_t first, std::size_t length, void* packed) {
  End& end = *static_cast<End*>(self);
  for (std::size_t byte = 0; byte < length; ++byte)
    end.all_[end.place(first + byte)] = static_cast<char*>(packed)[byte];
}

std::string End::compare(const std::vector<char>& expected) const {
  for (std::size_t at = 0; at < all_.size(); ++at) {
    const bool inside = at >= margin && at < margin + bytes_ * stride_ && (at - margin) % stride_ == 0;
    const char want = inside ? expected[(at - margin) / stride_] : untouched;
    if (all_[at] != want) return fmt::format("wrong at {} of {} (steps of {})", at - margin, bytes_, stride_);
  }
  return "";
}

std::vector<char> letter_text(const Traffic& traffic, std::uint32_t from, std::uint32_t to, std::size_t index) {
  return text(traffic.number * 1000003 + from * 1009 + to * 31 + index, traffic.between(from, to)[index]);
}

std::string check_exchange(Group& group, const Traffic& traffic, Form form, Kind kind) {
  std::mt19937 random(static_cast<unsigned>(traffic.number * 97 + group.rank()));
  std::deque<End> ends;
  std::vector<Message> sends, receives;
  std::vector<std::vector<char>> expected;
  const std::uint32_t self = group.rank();
  // Peers in any order, and of each its messages in theirs.
  std::vector<std::uint32_t> order(traffic.ranks);
  for (std::uint32_t rank = 0; rank < traffic.ranks; ++rank) order[rank] = rank;
  std::shuffle(order.begin(), order.end(), random);
  for (const std::uint32_t to : order)
    for (std::size_t index = 0; index < traffic.between(self, to).size(); ++index) {
      const std::vector<char> sent = letter_text(traffic, self, to, index);
      sends.push_back({to, ends.emplace_back(sent.size(), is_row(form, random), &sent).data()});
    }
  const std::size_t first_receive = ends.size();
  std::shuffle(order.begin(), order.end(), random);
  for (const std::uint32_t from : order)
    for (std::size_t index = 0; index < traffic.between(from, self).size(); ++index) {
      expected.push_back(letter_text(traffic, from, self, index));
      receives.push_back({from, ends.emplace_back(expected.back().size(), is_row(form, random), nullptr).data()});
    }
  if (const Result result = exchange(group, kind, traffic.number, sends, receives); result != Result::ok)
    return result_name(result);
  // What was sent may be overwritten now.
  for (std::size_t index = 0; index < first_receive; ++index) ends[index] = End(0, true, nullptr);
  for (std::size_t index = 0; index < receives.size(); ++index)
    if (std::string wrong = ends[first_receive + index].compare(expected[index]); !wrong.empty())
      return fmt::format("exchange {}, from {}: {}", traffic.number, receives[index].peer, wrong);
  return "";
}

std::string check_publish(Group& group, const std::vector<std::size_t>& bytes, std::uint64_t number, Form form,
                          bool in_place) {
  std::mt19937 random(static_cast<unsigned>(number * 89 + group.rank()));
  std::deque<End> ends;
  std::vector<Data> receives(group.ranks());
  const auto published = [&](std::uint32_t rank) { return text(number * 7919 + rank, bytes[rank]); };
  const std::vector<char> own = published(group.rank());
  End sent(own.size(), is_row(form, random), &own);
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
    receives[rank] = ends.emplace_back(bytes[rank], is_row(form, random), nullptr).data();
    if (in_place && rank == group.rank()) receives[rank] = {bytes[rank], nullptr, nullptr, nullptr};
  }
  if (const Result result = publish(group, Kind::allgather, number, sent.data(), receives); result != Result::ok)
    return result_name(result);
  if (std::string wrong = sent.compare(own); !wrong.empty()) return fmt::format("publish {}, sent: {}", number, wrong);
  sent = End(0, true, nullptr);
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
    if (in_place && rank == group.rank()) continue;
    if (std::string wrong = ends[rank].compare(published(rank)); !wrong.empty())
      return fmt::format("publish {}, from {}: {}", number, rank, wrong);
  }
  return "";
}

std::string check_blocks(Group& group, Kind kind, std::size_t bytes, std::size_t room, std::uint64_t number, Form form,
                         bool in_place) {
  std::mt19937 random(static_cast<unsigned>(number * 83 + group.rank()));
  const std::uint32_t self = group.rank(), ranks = group.ranks();
  const bool one_for_all = kind == Kind::allgather || kind == Kind::gather;
  const auto root = static_cast<std::uint32_t>(number % ranks);
  const bool at_root = self == root;
  // To whom this rank sends, and from whom it receives.
  std::vector<std::uint32_t> to(ranks), from(ranks);
  std::iota(to.begin(), to.end(), 0u);
  from = to;
  if (one_for_all) to = {0};
  if (kind == Kind::gather && !at_root) from = {};
  if (kind == Kind::gather && at_root && in_place && number % 2 == 0) to = {};
  if (kind == Kind::scatter && !at_root) to = {};
  if (kind == Kind::scatter) from = {root};
  if (kind == Kind::scatter && at_root && in_place && number % 2 == 0) from = {};
  const auto block = [&](std::uint32_t sender, std::uint32_t receiver) {
    return text(number * 7717 + sender * 1013 + (one_for_all ? 0 : receiver + 1), bytes);
  };
  std::deque<End> sent_ends, received_ends;
  std::vector<Data> sent, received;
  for (const std::uint32_t rank : to) {
    const std::vector<char> data = block(self, rank);
    sent.push_back(sent_ends.emplace_back(bytes, is_row(form, random), &data).data());
  }
  for (const std::uint32_t rank : from) {
    received.push_back(received_ends.emplace_back(room, is_row(form, random), nullptr).data());
    if (in_place && rank == self) received.back() = {room, nullptr, nullptr, nullptr};
  }
  if (!exchanges_blocks(group, kind, bytes)) return fmt::format("blocks of {} bytes do not go so", bytes);
  const Result result = exchange_blocks(group, kind, bytes, sent, received, root);
  const bool receives = !from.empty() && !(in_place && from.size() == 1 && from[0] == self);
  if (result != (receives && room < bytes ? Result::truncated : Result::ok)) return result_name(result);
  for (End& end : sent_ends) end = End(0, true, nullptr);  // what was sent may be overwritten now
  for (std::size_t index = 0; index < from.size(); ++index) {
    const std::uint32_t rank = from[index];
    if (in_place && rank == self) continue;
    std::vector<char> expected = block(rank, self);
    expected.resize(room, untouched);
    if (std::string wrong = received_ends[index].compare(expected); !wrong.empty())
      return fmt::format("{} {}, blocks of {}, from {}: {}", kind_name(kind), number, bytes, rank, wrong);
  }
  return "";
}

}  // namespace millrace::collective::test
