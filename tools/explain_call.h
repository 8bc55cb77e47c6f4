// `millrace explain`: how a collective inside a node is done, by the settings in force (docs/collectives.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::tools {

struct CallExplanation {
  bool is_understood = false;
  std::string text;  // or what is wrong
};

// `call`: barrier, bcast, reduce, allreduce, with or without MPI_ and in any case; `ranks` of one node, or of `nodes`
// together; `crowded`: they share cores. `products`: hosts ("Open MPI 4.1.4") to say of whether the call is left to
// them; all that were measured if there are none.
CallExplanation explain_call(std::string_view call, std::uint64_t bytes, std::uint32_t ranks, bool crowded,
                             const char* const* environment, std::span<const std::string> products = {},
                             std::uint32_t nodes = 1);

// The subcommand: `arguments` starts with "explain" and ends with a null pointer. `before`: of --mpi in front of it.
int explain_call_command(char** arguments, const std::optional<std::string>& before = {});

}  // namespace millrace::tools
