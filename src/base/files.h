// Small text files of /proc and /sys, which have no size and may vanish between two looks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

std::optional<std::string> read_text(const std::string& path);  // without blanks and line ends at the end
// Byte for byte; of a file that is longer than `most_bytes`, some more than these.
std::optional<std::string> read_whole(const std::string& path, std::size_t most_bytes);
std::vector<std::string> read_lines(const std::string& path);
// What fits of a file, in `buffer`: nothing is allocated. Empty if it cannot be read.
std::string_view read_start(const std::string& path, std::span<char> buffer);
std::optional<long long> read_number(const std::string& path);
std::vector<std::string> split_text(std::string_view text, char separator);  // empty parts are kept

// "0-3,8,10-11" as the kernel writes sets of processors.
std::vector<int> parse_list(std::string_view text);
std::string format_list(const std::vector<int>& sorted);

}  // namespace millrace
