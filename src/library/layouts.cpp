// The C interface to layouts: what a caller says becomes the description of a datatype.
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "layout/layout.h"
#include "millrace/millrace.h"

using namespace millrace::layout;
using millrace::Status;

struct millrace_layout {
  DescriptionPtr description;
  std::shared_ptr<const Layout> layout;
};

namespace {

millrace_status answer(Status status) {
  switch (status) {
    case Status::ok: return MILLRACE_OK;
    case Status::not_supported: return MILLRACE_TOO_LARGE;
    case Status::no_memory: return MILLRACE_NO_MEMORY;
    default: return MILLRACE_BAD_LAYOUT;
  }
}

bool fits(std::size_t number) { return number <= INT64_MAX; }

// describe() returns the description, or null if a number is too large.
template <class Describe>
millrace_status make(millrace_layout** result, const Describe& describe) {
  if (!result) return MILLRACE_BAD_BUFFER;
  try {
    auto made = std::make_unique<millrace_layout>();
    made->description = describe();
    if (!made->description) return MILLRACE_TOO_LARGE;
    if (const Status status = compile(*made->description, made->layout); status != Status::ok) return answer(status);
    *result = made.release();
    return MILLRACE_OK;
  } catch (const std::exception&) {  // bad_alloc, or length_error of a list
    return MILLRACE_NO_MEMORY;
  }
}

DescriptionPtr bytes(std::size_t count) {
  auto d = std::make_shared<Description>();
  d->name = "bytes";
  d->extent_bytes = static_cast<std::int64_t>(count);
  d->pieces = {{0, d->extent_bytes}};
  return d;
}

DescriptionPtr repeated(DescriptionPtr child, std::size_t count, std::ptrdiff_t stride_bytes) {
  auto d = std::make_shared<Description>();
  d->combiner = Combiner::hvector;
  d->count = static_cast<std::int64_t>(count);
  d->block_length = 1;
  d->stride = stride_bytes;
  d->children = {std::move(child)};
  return d;
}

std::size_t size_of(const millrace_layout& layout) { return static_cast<std::size_t>(layout.layout->size_bytes()); }

// Whether a copy can go on: nothing else is checked on its way.
millrace_status check(const millrace_layout* layout, const void* base, const void* packed) {
  if (!layout) return MILLRACE_BAD_LAYOUT;
  return size_of(*layout) > 0 && (!base || !packed) ? MILLRACE_BAD_BUFFER : MILLRACE_OK;
}

millrace_status check_segment(const millrace_layout* layout, std::size_t start, std::size_t length, const void* base,
                              const void* packed) {
  if (!layout || start > size_of(*layout) || length > size_of(*layout) - start) return MILLRACE_BAD_LAYOUT;
  return length > 0 && (!base || !packed) ? MILLRACE_BAD_BUFFER : MILLRACE_OK;
}

}  // namespace

millrace_status millrace_layout_strided(size_t dimensions, const size_t* counts, const ptrdiff_t* strides_bytes,
                                        size_t block_bytes, millrace_layout** layout) {
  if (dimensions > 0 && (!counts || !strides_bytes)) return MILLRACE_BAD_LAYOUT;
  return make(layout, [&]() -> DescriptionPtr {
    if (!fits(block_bytes)) return nullptr;
    DescriptionPtr description = bytes(block_bytes);
    for (std::size_t d = dimensions; d-- > 0;) {
      if (!fits(counts[d])) return nullptr;
      description = repeated(std::move(description), counts[d], strides_bytes[d]);
    }
    return description;
  });
}

millrace_status millrace_layout_blocks(size_t count, const ptrdiff_t* displacements_bytes, const size_t* lengths_bytes,
                                       millrace_layout** layout) {
  if (count > 0 && (!displacements_bytes || !lengths_bytes)) return MILLRACE_BAD_LAYOUT;
  return make(layout, [&]() -> DescriptionPtr {
    auto d = std::make_shared<Description>();
    d->combiner = Combiner::hindexed;
    d->children = {bytes(1)};
    d->displacements.assign(displacements_bytes, displacements_bytes + count);
    d->block_lengths.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!fits(lengths_bytes[i])) return nullptr;
      d->block_lengths.push_back(static_cast<std::int64_t>(lengths_bytes[i]));
    }
    return d;
  });
}

