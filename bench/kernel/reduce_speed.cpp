// reduce_speed [--isa=UNIT] [--bytes=N,...] [--offset=BYTES] [--csv] [NAME_PREFIX...]
//
// Speed of every kernel in the caches: GB/s counting two loads and a store, beside the plain loop of plain.cpp compiled
// for this machine, and memcpy of the same bytes (a load and a store). Each figure is the best of many short batches,
// taken in turns, so that other load on the machine disturbs all alike.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"
#include "plain.h"

namespace millrace::kernel::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string isa = "auto";
  std::vector<std::size_t> sizes_bytes{1 << 10, 16 << 10, 256 << 10};
  std::size_t offset_bytes = 0;  // of every buffer from a page
  bool csv = false;
  std::vector<std::string> prefixes;
};

constexpr double batch_ns = 20'000;
constexpr int rounds = 60;

void* buffer(std::size_t bytes) { return std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096); }

// Values that stay finite and normal however often they are combined; half of the pairs tie.
void fill(Op op, Type type, void* data, std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  const TypeClass kind = type_class(type);
  std::memset(data, 0, bytes);
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(static_cast<char*>(data) + at, &value, sizeof value);
  };
  for (std::size_t at = 0; at + type_bytes(type) <= bytes; at += type_bytes(type)) {
    const int small = static_cast<int>(random() % 2);
    if (kind == TypeClass::integer || kind == TypeClass::logical) put(at, static_cast<char>(small));
    if (kind == TypeClass::pair) {
      if (type == Type::f32_i32 || type == Type::f32_f32)
        put(at, static_cast<float>(small));
      else if (type == Type::f64_i32 || type == Type::f64_f64)
        put(at, static_cast<double>(small));
      else
        put(at, static_cast<char>(small));
      put(at + type_bytes(type) / 2, static_cast<char>(random() % 100));
    }
    const bool ones = op == Op::prod;
    if (type == Type::f32 || type == Type::c32) put(at, ones ? 1.0f : static_cast<float>(small));
    if (type == Type::f64 || type == Type::c64) put(at, ones ? 1.0 : static_cast<double>(small));
    if (type == Type::f80 || type == Type::c80) put(at, 1.0L);
    if (type == Type::f16 || type == Type::c16) put(at, static_cast<short>(0x3c00));
    if (type == Type::bf16) put(at, static_cast<short>(0x3f80));
  }
}

struct Contest {
  std::vector<double> best_ns;

  // Calls of each contender in turns; the best average over a batch counts.
  template <class... F>
  static Contest run(F... contenders) {
    Contest contest;
    contest.best_ns.assign(sizeof...(F), 1e30);
    std::vector<std::size_t> calls(sizeof...(F), 1);
    for (int round = 0; round < rounds; ++round) {
      std::size_t which = 0;
      (contest.time(which++, round, calls, contenders), ...);
    }
    return contest;
  }

  template <class F>
  void time(std::size_t which, int round, std::vector<std::size_t>& calls, F contender) {
    const auto start = Clock::now();
    for (std::size_t call = 0; call < calls[which]; ++call) contender();
    const std::chrono::duration<double, std::nano> spent = Clock::now() - start;
    const double each = spent.count() / static_cast<double>(calls[which]);
    if (round > 0) best_ns[which] = std::min(best_ns[which], each);
    if (round < 4) calls[which] = std::max<std::size_t>(1, static_cast<std::size_t>(batch_ns / std::max(each, 1.0)));
  }
};

void measure(const Options& options, const IsaUnit& unit, Op op, Type type) {
  const Kernel& kernel = kernel_of(*unit.set, op, type);
  if (!kernel.reduce2) return;
  const Reduce2 plain = plain_loop(op, type);
  for (const std::size_t bytes : options.sizes_bytes) {
    void* blocks[3];
    for (void*& block : blocks) block = buffer(bytes + options.offset_bytes);
    const auto at = [&](int which) -> void* { return static_cast<char*>(blocks[which]) + options.offset_bytes; };
    void *in = at(0), *inout = at(1), *copy = at(2);
    fill(op, type, in, bytes, 1);
    fill(op, type, inout, bytes, 2);
    fill(op, type, copy, bytes, 3);
    const std::size_t elements = bytes / type_bytes(type);
    const Contest contest = Contest::run([&] { kernel.reduce2(in, inout, elements); },
                                         [&] {
                                           if (plain) plain(in, inout, elements);
                                         },
                                         [&] {
                                           std::memcpy(copy, in, bytes);
                                           asm volatile("" : : "r"(copy) : "memory");
                                         });
    const double ours = 3.0 * static_cast<double>(bytes) / contest.best_ns[0];
    const double theirs = plain ? 3.0 * static_cast<double>(bytes) / contest.best_ns[1] : 0;
    const double memcpy_speed = 2.0 * static_cast<double>(bytes) / contest.best_ns[2];
    const char* format =
        options.csv ? "%s,%s,%zu,%.1f,%.1f,%.1f,%.2f,%.1f\n" : "%-16s %-7s %8zu %8.1f %8.1f %8.1f %6.2f %8.1f\n";
    std::printf(format, kernel_name(op, type), unit.name, bytes, ours, theirs, memcpy_speed,
                plain ? ours / theirs : 0.0, contest.best_ns[0]);
    std::fflush(stdout);
    for (void* block : blocks) std::free(block);
  }
}

bool wanted(const Options& options, std::string_view name) {
  if (options.prefixes.empty()) return true;
  for (const std::string& prefix : options.prefixes)
    if (name.substr(0, prefix.size()) == prefix) return true;
  return false;
}

std::vector<std::size_t> numbers(const std::string& text) {
  std::vector<std::size_t> values;
  for (const char* at = text.c_str(); *at;) {
    char* end;
    values.push_back(std::strtoul(at, &end, 0));
    at = *end == ',' ? end + 1 : end;
    if (end == at && *at) break;
  }
  return values;
}

}  // namespace
}  // namespace millrace::kernel::bench

int main(int count, char** words) {
  using namespace millrace::kernel;
  bench::Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word.starts_with("--isa="))
      options.isa = word.substr(6);
    else if (word.starts_with("--bytes="))
      options.sizes_bytes = bench::numbers(word.substr(8));
    else if (word.starts_with("--offset="))
      options.offset_bytes = bench::numbers(word.substr(9)).at(0);
    else if (word == "--csv")
      options.csv = true;
    else if (word.starts_with("-")) {
      std::fprintf(
          stderr,
          "reduce_speed: no option %s; there are --isa=NAME --bytes=N,... --offset=N --csv, and prefixes of names\n",
          word.c_str());
      return 2;
    } else
      options.prefixes.push_back(word);
  }
  const IsaChoice choice = choose_isa(options.isa);
  if (*choice.complaint) std::fprintf(stderr, "%s\n", choice.complaint);
  std::printf(options.csv ? "%s,%s,%s,%s,%s,%s,%s,%s\n" : "%-16s %-7s %8s %8s %8s %8s %6s %8s\n", "kernel", "isa",
              "bytes", "GB/s", "plain", "memcpy", "ratio", "ns/call");
  for (std::size_t op = 0; op < op_count; ++op)
    for (std::size_t type = 0; type < type_count; ++type)
      if (const char* name = kernel_name(op * type_count + type); bench::wanted(options, name))
        bench::measure(options, *choice.unit, static_cast<Op>(op), static_cast<Type>(type));
}
