#include "tools/pasted_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <vector>

#include "tools/constant.h"

namespace millrace::tools {
namespace {

enum class Word {
  number,
  count,  // of the lists that follow: the notation has none
  list,
  types,
  order,
  distributions,
  distribution_arguments,
  old_type,
};

struct Constructor {
  std::string_view name;  // in the notation; in MPI also behind create_
  std::vector<Word> words;
};

const std::vector<Constructor>& constructors() {
  using enum Word;
  static const std::vector<Constructor> all{
      {"contiguous", {number, old_type}},
      {"vector", {number, number, number, old_type}},
      {"hvector", {number, number, number, old_type}},
      {"indexed", {count, list, list, old_type}},
      {"hindexed", {count, list, list, old_type}},
      {"indexed_block", {count, number, list, old_type}},
      {"hindexed_block", {count, number, list, old_type}},
      {"struct", {count, list, list, types}},
      {"subarray", {count, list, list, list, order, old_type}},
      {"darray", {number, number, count, list, distributions, distribution_arguments, list, order, old_type}},
      {"resized", {old_type, number, number}},
      {"dup", {old_type}},
  };
  return all;
}

struct Wrong {
  std::string text;
};

std::string trimmed(std::string_view text) {
  const auto is_blank = [](unsigned char letter) { return std::isspace(letter) || letter == '&'; };
  while (!text.empty() && is_blank(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && is_blank(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return std::string(text);
}

// Without comments of C. Those of Fortran begin with a mark that C has as an operator; what follows it on its line goes
// unless it is the operator.
std::string without_comments(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("/*")) {
      at += std::min(rest.find("*/"), rest.size() - 2) + 1;
      result += ' ';
    } else if (rest.starts_with("//") || (rest[0] == '!' && !rest.starts_with("!="))) {
      at += std::min(rest.find('\n'), rest.size()) - 1;
    } else {
      result += text[at];
    }
  }
  return result;
}

// Parts at commas that stand in no bracket of any kind.
std::vector<std::string> parts(std::string_view text) {
  std::vector<std::string> found;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || (text[at] == ',' && depth == 0)) {
      found.push_back(trimmed(text.substr(start, at - start)));
      start = at + 1;
    } else if (std::string_view("([{").find(text[at]) != std::string_view::npos) {
      ++depth;
    } else if (std::string_view(")]}").find(text[at]) != std::string_view::npos) {
      --depth;
    }
  }
  if (found.size() == 1 && found[0].empty()) found.clear();
  return found;
}

// What stands between the bracket at `start` and its partner; its end in `end`.
std::string_view bracketed(std::string_view text, std::size_t start, std::size_t& end) {
  int depth = 0;
  for (end = start; end < text.size(); ++end) {
    if (std::string_view("([{").find(text[end]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(text[end]) != std::string_view::npos && --depth == 0)
      return text.substr(start + 1, end - start - 1);
  }
  throw Wrong{fmt::format("'{}' has no end", text.substr(start, 20))};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(without_comments(text)) {}

  std::string read() {
    std::size_t at = 0;
    while (at < text_.size()) {
      if (!is_letter(text_[at])) {
        ++at;
        continue;
      }
      const std::size_t start = at;
      while (at < text_.size() && is_letter(text_[at])) ++at;
      const std::string name = text_.substr(start, at - start), small = lower_case(name);
      const std::size_t next = text_.find_first_not_of(" \t\n", at);
      if (next == std::string::npos) break;
      if (small.starts_with("mpi_type_") && text_[next] == '(') {
        const std::string_view inside = bracketed(text_, next, at);
        call(name, small.substr(9), parts(inside));
      } else {
        definition(name, next, at);
      }
    }
    if (last_.empty()) throw Wrong{"none of these calls makes a datatype"};
    return last_;
  }

 private:
  static bool is_letter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_'; }

  // `name = value` or `name[] = {...}`, in whatever declaration.
  void definition(const std::string& name, std::size_t next, std::size_t& at) {
    if (text_[next] == '[') {
      std::size_t end = 0;
      bracketed(text_, next, end);
      next = text_.find_first_not_of(" \t\n", end + 1);
    }
    if (next == std::string::npos || text_[next] != '=') return;
    std::size_t end = next + 1;
    for (int depth = 0; end < text_.size(); ++end) {
      if (std::string_view("([{").find(text_[end]) != std::string_view::npos) ++depth;
      if (std::string_view(")]}").find(text_[end]) != std::string_view::npos) --depth;
      if (depth < 0) break;
      if (depth == 0 && std::string_view(";,\n").find(text_[end]) != std::string_view::npos) break;
    }
    values_[lower_case(name)] = trimmed(std::string_view(text_).substr(next + 1, end - next - 1));
    at = end;
  }

  std::int64_t number(const std::string& text) const {
    const Constant value = constant_value(text, values_);
    if (!value.value) throw Wrong{value.complaint};
    return *value.value;
  }

  // The elements of an array: (int[]){1, 2}, {1, 2}, (/1, 2/), [1, 2], or the name of one.
  std::vector<std::string> elements(const std::string& text, int depth = 0) const {
    if (const std::size_t brace = text.find('{'); brace != std::string::npos) {
      std::size_t end = 0;
      return parts(bracketed(text, brace, end));
    }
    if (text.starts_with("(/") && text.ends_with("/)")) return parts(std::string_view(text).substr(2, text.size() - 4));
    if (text.starts_with('[')) return parts(std::string_view(text).substr(1, text.size() - 2));
    const auto known = values_.find(lower_case(text));
    if (known == values_.end() || depth > 8)
      throw Wrong{
          fmt::format("the array '{}' is not known: paste where it is set, or write {{1, 2}} in its place", text)};
    if (known->second.find_first_of("{[(") == std::string::npos) return {known->second};  // one element, by its address
    return elements(known->second, depth + 1);
  }

  std::string type(const std::string& text) const {
    const auto made = types_.find(lower_case(text));
    return made == types_.end() ? text : made->second;
  }

  static std::string order(const std::string& text) {
    return lower_case(text).find("fortran") == std::string::npos ? "c" : "fortran";
  }

  static std::string distribution(const std::string& text) {
    std::string small = lower_case(text);
    return small.starts_with("mpi_distribute_") ? small.substr(15) : small;
  }

  std::string distribution_argument(const std::string& text) const {
    return lower_case(text) == "mpi_distribute_dflt_darg" ? "default" : std::to_string(number(text));
  }

  template <class One>
  std::string list(const std::string& text, std::int64_t count, const One& one) const {
    const std::vector<std::string> found = elements(text);
    if (count < 0 || static_cast<std::size_t>(count) > found.size())
      throw Wrong{fmt::format("'{}' has {} elements, {} are asked for", text, found.size(), count)};
    std::vector<std::string> result;
    result.reserve(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
    for (std::int64_t i = 0; i < count; ++i) result.push_back(one(found[static_cast<std::size_t>(i)]));
    return fmt::format("[{}]", fmt::join(result, ", "));
  }

  void call(const std::string& name, std::string what, const std::vector<std::string>& words) {
    if (what.starts_with("create_")) what.erase(0, 7);
    const auto& all = constructors();
    const auto found = std::ranges::find(all, what, &Constructor::name);
    if (found == all.end()) return;  // MPI_Type_commit and its like
    const std::size_t wanted = found->words.size();
    // Behind them the new type, and Fortran's error code.
    if (words.size() != wanted + 1 && words.size() != wanted + 2)
      throw Wrong{fmt::format("{} has {} arguments, {} are given", name, wanted + 1, words.size())};
    std::vector<std::string> result;
    std::string old;
    std::int64_t count = 0;
    const auto plain = [this](const std::string& text) { return std::to_string(number(text)); };
    try {
      for (std::size_t i = 0; i < wanted; ++i) {
        const std::string& word = words[i];
        switch (found->words[i]) {
          case Word::number: result.push_back(plain(word)); break;
          case Word::count: count = number(word); break;
          case Word::list: result.push_back(list(word, count, plain)); break;
          case Word::types:
            result.push_back(list(word, count, [this](const std::string& text) { return type(text); }));
            break;
          case Word::order: result.push_back(order(word)); break;
          case Word::distributions: result.push_back(list(word, count, distribution)); break;
          case Word::distribution_arguments:
            result.push_back(
                list(word, count, [this](const std::string& text) { return distribution_argument(text); }));
            break;
          case Word::old_type: old = type(word); break;
        }
      }
    } catch (const Wrong& wrong) {
      throw Wrong{fmt::format("{}: {}", name, wrong.text)};
    }
    if (!old.empty()) result.push_back(old);
    last_ = fmt::format("{}({})", what, fmt::join(result, ", "));
    types_[lower_case(words[wanted])] = last_;
  }

  const std::string text_;
  std::map<std::string, std::string> values_, types_;
  std::string last_;
};

}  // namespace

bool is_pasted(std::string_view text) { return lower_case(text).find("mpi_type_") != std::string::npos; }

PastedType read_pasted(std::string_view text) {
  try {
    return {Reader(text).read(), {}};
  } catch (Wrong& wrong) {
    return {{}, std::move(wrong.text)};
  }
}

}  // namespace millrace::tools
