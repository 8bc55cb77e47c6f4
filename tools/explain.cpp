#include "tools/explain.h"

#include <fmt/format.h>

#include "tools/program.h"

namespace millrace::tools {
namespace {

// A word as a shell would need it.
std::string shell_quoted(std::string_view word) {
  const std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string result = "'";
  for (const char letter : word) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

}  // namespace

std::string explain(const Plan& plan, const Request& request) {
  std::string text = fmt::format("program   {}\n", plan.program.empty() ? request.program[0] : plan.program);
  if (plan.binary != plan.program) text += fmt::format("run by    {}\n", plan.binary);
  if (plan.host.abi != Abi::unknown) {
    text += fmt::format("MPI       {}", abi_title(plan.host.abi));
    if (plan.host.library)
      text += fmt::format(", {} ({} MPI entries)", plan.host.library->path,
                          mpi_entries(plan.host.library->file->exports()).size());
    text += fmt::format("\nbecause   {}\n", plan.host.reason);
  }
  text += fmt::format("preload   {}\n", plan.preload.empty() ? "none" : plan.preload);
  if (!plan.notice.empty()) text += fmt::format("because   {}\n", plan.notice);
  if (plan.is_quiet) text += "because   MILLRACE=0, or the program is millrace itself\n";
  if (plan.error) return text;

  text += "command  ";
  if (!plan.preload.empty()) text += fmt::format(" LD_PRELOAD={}", shell_quoted(plan.ld_preload));
  const std::pair<const std::optional<std::string>&, const char*> variables[] = {{request.isa, "MILLRACE_ISA"},
                                                                                 {request.disable, "MILLRACE_DISABLE"},
                                                                                 {request.report, "MILLRACE_REPORT"},
                                                                                 {request.log, "MILLRACE_LOG"}};
  for (const auto& [value, variable] : variables)
    if (value) text += fmt::format(" {}={}", variable, shell_quoted(*value));
  for (char** word = request.program; *word; ++word) text += ' ' + shell_quoted(*word);
  return text + '\n';
}

std::string explain_words(const std::vector<std::string>& words) {
  std::string text = "command  ";
  for (const std::string& word : words) text += ' ' + shell_quoted(word);
  return text + '\n';
}

}  // namespace millrace::tools
