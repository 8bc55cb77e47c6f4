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

// The same, but a file that is at `path` is kept: it gets a name with a number, "run.1.json" for "run.json", which is
// in `kept`. Of several processes that write to one name at a time each finds what the one before it has written, and
// nothing is lost; where the file system has no hard links, the last one replaces what came in the same moment.
Status write_beside_older(const std::string& path, std::string_view text, std::string& kept, std::string& error);

// Why a file of this name could not be written, as far as that can be seen beforehand; "" if nothing speaks against it.
std::string obstacle_to_file(const std::string& path);

// All of `text` to an open descriptor, also when that is a slow or non-blocking pipe. False: errno says why.
bool write_all(int descriptor, std::string_view text);

}  // namespace millrace::record
