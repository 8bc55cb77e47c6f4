// The form and the plan, for people.
#include "layout/text.h"

#include <fmt/format.h>

#include <iterator>

namespace millrace::layout {
namespace {

constexpr std::size_t most_entries_shown = 12;
constexpr int most_levels_shown = 24;

class TextWriter {
 public:
  void item(const Item& item, int level) {
    if (item.is_block()) return line(level, "{} bytes at {}", item.block_bytes, item.displacement_bytes);
    const Node& node = *item.node;
    const std::string at = item.displacement_bytes ? fmt::format(" from {}", item.displacement_bytes) : "";
    switch (node.shape) {
      case Shape::loop: return loop(fmt::format("{}", node.count), at, node.body, level);
      case Shape::list:
        line(level, "list of {}{} at {}", node.count, at, some(node.displacements, [](std::ptrdiff_t d) { return d; }));
        return child(node.body.child, level);
      case Shape::blocks:
        line(level, "blocks, {} of them{}{}", node.count, at,
             node.unit_bytes > 0 ? fmt::format(", in units of {} bytes", node.unit_bytes) : "");
        for (std::size_t i = 0; i < node.pieces.size() && i < most_entries_shown; ++i)
          line(level + 1, "{} bytes at {}", node.pieces[i].bytes, node.pieces[i].displacement_bytes);
        return more(node.pieces.size(), level);
      case Shape::sequence:
        line(level, "sequence of {}{}", node.count, at);
        for (std::size_t i = 0; i < node.items.size() && i < most_entries_shown; ++i) child(node.items[i], level);
        return more(node.items.size(), level);
    }
  }

  void loop(const std::string& count, const std::string& at, const Body& body, int level) {
    line(level, "loop of {}{}, stride {} ({})", count, at, body.stride_bytes, method_name(body.method));
    child(body.child, level);
  }

  std::string text;

 private:
  template <class... Values>
  void line(int level, fmt::format_string<Values...> form, Values&&... values) {
    text.append(2 * static_cast<std::size_t>(level), ' ');
    fmt::format_to(std::back_inserter(text), form, std::forward<Values>(values)...);
    text += '\n';
  }

  void child(const Item& inner, int level) {
    if (level < most_levels_shown) return item(inner, level + 1);
    line(level + 1, "...");
  }

  void more(std::size_t entries, int level) {
    if (entries > most_entries_shown) line(level + 1, "... {} more", entries - most_entries_shown);
  }

  template <class List, class Value>
  static std::string some(const List& list, const Value& value) {
    std::string result;
    for (std::size_t i = 0; i < list.size() && i < most_entries_shown; ++i)
      result += fmt::format("{}{}", i ? " " : "", value(list[i]));
    return list.size() > most_entries_shown ? result + " ..." : result;
  }
};

}  // namespace

std::string form_text(const Plan& plan) {
  if (plan.root.is_empty()) return "nothing\n";
  TextWriter writer;
  writer.item(plan.root, 0);
  return writer.text;
}

std::string repetition_text(const Plan& plan) {
  if (plan.root.is_empty()) return "nothing\n";
  if (plan.is_contiguous_repeated) return "contiguous\n";
  TextWriter writer;
  const std::string count = plan.rounds_per_element == 1 ? "count" : fmt::format("{} x count", plan.rounds_per_element);
  const std::string at = plan.first_displacement ? fmt::format(" from {}", plan.first_displacement) : "";
  writer.loop(count, at, plan.elements, 0);
  return writer.text;
}

}  // namespace millrace::layout
