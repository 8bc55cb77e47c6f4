// The one function that the preload exports under a name of its own: `millrace check` looks it up in a program that
// runs under the preload, and from then on calls are marked instead of made.
#include <cstddef>

#include "shim/bind/observed.h"

extern "C" [[gnu::visibility("default")]] void millrace_check_begin(unsigned char* seen, std::size_t length);

void millrace_check_begin(unsigned char* seen, std::size_t length) { millrace::shim::begin_check(seen, length); }
