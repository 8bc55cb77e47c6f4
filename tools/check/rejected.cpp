#include "tools/check/rejected.h"

#include <charconv>
#include <fstream>
#include <string_view>

namespace millrace::tools::check {
namespace {

constexpr std::string_view mark = "  ! entry ";

std::string_view word_at(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && (std::isalnum(static_cast<unsigned char>(text[length])) || text[length] == '_'))
    ++length;
  return text.substr(0, length);
}

}  // namespace

CallSource::CallSource(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string entry;
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with(mark)) entry = text.substr(mark.size());
    if (text.starts_with("end module")) entry.clear();
    lines_.push_back({text, entry});
  }
}

void CallSource::write(const std::filesystem::path& path) const {
  std::ofstream file(path);
  for (const Line& line : lines_) file << line.text << '\n';
}

void CallSource::leave_out(const std::set<std::string>& entries) {
  std::erase_if(lines_, [&](const Line& line) { return entries.contains(line.entry); });
}

std::set<std::string> CallSource::rejected_by_compiler(const std::string& output, const std::string& file) const {
  std::set<std::string> entries;
  for (std::size_t at = output.find(file); at != std::string::npos; at = output.find(file, at + 1)) {
    const char* digits = output.c_str() + at + file.size();
    std::size_t number = 0;
    if (*digits != ':' && *digits != '(') continue;
    std::from_chars(digits + 1, output.c_str() + output.size(), number);
    if (number == 0 || number > lines_.size() || lines_[number - 1].entry.empty()) continue;
    entries.insert(lines_[number - 1].entry);
  }
  return entries;
}

std::set<std::string> CallSource::rejected_by_linker(const std::string& output, const std::string& language) const {
  std::set<std::string> mentioned, entries;
  const std::string function = "check_" + language + "_";
  for (std::size_t at = output.find(function); at != std::string::npos; at = output.find(function, at + 1))
    mentioned.emplace(word_at(std::string_view(output).substr(at + function.size())));
  for (const Line& line : lines_)
    if (mentioned.contains(line.entry)) entries.insert(line.entry);
  return entries;
}

}  // namespace millrace::tools::check
