#include "calls.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "collective/collective.h"

namespace millrace::collective::test {
namespace {

constexpr std::size_t margin = 64;
constexpr char untouched = 0x5b;

// Bytes with known ones around them.
struct Buffer {
  std::unique_ptr<char[]> all;
  std::size_t bytes;

  explicit Buffer(std::size_t size) : all(new char[size + 2 * margin]), bytes(size) {
    std::memset(all.get(), untouched, size + 2 * margin);
  }
  explicit Buffer(const std::vector<char>& data) : Buffer(data.size()) {
    if (bytes != 0) std::memcpy(all.get() + margin, data.data(), bytes);
  }
  char* data() { return all.get() + margin; }

  std::string compare(const std::vector<char>& expected) const {
    if (bytes > 4096 && std::memcmp(all.get() + margin, expected.data(), bytes) == 0) {  // the many bytes at once
      for (const char* edge : {all.get(), all.get() + margin + bytes})
        if (std::count(edge, edge + margin, untouched) != static_cast<long>(margin)) return "bytes around are changed";
      return "";
    }
    for (std::size_t at = 0; at < bytes + 2 * margin; ++at) {
      const bool inside = at >= margin && at < margin + bytes;
      const char want = inside ? expected[at - margin] : untouched;
      if (all[at] != want)
        return fmt::format("byte {} of {} is {:02x}, not {:02x}", static_cast<long>(at) - static_cast<long>(margin),
                           bytes, static_cast<unsigned char>(all[at]), static_cast<unsigned char>(want));
    }
    return "";
  }
};

// How many barriers each rank has come to: in memory that is there before any rank is forked.
struct alignas(128) Arrivals {
  std::atomic<std::uint64_t> count;
};
Arrivals* const arrivals = [] {
  void* const memory =
      mmap(nullptr, most_data_ranks * sizeof(Arrivals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<Arrivals*>(memory);
}();

std::string check_barrier(Group& group) {
  const std::uint64_t own = arrivals[group.rank()].count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (const Result result = barrier(group); result != Result::ok) return result_name(result);
  // Relaxed: that a barrier makes visible what was written before it is what is tested.
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
    if (arrivals[rank].count.load(std::memory_order_relaxed) < own)
      return fmt::format("did not wait for rank {}", rank);
  return "";
}

std::string check_bcast(Group& group, const CallCase& call) {
  const std::vector<char> sent = contribution(operations()[0], call.root, call.elements, call.number);
  Buffer buffer = group.rank() == call.root ? Buffer(sent) : Buffer(call.elements);
  const Result result = bcast(group, buffer.data(), call.elements, call.root);
  return result == Result::ok ? buffer.compare(sent) : result_name(result);
}

// Of the left fold of the first `ranks` ranks, the part that this rank gets.
std::string compare_part(const Buffer& out, const CallCase& call, std::uint32_t ranks, std::size_t first) {
  std::vector<char> folded = left_fold(*call.operation, ranks, call.elements, call.number);
  const auto begin = folded.begin() + static_cast<std::ptrdiff_t>(first * call.operation->element_bytes);
  return out.compare(std::vector<char>(begin, begin + static_cast<std::ptrdiff_t>(out.bytes)));
}

std::string check_reduce_scatter(Group& group, const CallCase& call) {
  const std::vector<char> own = contribution(*call.operation, group.rank(), call.elements, call.number);
  const std::vector<std::size_t> counts = block_counts(call, group.ranks());
  std::vector<std::size_t> begins(counts.size());
  const bool alike = std::equal(counts.begin() + 1, counts.end(), counts.begin());
  const Blocking blocks = alike ? Blocking(counts[0], group.ranks()) : Blocking(counts, begins);
  Buffer in(own), out(counts[group.rank()] * call.operation->element_bytes);
  const Result result = reduce_scatter(group, in.data(), out.data(), blocks, call.reducer());
  if (result != Result::ok) return result_name(result);
  if (std::string wrong = in.compare(own); !wrong.empty()) return "input: " + wrong;
  return compare_part(out, call, group.ranks(), blocks.begin(group.rank()));
}

std::string check_scan(Group& group, const CallCase& call) {
  const bool inclusive = call.kind == Kind::scan;
  const std::vector<char> own = contribution(*call.operation, group.rank(), call.elements, call.number);
  Buffer in(own), out(own.size());
  const bool gets = inclusive || group.rank() != 0;
  void* const to = !gets ? nullptr : call.in_place ? in.data() : out.data();
  const Result result = inclusive ? scan(group, in.data(), to, call.elements, call.reducer())
                                  : exscan(group, in.data(), to, call.elements, call.reducer());
  if (result != Result::ok) return result_name(result);
  if (!gets || !call.in_place)
    if (std::string wrong = in.compare(own); !wrong.empty()) return "input: " + wrong;
  return gets ? compare_part(call.in_place ? in : out, call, group.rank() + (inclusive ? 1 : 0), 0) : "";
}

std::string check_reduction(Group& group, const CallCase& call) {
  const std::vector<char> own = contribution(*call.operation, group.rank(), call.elements, call.number);
  Buffer in(own), out(own.size());
  const bool gets = call.kind == Kind::allreduce || group.rank() == call.root;
  void* const to = !gets ? nullptr : call.in_place ? in.data() : out.data();
  const Result result = call.kind == Kind::allreduce
                            ? allreduce(group, in.data(), to, call.elements, call.reducer())
                            : reduce(group, in.data(), to, call.elements, call.reducer(), call.root);
  if (result != Result::ok) return result_name(result);
  if (!(gets && call.in_place))
    if (std::string wrong = in.compare(own); !wrong.empty()) return "input: " + wrong;
  if (!gets) return "";
  const std::vector<char> folded = left_fold(*call.operation, group.ranks(), call.elements, call.number);
  return (call.in_place ? in : out).compare(folded);
}

}  // namespace

std::string CallCase::name() const {
  return fmt::format("{} {} {} elements, root {}{}, number {}", kind_name(kind), operation ? operation->name : "",
                     elements, root, in_place ? ", in place" : "", number);
}

std::vector<std::size_t> block_counts(const CallCase& call, std::uint32_t ranks) {
  std::vector<std::size_t> counts(ranks, call.elements / ranks);
  if (call.number % 2 == 0 && call.elements % ranks == 0) return counts;
  std::mt19937 random(static_cast<unsigned>(call.number));
  std::size_t left = call.elements;
  for (std::uint32_t rank = 0; rank + 1 < ranks; ++rank) {
    const std::size_t most = random() % 3 == 0 ? 0 : std::min(left, 2 * (call.elements / ranks) + 1);
    left -= counts[rank] = random() % (most + 1);
  }
  counts.back() = left;
  return counts;
}

void forget_arrivals() {
  for (std::uint32_t rank = 0; rank < most_data_ranks; ++rank) arrivals[rank].count = 0;
}

std::string check_call(Group& group, const CallCase& call) {
  std::string wrong;
  switch (call.kind) {
    case Kind::barrier: wrong = check_barrier(group); break;
    case Kind::bcast: wrong = check_bcast(group, call); break;
    case Kind::reduce_scatter: wrong = check_reduce_scatter(group, call); break;
    case Kind::scan:
    case Kind::exscan: wrong = check_scan(group, call); break;
    default: wrong = check_reduction(group, call); break;
  }
  return wrong.empty() ? "" : call.name() + ": " + wrong;
}

}  // namespace millrace::collective::test
