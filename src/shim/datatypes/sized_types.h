// Datatypes of ours that differ in their size alone: each is made once, and lives until MPI_Finalize.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <unordered_map>

#include "shim/bind/word.h"

namespace millrace::shim {

struct HostType {
  Word handle = 0;  // committed
  int fortran_handle = 0;
};

// Never to be destroyed, as every registry of the shim.
class SizedTypes {
 public:
  // Makes the type for a size, and returns the host's error.
  using Make = int (*)(std::int64_t bytes, Word* type);
  explicit SizedTypes(Make make) : make_(make) {}

  // handle 0: the host refuses, or so many sizes are known already that the call is better left to the host.
  // Thread-safe; never throws.
  HostType get(std::int64_t bytes) noexcept;
  void forget();  // before MPI_Finalize

 private:
  static constexpr std::size_t most_sizes = 1024;
  Make make_;
  std::shared_mutex mutex_;
  std::unordered_map<std::int64_t, HostType> types_;
};

}  // namespace millrace::shim
