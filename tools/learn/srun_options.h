// What of srun's command line has to be known to find its programs: Slurm's options are not those of MPI's launchers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace millrace::tools {

bool is_srun(std::string_view program);  // by its name

// How many of the following words are values of this one, an option: 0 or 1. As getopt_long(3) reads it: `-n4`, `-ln
// 4`.
std::size_t values_of_srun_option(std::string_view word);

// Whether srun, the first of `words`, is told to read the programs of the ranks from a file.
bool has_multi_prog(std::span<const std::string> words);

}  // namespace millrace::tools
