// Random datatypes of every combiner, nested. The same seed gives the same types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "layout/description.h"

namespace millrace::layout::test {

// Random numbers, or what a fuzzer wants to be taken for such.
class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  Random(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), end_(bytes + size) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }

  result_type operator()() {
    if (!bytes_) return generator_();
    return bytes_ == end_ ? 0 : *bytes_++;  // a byte each is enough for all small decisions; 0 makes small types
  }

 private:
  std::mt19937_64 generator_;
  const std::uint8_t *bytes_ = nullptr, *end_ = nullptr;
};

const std::vector<DescriptionPtr>& named_types();  // of different sizes, some with gaps
DescriptionPtr random_description(Random& random, int depth);

}  // namespace millrace::layout::test
