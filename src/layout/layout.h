// A datatype compiled: what it is in memory, in its smallest form, and how its bytes are packed and unpacked. Knows
// nothing of MPI. Nothing here throws. A Layout does not change after it was compiled: any number of threads may use
// it.
//
//   std::shared_ptr<const Layout> layout;
//   if (compile(description, layout) == Status::ok && layout->worth_taking(count)) layout->pack(from, count, to);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "layout/description.h"

namespace millrace::layout {

struct Plan;

class Layout {
 public:
  ~Layout();
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  // As MPI_Type_size, MPI_Type_get_extent and MPI_Type_get_true_extent. A type without data has true bounds of 0.
  std::int64_t size_bytes() const noexcept { return size_bytes_; }
  std::int64_t lb_bytes() const noexcept { return lb_bytes_; }
  std::int64_t extent_bytes() const noexcept { return extent_bytes_; }
  std::int64_t true_lb_bytes() const noexcept { return true_lb_bytes_; }
  std::int64_t true_extent_bytes() const noexcept { return true_extent_bytes_; }

  // Whether `count` elements are one run of bytes in packed order, starting at base + true_lb_bytes().
  bool is_contiguous(std::int64_t count) const noexcept;

  // Whether one element of both has the same smallest form: the same bytes in the same order.
  bool packs_as(const Layout& other) const noexcept;

  // Whether pack() and unpack() are expected to beat the host by more than taking over costs, by measurement
  // (docs/layouts.md). False for contiguous data and for runs so long that everybody's memcpy is the same.
  bool worth_taking(std::int64_t count) const noexcept { return count > worth_above_; }
  // The same of a call that does nothing but that, which pays from fewer bytes on.
  bool worth_packing(std::int64_t count) const noexcept { return count > worth_packing_above_; }

  // Of one element: the mean length of its blocks (0 without data), and whether they lie at listed places rather than
  // in loops.
  std::int64_t mean_block_bytes() const noexcept;
  bool is_list() const noexcept;
  // From the first byte of `count` elements to the last, gaps included; saturates.
  std::int64_t touched_bytes(std::int64_t count) const noexcept;

  // Bytes of `count` elements packed; bad_argument if count is negative or the sum exceeds 2^63-1.
  Status packed_bytes(std::int64_t count, std::int64_t& bytes) const noexcept {
    std::int64_t product;
    if (count < 0 || __builtin_mul_overflow(size_bytes_, count, &product)) return Status::bad_argument;
    bytes = product;
    return Status::ok;
  }

  // Packs `count` elements at `base` into `packed`, which has packed_bytes(count) bytes. No bytes outside
  // [base + true_lb, base + (count - 1) * extent + true_lb + true_extent) are read (mirrored for a negative extent).
  // `base` may be null if the displacements are addresses (MPI_BOTTOM). The buffers must not overlap.
  Status pack(const void* base, std::int64_t count, void* packed) const noexcept;
  // The reverse. Bytes of gaps are not written, not even with the value they have.
  Status unpack(const void* packed, void* base, std::int64_t count) const noexcept;

  // Bytes [start_bytes, start_bytes + length_bytes) of the packed form of `count` elements, into or out of
  // `packed`, which has length_bytes bytes. Segments may cut predefined elements and come in any order; finding the
  // start takes O(depth of the form * log(length of its lists)). bad_argument if the segment is not inside the whole.
  Status pack_segment(const void* base, std::int64_t count, std::int64_t start_bytes, std::int64_t length_bytes,
                      void* packed) const noexcept;
  Status unpack_segment(const void* packed, std::int64_t start_bytes, std::int64_t length_bytes, void* base,
                        std::int64_t count) const noexcept;

  // The canonical form and the plan, some lines for people; empty if memory ran out.
  std::string text() const noexcept;

 private:
  friend struct Maker;
  Layout();

  std::int64_t size_bytes_ = 0, lb_bytes_ = 0, extent_bytes_ = 0, true_lb_bytes_ = 0, true_extent_bytes_ = 0;
  std::int64_t worth_above_ = 0, worth_packing_above_ = 0;
  std::unique_ptr<const Plan> plan_;
};

// bad_argument: the description contradicts itself (lists of different lengths, a missing child, negative counts, a
// subarray outside its array, ...). not_supported: a size or displacement does not fit into 64 bits. no_memory.
// `layout` is set only on success. Takes time and memory proportional to the lists in the description.
Status compile(const Description& description, std::shared_ptr<const Layout>& layout) noexcept;

}  // namespace millrace::layout
