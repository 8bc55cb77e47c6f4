// What a check program wrote: one verdict for each entry.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace millrace::tools::check {

struct Results {
  std::map<std::string, std::set<std::string>> entries;  // verdict (programs/driver.c) -> names of entries
  std::string host, preload;                             // the libraries that the program found itself with
  bool complete = false;                                 // written to the end

  const std::set<std::string>& with(const std::string& verdict) const;
};

Results read_results(const std::filesystem::path& path);

// One line about a language, and one about each entry that is not as it should be. Entries in `excused` may be
// untried: another language has called the same symbol. Returns whether all is well.
bool print_results(const std::string& title, const Results& results, const std::set<std::string>& excused,
                   bool verbose);

}  // namespace millrace::tools::check
