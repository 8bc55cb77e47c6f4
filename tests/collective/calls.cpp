#include "calls.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
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

std::string check_reduction(Group& group, const CallCase& call) {
  const std::vector<char> own = contribution(*call.operation, group.rank(), call.elements, call.number);
  Buffer in(own), out(own.size());
  const bool gets = call.kind == Kind::allreduce || group.rank() == call.root;
  void* const to = !gets ? nullptr : call.in_place ? in.data() : out.data();
  const Result result = call.kind == Kind::allreduce
                            ? allreduce(group, in.data(), to, call.elements, call.operation->reducer)
                            : reduce(group, in.data(), to, call.elements, call.operation->reducer, call.root);
  if (result != Result::ok) return result_name(result);
  if (!(gets && call.in_place))
    if (std::string wrong = in.compare(own); !wrong.empty()) return "input: " + wrong;
  if (!gets) return "";
  const std::vector<char> folded = left_fold(*call.operation, group.ranks(), call.elements, call.number);
  return (call.in_place ? in : out).compare(folded);
}

}  // namespace

std::string CallCase::name() const {
  static constexpr const char* kinds[] = {"?", "barrier", "bcast", "reduce", "allreduce"};
  return fmt::format("{} {} {} elements, root {}{}, number {}", kinds[static_cast<int>(kind)],
                     operation ? operation->name : "", elements, root, in_place ? ", in place" : "", number);
}

void forget_arrivals() {
  for (std::uint32_t rank = 0; rank < most_data_ranks; ++rank) arrivals[rank].count = 0;
}

std::string check_call(Group& group, const CallCase& call) {
  std::string wrong;
  if (call.kind == Kind::barrier) {
    wrong = check_barrier(group);
  } else {
    wrong = call.kind == Kind::bcast ? check_bcast(group, call) : check_reduction(group, call);
  }
  return wrong.empty() ? "" : call.name() + ": " + wrong;
}

}  // namespace millrace::collective::test
