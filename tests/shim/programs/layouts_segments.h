// A datatype packed and unpacked by src/layout in random segments out of order, between pages that must not be touched.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layout/layout.h"
#include "layout/notation.h"
#include "memory.h"
#include "random_datatypes.h"

class Segments {
 public:
  Segments(std::size_t most_span_bytes, std::size_t most_packed_bytes)
      : memory_(most_span_bytes), packed_(most_packed_bytes) {}

  bool compile(const std::string& text) {
    const auto parsed = millrace::layout::parse_notation(text);
    return parsed.description && millrace::layout::compile(*parsed.description, layout_) == millrace::Status::ok;
  }

  // Whether the host says the same of the type, except that its true bounds may hold more: those of MPICH count the
  // places of elements without data.
  bool lies_within(MPI_Datatype type) const {
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    return layout_->size_bytes() == size_of(type) && layout_->lb_bytes() == lb && layout_->extent_bytes() == extent &&
           layout_->true_lb_bytes() >= true_lb &&
           layout_->true_lb_bytes() + layout_->true_extent_bytes() <= true_lb + true_extent;
  }

  // `first` is the first byte that belongs to the elements.
  bool pack(const unsigned char* first, const Span& span, int count, const unsigned char* expected, std::size_t bytes,
            Random& random) {
    unsigned char* const place = put(first, span, random);
    for (const auto& [start, length] : cut(bytes, random)) {
      unsigned char* const piece = packed_.span(length, side(random));
      std::memset(piece, 0xaa, length);
      if (layout_->pack_segment(place - span.low, count, static_cast<std::int64_t>(start),
                                static_cast<std::int64_t>(length), piece) != millrace::Status::ok ||
          std::memcmp(piece, expected + start, length) != 0)
        return false;
    }
    return true;
  }

  // Over memory that holds `fill`; `expected` is what is in the memory of the elements then, gaps included.
  bool unpack(const unsigned char* packed, std::size_t bytes, const Span& span, int count,
              const unsigned char* expected, unsigned char fill, Random& random) {
    const std::vector<unsigned char> filled(static_cast<std::size_t>(span.bytes), fill);
    unsigned char* const place = put(filled.data(), span, random);
    for (const auto& [start, length] : cut(bytes, random)) {
      unsigned char* const piece = packed_.span(length, side(random));
      std::memcpy(piece, packed + start, length);
      if (layout_->unpack_segment(piece, static_cast<std::int64_t>(start), static_cast<std::int64_t>(length),
                                  place - span.low, count) != millrace::Status::ok)
        return false;
    }
    return std::memcmp(place, expected, static_cast<std::size_t>(span.bytes)) == 0;
  }

  long done = 0;

 private:
  static millrace::layout::test::Against side(Random& random) {
    return random.between(0, 1) == 0 ? millrace::layout::test::Against::lower : millrace::layout::test::Against::upper;
  }

  unsigned char* put(const unsigned char* first, const Span& span, Random& random) const {
    unsigned char* const place = memory_.span(static_cast<std::size_t>(span.bytes), side(random));
    std::memcpy(place, first, static_cast<std::size_t>(span.bytes));
    return place;
  }

  std::vector<std::pair<std::size_t, std::size_t>> cut(std::size_t bytes, Random& random) {
    std::vector<std::size_t> cuts{0, bytes};
    for (int n = random.between(0, 5); n > 0; --n) cuts.push_back(random.next() % bytes);
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::pair<std::size_t, std::size_t>> segments;
    for (std::size_t i = 1; i < cuts.size(); ++i) segments.emplace_back(cuts[i - 1], cuts[i] - cuts[i - 1]);
    for (std::size_t i = segments.size(); i > 1; --i) std::swap(segments[i - 1], segments[random.next() % i]);
    done += static_cast<long>(segments.size());
    return segments;
  }

  millrace::layout::test::Memory memory_, packed_;
  std::shared_ptr<const millrace::layout::Layout> layout_;
};
