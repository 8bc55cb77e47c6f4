#include "tools/compare/output.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

namespace millrace::tools {
namespace {

struct Token {
  std::string text;
  std::optional<double> number;
};

struct Line {
  std::string text;
  std::vector<Token> tokens;
  std::string words;  // with a mark in place of each number
};
using Lines = std::vector<Line>;

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

// Numbers as programs print them, 12, 1.5, .5, 1e-3, and what stands between. Blanks between count as one: columns move
// when a number gets another length. A sign belongs to its number where none stands in front of it.
Line read_line(const std::string& text) {
  Line line{text, {}, {}};
  const auto add_letter = [&line](char letter) {
    const bool is_blank = letter == ' ' || letter == '\t';
    if (line.tokens.empty() || line.tokens.back().number) line.tokens.push_back({});
    std::string& words = line.tokens.back().text;
    if (!is_blank) words += letter;
    if (is_blank && !words.ends_with(' ')) words += ' ';
  };
  for (std::size_t at = 0; at < text.size();) {
    const bool has_sign =
        (text[at] == '-' || text[at] == '+') && (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1])));
    const std::size_t start = at + (has_sign ? 1 : 0);
    const bool begins =
        start < text.size() &&
        (is_digit(text[start]) || (text[start] == '.' && start + 1 < text.size() && is_digit(text[start + 1])));
    if (!begins) {
      add_letter(text[at++]);
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
    const auto next = static_cast<std::size_t>(end - text.data());
    // Digits of more than a number can hold are words.
    if (error != std::errc{}) {
      while (at < next) add_letter(text[at++]);
      continue;
    }
    line.tokens.push_back({text.substr(at, next - at), text[at] == '-' ? -value : value});
    at = next;
  }
  if (!line.tokens.empty() && !line.tokens.back().number && line.tokens.back().text == " ") line.tokens.pop_back();
  for (const Token& token : line.tokens) line.words += token.number ? std::string(1, '\0') : token.text;
  return line;
}

Lines read_lines(const std::string& text, const OutputRules& rules) {
  Lines lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    if (rules.ignored && std::regex_search(line, *rules.ignored)) continue;
    lines.push_back(read_line(line));
  }
  return lines;
}

bool have_same_words(const Lines& one, const Lines& other) {
  return std::ranges::equal(one, other, {}, &Line::words, &Line::words);
}

bool is_same_number(const Token& one, const Token& other, double tolerance) {
  if (one.text == other.text) return true;
  const double difference = std::abs(*one.number - *other.number);
  return tolerance > 0 && difference <= tolerance * std::max(std::abs(*one.number), std::abs(*other.number));
}

// Ranks that print at the same time are not in the same order in each run.
void sort(Lines& lines) {
  std::ranges::stable_sort(lines, [](const Line& one, const Line& other) {
    return one.words != other.words ? one.words < other.words : one.text < other.text;
  });
}

// Which numbers of which lines are not the same in all of these runs, whose words are.
std::vector<std::vector<bool>> varying(std::span<const Lines> runs, double tolerance) {
  std::vector<std::vector<bool>> varies;
  for (std::size_t l = 0; l < runs.front().size(); ++l) {
    const std::vector<Token>& first = runs.front()[l].tokens;
    std::vector<bool>& line = varies.emplace_back(first.size(), false);
    for (const Lines& run : runs)
      for (std::size_t t = 0; t < first.size(); ++t)
        line[t] = line[t] || (first[t].number && !is_same_number(first[t], run[l].tokens[t], tolerance));
  }
  return varies;
}

OutputVerdict difference(const Line* without, const Line* with) {
  OutputVerdict verdict{Sameness::differs, 0, without ? without->text : "", with ? with->text : "", std::nullopt};
  return verdict;
}

OutputVerdict first_difference(const Lines& without, const Lines& with) {
  for (std::size_t l = 0; l < std::max(without.size(), with.size()); ++l) {
    const Line* const one = l < without.size() ? &without[l] : nullptr;
    const Line* const other = l < with.size() ? &with[l] : nullptr;
    if (!one || !other || one->words != other->words) return difference(one, other);
  }
  return {};
}

}  // namespace

OutputVerdict compare_outputs(const std::vector<std::string>& without, const std::vector<std::string>& with,
                              const OutputRules& rules) {
  std::vector<Lines> ours, hosts;
  for (const std::string& text : without) hosts.push_back(read_lines(text, rules));
  for (const std::string& text : with) ours.push_back(read_lines(text, rules));
  OutputVerdict verdict;
  const auto all_have_same_words = [&](std::span<const Lines> runs) {
    return std::ranges::all_of(runs, [&](const Lines& run) { return have_same_words(run, hosts.front()); });
  };
  if (!all_have_same_words(hosts) || !all_have_same_words(ours)) {
    for (Lines& run : hosts) sort(run);
    for (Lines& run : ours) sort(run);
    verdict.sameness = Sameness::reordered;  // also where only runs with Millrace show it: no rank waits to print
    if (!all_have_same_words(hosts)) {
      const auto other =
          std::ranges::find_if(hosts, [&](const Lines& run) { return !have_same_words(run, hosts.front()); });
      verdict = first_difference(hosts.front(), *other);
      verdict.sameness = Sameness::incomparable;
      return verdict;
    }
  }
  for (const Lines& run : ours)
    if (!have_same_words(run, hosts.front())) return first_difference(hosts.front(), run);
  const std::vector<std::vector<bool>> varies = varying(hosts, rules.tolerance);
  for (std::size_t l = 0; l < varies.size(); ++l)
    for (std::size_t t = 0; t < varies[l].size(); ++t) {
      if (varies[l][t] && verdict.ignored_numbers++ == 0) {
        verdict.without = hosts.front()[l].text;
        verdict.with = ours.empty() ? "" : ours.front()[l].text;
      }
      if (varies[l][t]) continue;
      for (const Lines& run : ours) {
        const Token &one = hosts.front()[l].tokens[t], &other = run[l].tokens[t];
        if (!one.number || is_same_number(one, other, rules.tolerance)) continue;
        OutputVerdict differs = difference(&hosts.front()[l], &run[l]);
        const double larger = std::max(std::abs(*one.number), std::abs(*other.number));
        differs.off_by = larger > 0 ? std::abs(*one.number - *other.number) / larger : 0;
        return differs;
      }
    }
  if (verdict.ignored_numbers != 0 && verdict.sameness == Sameness::identical)
    verdict.sameness = Sameness::but_for_numbers;
  return verdict;
}

}  // namespace millrace::tools
