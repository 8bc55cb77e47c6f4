// The C interface to reductions: checks what a caller may get wrong, then calls the kernels.
#include <cstdint>
#include <cstdlib>

#include "kernel/kernel.h"
#include "kernel/streaming.h"
#include "millrace/millrace.h"
#include "threads/parallel.h"

namespace {

namespace threads = millrace::threads;
using millrace::kernel::Op;
using millrace::kernel::Type;

// The enumerations of the C interface are those of the kernels, number by number.
static_assert(MILLRACE_MINLOC == static_cast<int>(Op::minloc) && MILLRACE_LXOR == static_cast<int>(Op::lxor));
static_assert(MILLRACE_F128_I32 == static_cast<int>(Type::f128_i32) && MILLRACE_C16 == static_cast<int>(Type::c16));
static_assert(MILLRACE_BOOL8 == static_cast<int>(Type::bool8) && MILLRACE_I16_I32 == static_cast<int>(Type::i16_i32));

bool is_op(millrace_op op) { return static_cast<unsigned>(op) < millrace::kernel::op_count; }
bool is_type(millrace_type type) { return static_cast<unsigned>(type) < millrace::kernel::type_count; }

millrace_status check(millrace_op op, millrace_type type, std::size_t elements) {
  if (!is_op(op)) return MILLRACE_BAD_OP;
  if (!is_type(type)) return MILLRACE_BAD_TYPE;
  if (!millrace::kernel::find_reduce2(Op(op), Type(type))) return MILLRACE_NOT_SUPPORTED;
  if (elements > PTRDIFF_MAX / millrace::kernel::type_bytes(Type(type))) return MILLRACE_BAD_BUFFER;
  return MILLRACE_OK;
}

enum class Same { allowed, forbidden };

bool overlap(const void* a, const void* b, std::size_t bytes, Same same) {
  if (a == b) return same == Same::forbidden && bytes > 0;
  const auto left = reinterpret_cast<std::uintptr_t>(a), right = reinterpret_cast<std::uintptr_t>(b);
  return (left < right ? right - left : left - right) < bytes;
}

millrace_status reduce_many(millrace_op op, millrace_type type, const void* const* inputs, std::size_t count, void* out,
                            std::size_t elements, threads::ReduceMany reduce) {
  if (const millrace_status status = check(op, type, elements)) return status;
  if (count == 0 || !inputs) return MILLRACE_BAD_BUFFER;
  if (elements == 0) return MILLRACE_OK;
  if (!out) return MILLRACE_BAD_BUFFER;
  const std::size_t bytes = elements * millrace::kernel::type_bytes(Type(type));
  for (std::size_t k = 0; k < count; ++k) {
    if (!inputs[k]) return MILLRACE_BAD_BUFFER;
    if (overlap(inputs[k], out, bytes, Same::forbidden)) return MILLRACE_BAD_OVERLAP;
  }
  if (threads::is_large(bytes))
    threads::reduce_many(reduce, Op(op), Type(type), inputs, count, out, elements, bytes / elements);
  else
    reduce(Op(op), Type(type), inputs, count, out, elements);
  return MILLRACE_OK;
}

// What is wrong there is not said here, as with MILLRACE_ISA: then it is as if the variable were not set.
[[gnu::constructor]] void read_environment() {
  const long wanted = threads::parse_threads(std::getenv("MILLRACE_THREADS"));
  const long long least = threads::parse_least_bytes(std::getenv("MILLRACE_THREADS_BYTES"));
  threads::use(wanted >= 0 ? static_cast<unsigned>(wanted) : 0,
               least >= 0 ? static_cast<std::size_t>(least) : threads::measured_least_bytes, 0);
}

}  // namespace

millrace_status millrace_reduce(millrace_op op, millrace_type type, const void* in, void* inout, size_t elements) {
  if (const millrace_status status = check(op, type, elements)) return status;
  if (elements == 0) return MILLRACE_OK;
  if (!in || !inout) return MILLRACE_BAD_BUFFER;
  const std::size_t bytes = elements * millrace::kernel::type_bytes(Type(type));
  if (overlap(in, inout, bytes, Same::allowed)) return MILLRACE_BAD_OVERLAP;
  const millrace::kernel::Reduce2 reduce = millrace::kernel::find_reduce2(Op(op), Type(type));
  if (threads::is_large(bytes))
    threads::reduce2(reduce, in, inout, elements, bytes / elements);
  else
    reduce(in, inout, elements);
  return MILLRACE_OK;
}

