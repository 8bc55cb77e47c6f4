// Messages between all pairs of a group, made from numbers that all ranks know, and checked byte by byte.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collective/exchange.h"

namespace millrace::collective::test {

// What one exchange sends: for every ordered pair its messages. Both ends make the same one from the same numbers.
struct Traffic {
  std::uint32_t ranks = 0;
  std::uint64_t number = 0;                     // decides the data
  std::vector<std::vector<std::size_t>> bytes;  // [from * ranks + to]: of each message

  const std::vector<std::size_t>& between(std::uint32_t from, std::uint32_t to) const {
    return bytes[from * ranks + to];
  }
};

enum class Form { rows, movers, mixed };

// One end of a message: in a row, or every byte on its own with gaps between (which must stay untouched).
class End {
 public:
  // To be sent, or room to receive if `data` is null.
  End(std::size_t bytes, bool row, const std::vector<char>* data);
  Data data();
  std::string compare(const std::vector<char>& expected) const;

 private:
  static void send(void* self, std::size_t first, std::size_t length, void* packed);
  static void receive(void* self, std::size_t first, std::size_t length, void* packed);
  std::size_t place(std::size_t byte) const;

  std::size_t bytes_, stride_;
  bool row_, sends_;
  std::vector<char> all_;
};

// What message `index` from one rank to another holds.
std::vector<char> letter_text(const Traffic& traffic, std::uint32_t from, std::uint32_t to, std::size_t index);

// The own part of the exchange, its messages listed in some order. "" or what is wrong.
std::string check_exchange(Group& group, const Traffic& traffic, Form form, Kind kind = Kind::alltoall);
// Everybody's bytes[rank] to everybody; `in_place`: the own ones stay.
std::string check_publish(Group& group, const std::vector<std::size_t>& bytes, std::uint64_t number, Form form,
                          bool in_place);

// Everybody's block of `bytes` to everybody, one and the same (Kind::allgather) or one for each, or to the root or from
// it (Kind::gather, Kind::scatter), which is some rank; `room`: what a rank expects of each block, where the program is
// wrong. exchange_blocks() must know how to.
std::string check_blocks(Group& group, Kind kind, std::size_t bytes, std::size_t room, std::uint64_t number, Form form,
                         bool in_place);

}  // namespace millrace::collective::test
