#include "base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace millrace {
namespace {

std::optional<long long> number(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

// By system calls: a stream costs a short job more than the file does.
std::optional<std::string> read_whole(const std::string& path, std::size_t most_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  char piece[4096];
  ssize_t got = 0;
  while (text.size() <= most_bytes) {
    got = ::read(file, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece, static_cast<std::size_t>(got));
  }
  close(file);
  if (got < 0) return std::nullopt;  // a directory, or a failure in the middle
  return text;
}

std::optional<std::string> read_text(const std::string& path) {
  auto text = read_whole(path, ~std::size_t{0});
  if (text) text->erase(text->find_last_not_of(" \t\n") + 1);
  return text;
}

std::string_view read_start(const std::string& path, std::span<char> buffer) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::size_t used = 0;
  while (used < buffer.size()) {
    const ssize_t got = ::read(file, buffer.data() + used, buffer.size() - used);
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  close(file);
  return {buffer.data(), used};
}

std::vector<std::string> read_lines(const std::string& path) {
  const auto text = read_text(path);
  return text ? split_text(*text, '\n') : std::vector<std::string>{};
}

std::optional<long long> read_number(const std::string& path) {
  const auto text = read_text(path);
  return text ? number(*text) : std::nullopt;
}

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::vector<int> parse_list(std::string_view text) {
  std::vector<int> members;
  for (const std::string& part : split_text(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = number(std::string_view(part).substr(0, dash));
    const auto last = dash == std::string::npos ? first : number(std::string_view(part).substr(dash + 1));
    if (!first || !last || *last - *first > 1 << 20) continue;
    for (long long member = *first; member <= *last; ++member) members.push_back(static_cast<int>(member));
  }
  return members;
}

std::string format_list(const std::vector<int>& sorted) {
  std::string text;
  for (std::size_t start = 0; start < sorted.size();) {
    std::size_t end = start;
    while (end + 1 < sorted.size() && sorted[end + 1] == sorted[end] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(sorted[start]);
    if (end > start) text += '-' + std::to_string(sorted[end]);
    start = end + 1;
  }
  return text;
}

}  // namespace millrace
