// The bits of a result do not depend on the number of threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "millrace/millrace.h"

namespace {

constexpr unsigned most_threads = 5;
constexpr std::size_t slack_bytes = 64;

struct OneThreadAfterwards {
  ~OneThreadAfterwards() { millrace_use_threads(1, 0); }
};

// Any bytes are values of every type. Floating-point elements become numbers: which NaN comes out is left open.
std::vector<unsigned char> bytes_for(millrace_type type, std::size_t elements, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<unsigned char> bytes(elements * millrace_type_bytes(type) + slack_bytes);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  const auto fill = [&](auto value) {
    std::normal_distribution<double> normal;
    for (std::size_t at = 0; at + sizeof value <= bytes.size(); at += sizeof value) {
      value = static_cast<decltype(value)>(normal(random));
      std::memcpy(&bytes[at], &value, sizeof value);
    }
  };
  const std::string name = millrace_type_name(type);
  if (name == "f32" || name == "c32" || name.starts_with("f32_")) fill(0.0f);
  if (name == "f64" || name == "c64" || name.starts_with("f64_")) fill(0.0);
  if (name == "f80" || name == "c80" || name.starts_with("f80_")) fill(0.0L);
  if (name == "f16" || name == "bf16" || name == "c16")
    for (std::size_t at = 1; at < bytes.size(); at += 2)
      bytes[at] = static_cast<unsigned char>(0x38 | (bytes[at] & 0x83));
  if (name == "f128" || name == "c128" || name == "f128_i32")
    for (std::size_t at = 14; at + 1 < bytes.size(); at += 16) bytes[at] = 0xff, bytes[at + 1] = 0x3f;
  return bytes;
}

struct Case {
  millrace_op op;
  millrace_type type;
  std::size_t elements, misaligned_bytes;
  std::vector<unsigned char> a, b, c;

  Case(millrace_op op_, millrace_type type_, std::size_t elements_, std::size_t misaligned)
      : op(op_),
        type(type_),
        elements(elements_),
        misaligned_bytes(misaligned),
        a(bytes_for(type, elements, 1)),
        b(bytes_for(type, elements, 2)),
        c(bytes_for(type, elements, 3)) {
    // Values of the type where they are read.
    for (auto* bytes : {&a, &b, &c})
      std::memmove(bytes->data() + misaligned, bytes->data(), bytes->size() - slack_bytes);
  }
  std::vector<unsigned char> result(unsigned threads, int form) const {
    EXPECT_EQ(millrace_use_threads(threads, 1), MILLRACE_OK);
    std::vector<unsigned char> out = b;
    void* const to = out.data() + misaligned_bytes;
    const void* const from = a.data() + misaligned_bytes;
    const void* const inputs[] = {from, b.data() + misaligned_bytes, c.data() + misaligned_bytes};
    millrace_status status = MILLRACE_OK;
    if (form == 0) status = millrace_reduce(op, type, from, to, elements);
    if (form == 1) status = millrace_reduce3(op, type, from, inputs[1], to, elements);
    if (form == 2) status = millrace_reduce_n(op, type, inputs, 3, to, elements);
    if (form == 3) status = millrace_reduce_n_streaming(op, type, inputs, 3, to, elements);
    EXPECT_EQ(status, MILLRACE_OK);
    return out;
  }
};

std::string described(const Case& what, unsigned threads, int form) {
  return std::string(millrace_op_name(what.op)) + "_" + millrace_type_name(what.type) + " x " +
         std::to_string(what.elements) + " + " + std::to_string(what.misaligned_bytes) + ", " +
         std::to_string(threads) + " threads, form " + std::to_string(form);
}

TEST(ThreadedBits, AreThoseOfOneThreadForEveryOpAndTypeAndForm) {
  const OneThreadAfterwards afterwards;
  int cases = 0;
  for (int op = 0; millrace_op_name(static_cast<millrace_op>(op)); ++op) {
    for (int type = 0; millrace_type_name(static_cast<millrace_type>(type)); ++type) {
      if (!millrace_supported(static_cast<millrace_op>(op), static_cast<millrace_type>(type))) continue;
      for (const auto& [elements, misaligned] : {std::pair<std::size_t, std::size_t>{1001, 0}, {333, 3}, {63, 1}}) {
        const Case what(static_cast<millrace_op>(op), static_cast<millrace_type>(type), elements, misaligned);
        for (int form = 0; form < 4; ++form) {
          const auto expected = what.result(1, form);
          for (unsigned threads = 2; threads <= most_threads; ++threads) {
            ASSERT_EQ(what.result(threads, form), expected) << described(what, threads, form);
            ++cases;
          }
        }
      }
    }
  }
  EXPECT_GT(cases, 5000);
}

TEST(ThreadedBits, AreRightWhenSeveralThreadsCallAtOnce) {
  const OneThreadAfterwards afterwards;
  const Case what(MILLRACE_SUM, MILLRACE_F64, 100'003, 8);
  const auto expected = what.result(1, 0);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        if (what.result(3, round % 2) != expected) ++wrong;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