millrace_status millrace_reduce3(millrace_op op, millrace_type type, const void* a, const void* b, void* out,
                                 size_t elements) {
  if (const millrace_status status = check(op, type, elements)) return status;
  if (elements == 0) return MILLRACE_OK;
  if (!a || !b || !out) return MILLRACE_BAD_BUFFER;
  const std::size_t bytes = elements * millrace::kernel::type_bytes(Type(type));
  if (overlap(a, out, bytes, Same::allowed) || overlap(b, out, bytes, Same::allowed)) return MILLRACE_BAD_OVERLAP;
  const millrace::kernel::Reduce3 reduce = millrace::kernel::find_reduce3(Op(op), Type(type));
  if (threads::is_large(bytes))
    threads::reduce3(reduce, a, b, out, elements, bytes / elements);
  else
    reduce(a, b, out, elements);
  return MILLRACE_OK;
}

millrace_status millrace_reduce_n(millrace_op op, millrace_type type, const void* const* inputs, size_t count,
                                  void* out, size_t elements) {
  return reduce_many(op, type, inputs, count, out, elements,
                     [](Op o, Type t, const void* const* from, std::size_t many, void* to, std::size_t n) {
                       millrace::kernel::find_reduce_n(o, t)(from, many, to, n);
                     });
}

millrace_status millrace_reduce_n_streaming(millrace_op op, millrace_type type, const void* const* inputs, size_t count,
                                            void* out, size_t elements) {
  return reduce_many(op, type, inputs, count, out, elements, millrace::kernel::reduce_n_streaming);
}

int millrace_supported(millrace_op op, millrace_type type) { return check(op, type, 0) == MILLRACE_OK; }

size_t millrace_type_bytes(millrace_type type) { return is_type(type) ? millrace::kernel::type_bytes(Type(type)) : 0; }

const char* millrace_op_name(millrace_op op) { return is_op(op) ? millrace::kernel::op_name(Op(op)) : nullptr; }

const char* millrace_type_name(millrace_type type) {
  return is_type(type) ? millrace::kernel::type_name(Type(type)) : nullptr;
}

const char* millrace_status_text(millrace_status status) {
  switch (status) {
    case MILLRACE_OK: return "ok";
    case MILLRACE_NOT_SUPPORTED: return "op not supported on this type";
    case MILLRACE_BAD_OP: return "bad op";
    case MILLRACE_BAD_TYPE: return "bad type";
    case MILLRACE_BAD_BUFFER: return "bad buffer";
    case MILLRACE_BAD_OVERLAP: return "bad overlap";
    case MILLRACE_BAD_ISA: return "bad instruction set";
    case MILLRACE_BAD_LAYOUT: return "bad layout";
    case MILLRACE_TOO_LARGE: return "layout too large";
    case MILLRACE_NO_MEMORY: return "no memory";
    case MILLRACE_BAD_THREADS: return "bad number of threads";
  }
  return "not a status";
}

const char* millrace_isa(void) { return millrace::kernel::active_isa().name; }

const char* millrace_kernel_isa(millrace_op op, millrace_type type) {
  return is_op(op) && is_type(type) ? millrace::kernel::kernel_isa(Op(op), Type(type)) : nullptr;
}

millrace_status millrace_use_isa(const char* setting) {
  const auto choice = millrace::kernel::use_isa(setting ? setting : "auto");
  return setting && !*choice.complaint ? MILLRACE_OK : MILLRACE_BAD_ISA;
}

millrace_status millrace_use_threads(unsigned wanted, size_t least_bytes) {
  if (wanted > 1024) return MILLRACE_BAD_THREADS;
  threads::use(wanted, least_bytes ? least_bytes : threads::measured_least_bytes, 0);
  return MILLRACE_OK;
}

unsigned millrace_threads(size_t bytes, const char** why) {
  const bool large = threads::is_large(bytes);
  const bool never = threads::least_bytes.load(std::memory_order_relaxed) == threads::never;
  const threads::TeamDecision decision =
      large || never ? threads::decide_now() : threads::TeamDecision{1, "smaller than is worth a second thread"};
  if (why) *why = decision.why;
  return decision.threads;
}

int millrace_isa_unit_at(size_t index, millrace_isa_unit* unit) {
  const auto units = millrace::kernel::isa_units();
  if (index >= units.size() || !unit) return 0;
  const auto& found = units[index];
  *unit = {found.name, found.vector_bits, found.present, found.usable, found.why};
  return 1;
}

const char* millrace_version(void) { return MILLRACE_VERSION_STRING; }
