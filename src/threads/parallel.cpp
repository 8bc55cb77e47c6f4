#include "threads/parallel.h"

#include <unistd.h>

#include "threads/load_helper.h"
#include "threads/split.h"

namespace millrace::threads {

constinit std::atomic<std::size_t> least_bytes{never};

namespace {

constinit std::atomic<unsigned> wanted_threads{0};
constinit std::atomic<int> world_processes{0};

// A child of fork() has another id than the process that loaded us.
pid_t loaded_by = 0;
[[gnu::constructor]] void remember_process() { loaded_by = getpid(); }

Request request_now() {
  return {wanted_threads.load(std::memory_order_relaxed), world_processes.load(std::memory_order_relaxed),
          loaded_by != getpid()};
}

const void* advance(const void* buffer, std::size_t bytes) { return static_cast<const char*>(buffer) + bytes; }
void* advance(void* buffer, std::size_t bytes) { return static_cast<char*>(buffer) + bytes; }

struct Work2 {
  kernel::Reduce2 reduce;
  const void* in;
  void* inout;
  std::size_t elements, element_bytes;
};
void part2(void* context, unsigned index, unsigned parts) {
  const Work2& work = *static_cast<const Work2*>(context);
  const Range range = part_of(work.elements, index, parts);
  if (range.begin == range.end) return;
  const std::size_t start = range.begin * work.element_bytes;
  work.reduce(advance(work.in, start), advance(work.inout, start), range.end - range.begin);
}

struct Work3 {
  kernel::Reduce3 reduce;
  const void *a, *b;
  void* out;
  std::size_t elements, element_bytes;
};
void part3(void* context, unsigned index, unsigned parts) {
  const Work3& work = *static_cast<const Work3*>(context);
  const Range range = part_of(work.elements, index, parts);
  if (range.begin == range.end) return;
  const std::size_t start = range.begin * work.element_bytes;
  work.reduce(advance(work.a, start), advance(work.b, start), advance(work.out, start), range.end - range.begin);
}

struct WorkMany {
  ReduceMany reduce;
  kernel::Op op;
  kernel::Type type;
  const void* const* inputs;
  std::size_t count;
  void* out;
  std::size_t elements, element_bytes;
};
constexpr std::size_t most_inputs = 256;  // more are reduced by one thread: addresses stand on the stack
void part_many(void* context, unsigned index, unsigned parts) {
  const WorkMany& work = *static_cast<const WorkMany*>(context);
  const Range range = part_of(work.elements, index, parts);
  if (range.begin == range.end) return;
  const std::size_t start = range.begin * work.element_bytes;
  const void* at[most_inputs];
  for (std::size_t k = 0; k < work.count; ++k) at[k] = advance(work.inputs[k], start);
  work.reduce(work.op, work.type, at, work.count, advance(work.out, start), range.end - range.begin);
}

}  // namespace

void use(unsigned threads, std::size_t least, int processes) {
  wanted_threads.store(threads, std::memory_order_relaxed);
  world_processes.store(processes, std::memory_order_relaxed);
  least_bytes.store(threads == 1 ? never : least, std::memory_order_relaxed);
}

unsigned threads_in_use() { return wanted_threads.load(std::memory_order_relaxed); }

namespace {

bool is_word(const char* text, const char* word) {  // `word` in lower case
  while (*word && (*text | 0x20) == *word) ++text, ++word;
  return !*word && !*text;
}

// Reads decimal digits up to 2^40 and moves `text` behind them; -1 if there are none or too many.
long long read_number(const char*& text) {
  long long value = *text >= '0' && *text <= '9' ? 0 : -1;
  for (; *text >= '0' && *text <= '9' && value >= 0; ++text) {
    value = value * 10 + (*text - '0');
    if (value > 1LL << 40) value = -1;
  }
  return value;
}

}  // namespace

long long parse_least_bytes(const char* text) {
  if (!text) return -1;
  const long long value = read_number(text);
  if (value < 0) return -1;
  if (!*text || is_word(text, "b")) return value;
  constexpr const char* units[] = {"kib", "mib", "gib"};
  for (int i = 0; i < 3; ++i)
    if (is_word(text, units[i]) && value <= (1LL << 40) >> (10 * (i + 1))) return value << (10 * (i + 1));
  return -1;
}

long parse_threads(const char* text) {
  if (!text) return -1;
  if (is_word(text, "auto")) return 0;
  const long long value = read_number(text);
  return !*text && value >= 1 ? static_cast<long>(value < 1024 ? value : 1024) : -1;
}

TeamDecision decide_now() {
  if (threads_in_use() == 1) return {1, "MILLRACE_THREADS is 1"};
  const Helper& helper = loaded_helper();
  if (!helper.decide) return {1, "libmillrace_threads.so was not found or has another version"};
  const Request request = request_now();
  return helper.decide(&request);
}

bool run_parts(Part part, void* context) {
  const Helper& helper = loaded_helper();
  if (!helper.run) return false;
  const Request request = request_now();
  return helper.run(&request, part, context).threads > 1;
}

bool reduce2(kernel::Reduce2 reduce, const void* in, void* inout, std::size_t elements, std::size_t element_bytes) {
  Work2 work{reduce, in, inout, elements, element_bytes};
  if (run_parts(part2, &work)) return true;
  reduce(in, inout, elements);
  return false;
}

bool reduce3(kernel::Reduce3 reduce, const void* a, const void* b, void* out, std::size_t elements,
             std::size_t element_bytes) {
  Work3 work{reduce, a, b, out, elements, element_bytes};
  if (run_parts(part3, &work)) return true;
  reduce(a, b, out, elements);
  return false;
}

bool reduce_many(ReduceMany reduce, kernel::Op op, kernel::Type type, const void* const* inputs, std::size_t count,
                 void* out, std::size_t elements, std::size_t element_bytes) {
  WorkMany work{reduce, op, type, inputs, count, out, elements, element_bytes};
  if (count <= most_inputs && run_parts(part_many, &work)) return true;
  reduce(op, type, inputs, count, out, elements);
  return false;
}

}  // namespace millrace::threads
