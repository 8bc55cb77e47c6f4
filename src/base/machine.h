// What kind of machine this is: as far as figures taken on it hold for another one.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// "AMD EPYC 9B14 (family 25, model 17), 2 processors"; "unknown" where the system does not say.
std::string machine_name();

// The same of a text like /proc/cpuinfo.
std::string machine_name_of(std::string_view cpuinfo);

}  // namespace millrace
