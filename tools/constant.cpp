#include "tools/constant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace millrace::tools {
namespace {

constexpr int deepest = 50;  // names that stand for each other, brackets

struct Wrong {
  std::string text;
};

// On 64-bit Linux.
constexpr std::pair<std::string_view, std::int64_t> sizes[] = {
    {"char", 1},          {"short", 2},           {"int", 4},      {"long", 8},      {"long long", 8},
    {"float", 4},         {"double", 8},          {"size_t", 8},   {"int8_t", 1},    {"int16_t", 2},
    {"int32_t", 4},       {"int64_t", 8},         {"uint8_t", 1},  {"uint16_t", 2},  {"uint32_t", 4},
    {"uint64_t", 8},      {"unsigned", 4},        {"mpi_aint", 8}, {"mpi_count", 8}, {"long double", 16},
    {"float complex", 8}, {"double complex", 16},
};

class Expression {
 public:
  Expression(std::string_view text, const std::map<std::string, std::string>& values, int depth)
      : text_(text), values_(values), depth_(depth) {
    if (depth > deepest) throw Wrong{fmt::format("'{}' goes round in circles", text)};
  }

  std::int64_t all() {
    const std::int64_t value = sum();
    if (peek() != '\0') fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const {
    throw Wrong{fmt::format("'{}' is no whole number: write its value in its place", text_)};
  }

  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void check(bool overflows) const {
    if (overflows) throw Wrong{fmt::format("'{}' needs more than 64 bits", text_)};
  }

  std::int64_t sum() {
    std::int64_t value = product();
    while (peek() == '+' || peek() == '-') {
      const bool is_plus = text_[at_++] == '+';
      const std::int64_t next = product();
      check(is_plus ? __builtin_add_overflow(value, next, &value) : __builtin_sub_overflow(value, next, &value));
    }
    return value;
  }

  std::int64_t product() {
    std::int64_t value = factor();
    while (peek() == '*' || peek() == '/') {
      const bool is_times = text_[at_++] == '*';
      const std::int64_t next = factor();
      if (!is_times && (next == 0 || next == -1)) fail();
      if (is_times)
        check(__builtin_mul_overflow(value, next, &value));
      else
        value /= next;
    }
    return value;
  }

  std::int64_t factor() {
    const char next = peek();
    if (next == '-' || next == '+') {
      ++at_;
      std::int64_t value = factor();
      if (next == '-') check(__builtin_sub_overflow(std::int64_t{0}, value, &value));
      return value;
    }
    if (next == '(') return in_brackets();
    if (std::isdigit(static_cast<unsigned char>(next))) return digits();
    return name();
  }

  // A sum, or a cast in front of something.
  std::int64_t in_brackets() {
    const std::size_t end = text_.find(')', at_);
    if (end == std::string_view::npos || depth_ > deepest) fail();
    const std::string inside = lower_case(text_.substr(at_ + 1, end - at_ - 1));
    if (std::ranges::any_of(sizes, [&](const auto& entry) { return entry.first == inside; })) {
      at_ = end + 1;
      return factor();
    }
    ++at_;
    ++depth_;
    const std::int64_t value = sum();
    --depth_;
    if (peek() != ')') fail();
    ++at_;
    return value;
  }

  std::int64_t digits() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) throw Wrong{fmt::format("'{}' needs more than 64 bits", text_)};
    at_ = static_cast<std::size_t>(end - text_.data());
    while (at_ < text_.size() && std::string_view("uUlL").find(text_[at_]) != std::string_view::npos) ++at_;
    if (at_ < text_.size() &&
        (text_[at_] == '.' || text_[at_] == '_' || std::isalnum(static_cast<unsigned char>(text_[at_]))))
      fail();
    return value;
  }

  std::int64_t name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    const std::string word = lower_case(text_.substr(start, at_ - start));
    if (word.empty()) fail();
    if (word == "sizeof" && peek() == '(') {
      const std::size_t end = text_.find(')', at_);
      if (end == std::string_view::npos) fail();
      const std::string type = lower_case(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      for (const auto& [known, bytes] : sizes)
        if (type == known) return bytes;
      throw Wrong{fmt::format("the size of '{}' is not known: write its number of bytes in its place", type)};
    }
    const auto value = values_.find(word);
    if (value == values_.end())
      throw Wrong{fmt::format("'{}' has no value here: write its number in its place, or paste where it is set",
                              text_.substr(start, at_ - start))};
    return Expression(value->second, values_, depth_ + 1).all();
  }

  std::string_view text_;
  const std::map<std::string, std::string>& values_;
  int depth_;
  std::size_t at_ = 0;
};

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

Constant constant_value(std::string_view text, const std::map<std::string, std::string>& values) {
  try {
    return {Expression(text, values, 0).all(), {}};
  } catch (Wrong& wrong) {
    return {std::nullopt, std::move(wrong.text)};
  }
}

}  // namespace millrace::tools
