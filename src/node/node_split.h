// Nodes that are not there: the ranks of one machine put on several, to try out what a job on several nodes does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace millrace::node {

// "2+1+4": so many ranks on each node, in rank order; "0,1,0,1": the node of each rank. Where there are more ranks than
// that, it begins anew (on further nodes; on the same ones). Nothing if the text is neither. `ranks` >= 1.
std::optional<std::vector<std::uint32_t>> split_nodes(std::string_view text, std::uint32_t ranks);

}  // namespace millrace::node
