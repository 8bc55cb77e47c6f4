// A datatype of a collective call, as what is needed to move its data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "layout/layout.h"
#include "shim/bind/word.h"

namespace millrace::shim {

struct ExchangeType {
  Word handle = 0;
  std::int64_t size_bytes = 0;
  std::int64_t extent_bytes = 0;
  bool plain = false;                            // its data are bytes [0, extent), in order
  std::shared_ptr<const layout::Layout> layout;  // else, if it is compiled; if not, the host packs it
};

// Compiles a datatype at its first use, if the host says that it may be used in calls. Nothing for one that the host
// refuses (uncommitted, null) or of which it cannot tell the size. Raises no error. Thread-safe.
std::optional<ExchangeType> exchange_type(Word handle);

// Packs or unpacks by the host, in its own representation, which on one node is the bytes. An error of the host, 0 if
// there is none. `packed` has count * size_bytes bytes.
int pack_by_host(const ExchangeType& type, Word address, std::int64_t count, char* packed);
int unpack_by_host(const ExchangeType& type, const char* packed, Word address, std::int64_t count);

}  // namespace millrace::shim
