// How `millrace doctor` shows what it has found: as text of at most 80 columns, and for programs.
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/findings.h"

namespace millrace::tools {

struct Diagnosis {
  std::vector<std::string> command;
  int exit_code = 0;  // of the job
  Examined job;
  std::vector<Finding> findings;
};

std::string as_text(const Diagnosis& diagnosis);
std::string as_json(const Diagnosis& diagnosis);

// Lines of at most `columns`, the first behind `start`, the others as far in as that is long.
std::string wrapped(const std::string& start, const std::string& text, std::size_t columns = 80);

// "at most 1.2 s of the ranks' 40.8 s (2.9 %) ..."
std::string worth_in_words(const Finding& finding, const Examined& job);

}  // namespace millrace::tools
