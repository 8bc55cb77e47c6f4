// Why the host MPI did a call, in words for those who run the program (docs/report.md has the terse ones).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace millrace::tools {

struct ReasonWords {
  std::string_view name;  // as in the report
  const char* why;        // follows "12 calls: "
  const char* change;     // "": nothing helps, or what helps hangs on more than the reason (reason_findings.cpp)
};

std::span<const ReasonWords> all_reasons();

// Null for a reason that this version does not know.
const ReasonWords* reason_words(std::string_view name);
std::string why_in_words(std::string_view name);

}  // namespace millrace::tools
