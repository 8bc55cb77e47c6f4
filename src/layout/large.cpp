#include "layout/large.h"

#include "threads/split.h"

namespace millrace::layout {
namespace {

template <class Packed>
struct LargeCopy {
  void (*copy)(const Plan& plan, Address base, std::int64_t count, std::int64_t start, std::int64_t end, Packed packed);
  const Plan& plan;
  Address base;
  std::int64_t count, start, length;
  Packed packed;
};

// Bytes of different parts lie at different places, in memory as well: blocks that are unpacked do not overlap.
template <class Packed>
void copy_part(void* context, unsigned index, unsigned parts) {
  const auto& work = *static_cast<const LargeCopy<Packed>*>(context);
  const threads::Range range = threads::part_of(static_cast<std::size_t>(work.length), index, parts);
  const auto begin = static_cast<std::int64_t>(range.begin), end = static_cast<std::int64_t>(range.end);
  if (begin < end)
    work.copy(work.plan, work.base, work.count, work.start + begin, work.start + end, work.packed + range.begin);
}

}  // namespace

bool pack_by_threads(const Plan& plan, Address base, std::int64_t count, std::int64_t start, std::int64_t length,
                     char* packed) {
  LargeCopy<char*> work{pack_part, plan, base, count, start, length, packed};
  return threads::run_parts(copy_part<char*>, &work);
}

bool unpack_by_threads(const Plan& plan, Address base, std::int64_t count, std::int64_t start, std::int64_t length,
                       const char* packed) {
  LargeCopy<const char*> work{unpack_part, plan, base, count, start, length, packed};
  return threads::run_parts(copy_part<const char*>, &work);
}

}  // namespace millrace::layout
