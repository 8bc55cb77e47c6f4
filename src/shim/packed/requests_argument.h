// Requests among the arguments of a call.
#pragma once

#include "shim/packed/host_call.h"

namespace millrace::shim {

// What is stored in element `index` of the array, or as the one request, at `position`, whatever it is: the same as
// before means that the host has not freed the request.
Word stored_request_at(const HostCall& call, std::size_t position, int index);
void set_request_null(HostCall& call, std::size_t position);

}  // namespace millrace::shim
