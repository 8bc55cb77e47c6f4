#include "shim/datatypes/wire_types.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/datatypes/datatypes.h"

namespace millrace::shim {
namespace {

// Predefined types only: their handles are never freed, so what was learnt holds for ever.
std::shared_mutex types_mutex;
std::unordered_map<Word, WireType>& predefined_types() {
  static auto& map = *new std::unordered_map<Word, WireType>;  // never destroyed, as every registry of the shim
  return map;
}

struct RememberedWireType {
  Word datatype = 0;
  WireType type{};
};
thread_local RememberedWireType remembered __attribute__((tls_model("initial-exec")));

// The bounds are MPI_Aint, the size an int: types of 2 GiB and more are MPI_UNDEFINED here and have no WireType.
std::optional<WireType> asked(Word datatype, bool& predefined) {
  int size = 0;
  std::intptr_t lb = 0;
  std::intptr_t extent = 0;
  std::intptr_t true_lb = 0;
  std::intptr_t true_extent = 0;
  if (host<Symbol::MPI_Type_size>(datatype, as_word(&size)) != 0 || size < 0 ||
      host<Symbol::MPI_Type_get_extent>(datatype, as_word(&lb), as_word(&extent)) != 0 ||
      host<Symbol::MPI_Type_get_true_extent>(datatype, as_word(&true_lb), as_word(&true_extent)) != 0)
    return std::nullopt;
  predefined = is_predefined(datatype);
  // Overlapping pieces may hide a gap behind a size that looks right; an element of one piece per byte cannot be told
  // from outside, so only what MPI itself calls predefined is plain.
  const bool fills = lb == 0 && true_lb == 0 && size == extent && size == true_extent;
  return WireType{size, extent, fills, fills && predefined};
}

}  // namespace

std::optional<WireType> wire_type(Word datatype) noexcept try {
  if (remembered.datatype == datatype && datatype != 0) return remembered.type;
  if (datatype == abi::null_type()) return std::nullopt;
  {
    const std::shared_lock lock(types_mutex);
    if (const auto found = predefined_types().find(datatype); found != predefined_types().end()) {
      remembered = {datatype, found->second};
      return found->second;
    }
  }
  bool predefined = false;
  const std::optional<WireType> type = asked(datatype, predefined);
  if (type && predefined) {
    const std::lock_guard lock(types_mutex);
    predefined_types().emplace(datatype, *type);
  }
  return type;
} catch (...) {
  return std::nullopt;
}

}  // namespace millrace::shim
