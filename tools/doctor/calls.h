// What kind of call a name is, as far as advice goes by it.
#pragma once

#include <string_view>

namespace millrace::tools {

bool is_collective(std::string_view name);  // that we do in shared memory, in some case; also one that does not wait
bool waits_for_all(std::string_view name);  // a collective that no rank leaves before all have come
bool makes_communicator(std::string_view name);

}  // namespace millrace::tools
