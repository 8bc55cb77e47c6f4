#include "layout/layout.h"

#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "layout/checked.h"
#include "layout/large.h"
#include "layout/lower.h"
#include "layout/plan.h"
#include "layout/run.h"
#include "layout/text.h"
#include "layout/worth.h"

namespace millrace::layout {

Layout::Layout() = default;
Layout::~Layout() = default;

struct Maker {
  static std::shared_ptr<const Layout> make(const Description& description) {
    const Meaning meaning = lower(description);
    std::shared_ptr<Layout> layout(new Layout);
    layout->size_bytes_ = bytes_of(meaning.item);
    layout->lb_bytes_ = meaning.lb;
    layout->extent_bytes_ = meaning.extent();
    layout->true_lb_bytes_ = low_of(meaning.item);
    layout->true_extent_bytes_ = minus(high_of(meaning.item), low_of(meaning.item));
    auto plan = std::make_unique<Plan>();
    prepare(*plan, meaning.item, layout->extent_bytes_);
    const WorthAbove above = worth_above(*plan);
    layout->worth_above_ = above.for_message;
    layout->worth_packing_above_ = above.for_packing;
    layout->plan_ = std::move(plan);
    return layout;
  }
};

Status compile(const Description& description, std::shared_ptr<const Layout>& layout) noexcept {
  try {
    layout = Maker::make(description);
    return Status::ok;
  } catch (const Failure& failure) {
    return failure.status;
  } catch (const std::bad_alloc&) {
    return Status::no_memory;
  } catch (const std::length_error&) {
    return Status::no_memory;
  }
}

bool Layout::is_contiguous(std::int64_t count) const noexcept {
  return plan_->root.is_empty() || (plan_->root.is_block() && (count <= 1 || plan_->is_contiguous_repeated));
}

bool Layout::packs_as(const Layout& other) const noexcept {
  const Item &one = plan_->root, &two = other.plan_->root;
  return one.displacement_bytes == two.displacement_bytes && same_form(one, two);
}

std::int64_t Layout::mean_block_bytes() const noexcept { return plan_->mean_block_bytes; }

bool Layout::is_list() const noexcept { return plan_->root.node && plan_->root.node->shape != Shape::loop; }

std::int64_t Layout::touched_bytes(std::int64_t count) const noexcept {
  const std::int64_t extent = extent_bytes_ < 0 ? -extent_bytes_ : extent_bytes_;
  std::int64_t touched;
  if (count <= 0) return 0;
  if (__builtin_mul_overflow(count - 1, extent, &touched) ||
      __builtin_add_overflow(touched, true_extent_bytes_, &touched))
    return INT64_MAX;
  return touched;
}

Status Layout::pack(const void* base, std::int64_t count, void* packed) const noexcept {
  std::int64_t bytes;
  if (const Status status = packed_bytes(count, bytes); status != Status::ok) return status;
  const auto from = reinterpret_cast<Address>(base);
  char* const to = static_cast<char*>(packed);
  if (is_large(bytes) && pack_by_threads(*plan_, from, count, 0, bytes, to)) return Status::ok;
  pack_elements(*plan_, from, count, to);
  return Status::ok;
}

Status Layout::unpack(const void* packed, void* base, std::int64_t count) const noexcept {
  std::int64_t bytes;
  if (const Status status = packed_bytes(count, bytes); status != Status::ok) return status;
  const auto to = reinterpret_cast<Address>(base);
  const char* const from = static_cast<const char*>(packed);
  if (is_large(bytes) && unpack_by_threads(*plan_, to, count, 0, bytes, from)) return Status::ok;
  unpack_elements(*plan_, to, count, from);
  return Status::ok;
}

namespace {

// Also refuses a count whose packed bytes do not fit into 64 bits.
bool is_inside(const Layout& layout, std::int64_t count, std::int64_t start, std::int64_t length) {
  std::int64_t bytes;
  return layout.packed_bytes(count, bytes) == Status::ok && start >= 0 && length >= 0 && start <= bytes &&
         length <= bytes - start;
}

}  // namespace

Status Layout::pack_segment(const void* base, std::int64_t count, std::int64_t start_bytes, std::int64_t length_bytes,
                            void* packed) const noexcept {
  if (!is_inside(*this, count, start_bytes, length_bytes)) return Status::bad_argument;
  const auto from = reinterpret_cast<Address>(base);
  char* const to = static_cast<char*>(packed);
  if (is_large(length_bytes) && pack_by_threads(*plan_, from, count, start_bytes, length_bytes, to)) return Status::ok;
  pack_part(*plan_, from, count, start_bytes, start_bytes + length_bytes, to);
  return Status::ok;
}

Status Layout::unpack_segment(const void* packed, std::int64_t start_bytes, std::int64_t length_bytes, void* base,
                              std::int64_t count) const noexcept {
  if (!is_inside(*this, count, start_bytes, length_bytes)) return Status::bad_argument;
  const auto to = reinterpret_cast<Address>(base);
  const char* const from = static_cast<const char*>(packed);
  if (is_large(length_bytes) && unpack_by_threads(*plan_, to, count, start_bytes, length_bytes, from))
    return Status::ok;
  unpack_part(*plan_, to, count, start_bytes, start_bytes + length_bytes, from);
  return Status::ok;
}

std::string Layout::text() const noexcept {
  try {
    return fmt::format("size {}, lb {}, extent {}, true lb {}, true extent {}\none element:\n{}several:\n{}",
                       size_bytes_, lb_bytes_, extent_bytes_, true_lb_bytes_, true_extent_bytes_, form_text(*plan_),
                       repetition_text(*plan_));
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace millrace::layout
