// Where in the command line of an MPI launcher its programs stand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::tools {

// The places of the programs in `words` (several where ':' parts them): behind the launcher and its options, of which
// those with values are known by name; a word that is no option and can be executed. A program without a launcher is
// its own place. Empty if some part has none. `search_path`: of PATH.
std::vector<std::size_t> program_places(const std::vector<std::string>& words, std::string_view search_path);

}  // namespace millrace::tools
