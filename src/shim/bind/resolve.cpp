#include <fmt/format.h>

#include "abi.h"
#include "base/log.h"
#include "shim/bind/forward.h"
#include "shim/bind/host.h"

namespace millrace::shim {

constinit std::atomic<void*> next_definitions[static_cast<std::size_t>(Symbol::count)] = {};
constinit std::atomic<void*> host_functions[static_cast<std::size_t>(Symbol::count)] = {};

namespace {

// Stands in for a function that the host does not have. Without Millrace the program would not have been linked;
// it gets here only by a name that this preload exports and the host lacks, which the launcher's choice prevents.
Word missing_function() { return as_word(abi::err_intern); }

}  // namespace

void* resolve(Symbol symbol) {
  void* next = find_next_function(symbol_name(symbol));
  if (!next) {
    log(LogLevel::error, fmt::format("the host MPI has no {}", symbol_name(symbol)));
    next = reinterpret_cast<void*>(&missing_function);
  }
  next_definitions[static_cast<std::size_t>(symbol)].store(next, std::memory_order_relaxed);
  return next;
}

void* resolve_host_function(Symbol symbol) {
  const char* const name = symbol_name(symbol);
  // In Fortran pmpi_send_, PMPI_SEND, pompi_send_f.
  void* function = find_next_function(fmt::format("{}{}", name[0] == 'M' ? 'P' : 'p', name).c_str());
  if (!function) function = resolve(symbol);
  host_functions[static_cast<std::size_t>(symbol)].store(function, std::memory_order_relaxed);
  return function;
}

}  // namespace millrace::shim
