// Members of a history as fibers of one thread, switched at random wherever they wait or ask for something: as many
// histories a second as there are, and each the same again for its seed.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace millrace::node {

class Fibers {
 public:
  explicit Fibers(std::uint64_t seed) : random_(seed) {}

  // Runs all of them to their end. False: so many switches went by without one that they wait for each other for ever.
  bool run(const std::vector<std::function<void()>>& bodies);

  static Fibers* current();                         // of the fiber that asks; null outside
  void give_way();                                  // of a fiber: any of them goes on, maybe itself
  std::uint64_t now_ns() const { return now_ns_; }  // a time that passes with each switch

 private:
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    const std::function<void()>* body;
    bool ended;
  };
  static void start();

  std::mt19937_64 random_;
  std::vector<Fiber> fibers_;
  std::size_t running_ = 0;
  ucontext_t scheduler_{};
  std::uint64_t now_ns_ = 1;
};

}  // namespace millrace::node
