#include "shim/datatypes/sized_types.h"

#include <mutex>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/host/fortran.h"

namespace millrace::shim {

HostType SizedTypes::get(std::int64_t bytes) noexcept try {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = types_.find(bytes); found != types_.end()) return found->second;
    if (types_.size() >= most_sizes) return {};
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = types_.find(bytes); found != types_.end()) return found->second;
  Word made = 0;
  if (make_(bytes, &made) != 0 || host<Symbol::MPI_Type_commit>(as_word(&made)) != 0) return {};
  const Word handle = abi::handle(made);
  return types_.emplace(bytes, HostType{handle, fortran::of_datatype(handle)}).first->second;
} catch (...) {
  return {};
}

void SizedTypes::forget() {
  const std::lock_guard lock(mutex_);
  for (auto& [bytes, type] : types_) {
    Word handle = type.handle;
    host<Symbol::MPI_Type_free>(as_word(&handle));
  }
  types_.clear();
}

}  // namespace millrace::shim
