#include "shim/host/library_version.h"

#include <vector>

#include "shim/bind/forward.h"

namespace millrace::shim {

std::string library_version() {
  constexpr std::size_t longest = 8192;  // MPI_MAX_LIBRARY_VERSION_STRING of all hosts fits
  std::vector<char> text(longest + 1, '\0');
  int length = 0;
  if (host<Symbol::MPI_Get_library_version>(as_word(text.data()), as_word(&length)) != 0) return {};
  return text.data();
}

const plan::HostVersion& host_version() {
  static const plan::HostVersion version = plan::host_version(library_version());
  return version;
}

}  // namespace millrace::shim
