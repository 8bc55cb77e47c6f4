#include "shim/packed/packed_types.h"

#include "shim/packed/host_call.h"

namespace millrace::shim {
namespace {

SizedTypes& types() {
  static auto& made = *new SizedTypes([](std::int64_t size_bytes, Word* type) {
    return host<Symbol::MPI_Type_contiguous>(static_cast<Word>(size_bytes), byte_datatype(), as_word(type));
  });
  return made;
}

}  // namespace

HostType packed_type(std::int64_t size_bytes) noexcept { return types().get(size_bytes); }

void forget_packed_types() { types().forget(); }

}  // namespace millrace::shim
