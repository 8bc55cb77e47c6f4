// How much memory the ranks of a node may use together for what they share.
#pragma once

#include <cstdint>
#include <string>

namespace millrace::node {

// What is left before the control groups of this process, or the machine, run out of memory. `root` stands before /proc
// and the mount points. 0 if nothing can be read.
std::uint64_t available_memory_bytes(const std::string& root = {});

}  // namespace millrace::node
