// Messages between two ranks of a clockwork, as MPI libraries pass them in a node.
#pragma once

#include <cstdint>
#include <vector>

#include "model/clockwork.h"
#include "model/pages.h"

namespace millrace::model {

class Messages {
 public:
  // `each_bytes`: of memory that every rank has for itself. False: no memory.
  bool open(Clockwork& clockwork, std::uint32_t ranks, std::size_t each_bytes);

  char* memory(std::uint32_t rank) const { return owned_.base() + rank * each_bytes_; }
  std::uint32_t rank() const { return clockwork_->rank(); }
  std::uint32_t ranks() const { return ranks_; }

  // A send has two parts, so that who sends can receive in between.
  void begin_send(std::uint32_t to, const char* from, std::size_t bytes);
  void end_send(std::uint32_t to, std::size_t bytes);
  void send(std::uint32_t to, const char* from, std::size_t bytes) {
    begin_send(to, from, bytes);
    end_send(to, bytes);
  }
  void receive(std::uint32_t from, char* to, std::size_t bytes);
  void exchange(std::uint32_t to, const char* sent, std::size_t sent_bytes, std::uint32_t from, char* received,
                std::size_t received_bytes) {
    begin_send(to, sent, sent_bytes);
    receive(from, received, received_bytes);
    end_send(to, sent_bytes);
  }
  void copy(char* to, const char* from, std::size_t bytes) { clockwork_->copied(to, from, bytes); }
  // inout = in op inout
  void reduce(const char* in, char* inout, std::size_t bytes) {
    const void* const inputs[] = {in, inout};
    clockwork_->reduced(inputs, 2, inout, bytes);
  }

 private:
  struct alignas(128) Channel {
    alignas(64) std::atomic<std::uint64_t> sent;   // written by the sender
    alignas(64) std::atomic<std::uint64_t> taken;  // written by the receiver
  };
  struct Counts {
    std::uint64_t sent = 0, received = 0;
    const char* from = nullptr;  // of what is under way
  };
  Channel& channel(std::uint32_t from, std::uint32_t to) const {
    return reinterpret_cast<Channel*>(shared_.base())[std::size_t{from} * ranks_ + to];
  }
  char* cell(std::uint32_t from, std::uint32_t to, std::uint64_t number) const;
  void store(std::atomic<std::uint64_t>& flag, std::uint64_t value) {
    flag.store(value, std::memory_order_relaxed);
    clockwork_->published(flag, value);
  }

  Clockwork* clockwork_ = nullptr;
  std::uint32_t ranks_ = 0;
  std::size_t each_bytes_ = 0;
  Pages shared_, owned_;
  std::vector<Counts> counts_;  // of each pair
};

}  // namespace millrace::model
