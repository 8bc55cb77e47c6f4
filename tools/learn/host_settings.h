// Settings of host MPIs that are worth a try: what their own tuning guides name, for the collectives that programs
// spend their time in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::tools {

struct HostSetting {
  std::string_view host;                    // how the host's name in a report begins: "Open MPI"
  std::string_view call;                    // worth it where a program spends time here; empty: anywhere
  std::vector<std::string_view> variables;  // "NAME=VALUE", all set together
};

std::span<const HostSetting> host_settings();

}  // namespace millrace::tools
