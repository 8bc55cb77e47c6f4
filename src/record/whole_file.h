// Files that are there whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace millrace::record {

// Writes `text` beside `path` and renames it there, so that a reader sees the old file or the new one; nothing is left
// behind on failure, and `error` says why ("No space left on device"). What is at `path` and is no regular file (a
// pipe, a device) is written to directly, because renaming would put a file in its place.
Status write_whole_file(const std::string& path, std::string_view text, std::string& error);

// All of `text` to an open descriptor, also when that is a slow or non-blocking pipe. False: errno says why.
bool write_all(int descriptor, std::string_view text);

}  // namespace millrace::record