millrace_status millrace_layout_repeat(const millrace_layout* child, size_t count, ptrdiff_t stride_bytes,
                                       millrace_layout** layout) {
  if (!child) return MILLRACE_BAD_LAYOUT;
  return make(layout, [&]() -> DescriptionPtr {
    return fits(count) ? repeated(child->description, count, stride_bytes) : nullptr;
  });
}

millrace_status millrace_layout_join(size_t count, const millrace_layout* const* children,
                                     const ptrdiff_t* displacements_bytes, millrace_layout** layout) {
  if (count > 0 && (!children || !displacements_bytes)) return MILLRACE_BAD_LAYOUT;
  for (std::size_t i = 0; i < count; ++i)
    if (!children[i]) return MILLRACE_BAD_LAYOUT;
  return make(layout, [&]() -> DescriptionPtr {
    auto d = std::make_shared<Description>();
    d->combiner = Combiner::struct_;
    d->displacements.assign(displacements_bytes, displacements_bytes + count);
    d->block_lengths.assign(count, 1);
    for (std::size_t i = 0; i < count; ++i) d->children.push_back(children[i]->description);
    return d;
  });
}

void millrace_layout_free(millrace_layout* layout) { delete layout; }

size_t millrace_layout_bytes(const millrace_layout* layout) { return layout ? size_of(*layout) : 0; }

void millrace_layout_reach(const millrace_layout* layout, ptrdiff_t* low, ptrdiff_t* high) {
  const std::int64_t from = layout ? layout->layout->true_lb_bytes() : 0;
  if (low) *low = from;
  if (high) *high = from + (layout ? layout->layout->true_extent_bytes() : 0);
}

int millrace_layout_equal(const millrace_layout* a, const millrace_layout* b) {
  return a && b && a->layout->packs_as(*b->layout);
}

millrace_status millrace_layout_pack(const millrace_layout* layout, const void* base, void* packed) {
  if (const millrace_status status = check(layout, base, packed)) return status;
  return answer(layout->layout->pack(base, 1, packed));
}

millrace_status millrace_layout_unpack(const millrace_layout* layout, const void* packed, void* base) {
  if (const millrace_status status = check(layout, base, packed)) return status;
  return answer(layout->layout->unpack(packed, base, 1));
}

millrace_status millrace_layout_pack_segment(const millrace_layout* layout, const void* base, size_t start_bytes,
                                             size_t length_bytes, void* packed) {
  if (const auto status = check_segment(layout, start_bytes, length_bytes, base, packed)) return status;
  return answer(layout->layout->pack_segment(base, 1, static_cast<std::int64_t>(start_bytes),
                                             static_cast<std::int64_t>(length_bytes), packed));
}

millrace_status millrace_layout_unpack_segment(const millrace_layout* layout, const void* packed, size_t start_bytes,
                                               size_t length_bytes, void* base) {
  if (const auto status = check_segment(layout, start_bytes, length_bytes, base, packed)) return status;
  return answer(layout->layout->unpack_segment(packed, static_cast<std::int64_t>(start_bytes),
                                               static_cast<std::int64_t>(length_bytes), base, 1));
}

size_t millrace_layout_text(const millrace_layout* layout, char* text, size_t text_bytes) {
  const std::string whole = layout ? layout->layout->text() : std::string();
  if (text && text_bytes > 0) {
    const std::size_t shown = whole.size() < text_bytes ? whole.size() : text_bytes - 1;
    std::memcpy(text, whole.data(), shown);
    text[shown] = 0;
  }
  return whole.size() + 1;
}
