// What each preload exports of MPI in C, known without opening one: a launcher that maps four of them to choose one
// takes longer for that than for all else that it does.
#pragma once

#include <span>
#include <string_view>

namespace millrace::tools {

struct KnownList {
  std::string_view abi;   // abi_word()
  std::string_view name;  // "mpich-4.0", of libmillrace-mpich-4.0.so
  // What not all lists of the interface have comes first: that is what a host lacks, if anything.
  std::span<const std::string_view> entries;
};

// Of all that are built, the base list of an interface behind the others; generated (src/shim/generate/write_lists.py).
std::span<const KnownList> known_lists();

}  // namespace millrace::tools
