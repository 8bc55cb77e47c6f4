#include "layout/notation.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "layout/predefined.h"

namespace millrace::layout {
namespace {

constexpr int deepest_nesting = 200;  // the parser is recursive

// What the arguments of a constructor are, in order.
enum class Argument {
  count,
  block_length,
  stride,
  block_lengths,
  displacements,
  sizes,
  subsizes,
  starts,
  processes,
  rank,
  distributions,
  distribution_arguments,
  process_sizes,
  order,
  lb,
  extent,
  child,
  children
};

struct Constructor {
  const char* name;
  std::vector<Argument> arguments;
};

// By combiner, in the order of the enumeration.
const std::vector<Constructor>& constructors() {
  using enum Argument;
  static const std::vector<Constructor> all = {
      {"named", {}},
      {"dup", {child}},
      {"contiguous", {count, child}},
      {"vector", {count, block_length, stride, child}},
      {"hvector", {count, block_length, stride, child}},
      {"indexed", {block_lengths, displacements, child}},
      {"hindexed", {block_lengths, displacements, child}},
      {"indexed_block", {block_length, displacements, child}},
      {"hindexed_block", {block_length, displacements, child}},
      {"struct", {block_lengths, displacements, children}},
      {"subarray", {sizes, subsizes, starts, order, child}},
      {"darray", {processes, rank, sizes, distributions, distribution_arguments, process_sizes, order, child}},
      {"resized", {lb, extent, child}},
  };
  return all;
}

constexpr const char* distribution_names[] = {"none", "block", "cyclic"};

template <class D>  // Description or const Description
auto& number_of(D& d, Argument argument) {
  switch (argument) {
    case Argument::count: return d.count;
    case Argument::block_length: return d.block_length;
    case Argument::stride: return d.stride;
    case Argument::processes: return d.processes;
    case Argument::rank: return d.rank;
    case Argument::lb: return d.lb_bytes;
    default: return d.extent_bytes;
  }
}

template <class D>
auto& list_of(D& d, Argument argument) {
  switch (argument) {
    case Argument::block_lengths: return d.block_lengths;
    case Argument::displacements: return d.displacements;
    case Argument::sizes: return d.sizes;
    case Argument::subsizes: return d.subsizes;
    case Argument::starts: return d.starts;
    case Argument::distribution_arguments: return d.distribution_arguments;
    default: return d.process_sizes;
  }
}

struct Mistake {
  std::size_t position;
  std::string complaint;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  DescriptionPtr all() {
    DescriptionPtr result = type(0);
    if (peek() != '\0') fail("nothing is expected here");
    return result;
  }

 private:
  [[noreturn]] void fail(std::string what) const { throw Mistake{at_, std::move(what)}; }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void expect(char wanted) {
    if (peek() != wanted) fail(fmt::format("'{}' is expected", wanted));
    ++at_;
  }

  std::string word() {
    peek();
    std::string result;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c >= 'A' && c <= 'Z')
        result += static_cast<char>(c - 'A' + 'a');
      else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')
        result += c;
      else
        break;
    }
    return result.starts_with("mpi_") ? result.substr(4) : result;
  }

  std::int64_t number() {
    peek();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail("a number of 64 bits is expected");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  template <class Element>
  void list(const Element& element) {
    expect('[');
    if (peek() == ']') return void(++at_);
    for (;; expect(',')) {
      element();
      if (peek() == ']') return void(++at_);
    }
  }

  std::size_t choice(const char* what, std::initializer_list<const char*> names) {
    peek();
    const std::size_t start = at_;
    const std::string found = word();
    std::size_t index = 0;
    for (const char* const name : names) {
      if (found == name) return index;
      ++index;
    }
    at_ = start;
    fail(what);
  }

  void argument(Description& d, Argument what, int level) {
    switch (what) {
      case Argument::child: return d.children.push_back(type(level + 1));
      case Argument::children: return list([&] { d.children.push_back(type(level + 1)); });
      case Argument::order:
        d.order = choice("c or fortran is expected", {"c", "fortran"}) == 0 ? Order::c : Order::fortran;
        return;
      case Argument::distributions:
        return list([&] {
          d.distributions.push_back(
              static_cast<Distribution>(choice("none, block or cyclic is expected", {"none", "block", "cyclic"})));
        });
      case Argument::distribution_arguments:
        return list([&] {
          const char next = peek();
          const bool is_default = next == 'd' && choice("a number or default is expected", {"default"}) == 0;
          d.distribution_arguments.push_back(is_default ? default_distribution_argument : number());
        });
      case Argument::block_lengths:
      case Argument::displacements:
      case Argument::sizes:
      case Argument::subsizes:
      case Argument::starts:
      case Argument::process_sizes: return list([&] { list_of(d, what).push_back(number()); });
      default: number_of(d, what) = number();
    }
  }

  DescriptionPtr type(int level) {
    if (level > deepest_nesting) fail("nested too deeply");
    peek();
    const std::size_t start = at_;
    const std::string name = word();
    DescriptionPtr result = find_predefined(name);
    if (!result) {
      auto made = std::make_shared<Description>();
      std::size_t combiner = 1;
      while (combiner < constructors().size() && name != constructors()[combiner].name) ++combiner;
      if (combiner == constructors().size()) {
        at_ = start;
        fail(fmt::format("'{}' is neither a predefined type nor a constructor", name));
      }
      made->combiner = static_cast<Combiner>(combiner);
      expect('(');
      bool is_first = true;
      for (const Argument what : constructors()[combiner].arguments) {
        if (!std::exchange(is_first, false)) expect(',');
        argument(*made, what, level);
      }
      expect(')');
      result = std::move(made);
    }
    return peek() == '@' ? with_bounds(*result) : result;
  }

  DescriptionPtr with_bounds(const Description& type) {
    ++at_;
    std::vector<std::int64_t> bounds;
    list([&] { bounds.push_back(number()); });
    if (bounds.size() != 2) fail("two numbers are expected before this: [lb, extent]");
    auto result = std::make_shared<Description>(type);
    result->host_bounds = Bounds{bounds[0], bounds[1]};
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class NotationWriter {
 public:
  void type(const Description& d) {
    if (d.combiner == Combiner::named) {
      text += d.name;
    } else {
      const Constructor& constructor = constructors()[static_cast<std::size_t>(d.combiner)];
      text += constructor.name;
      const char* before = "(";
      for (const Argument what : constructor.arguments) {
        text += std::exchange(before, ", ");
        argument(d, what);
      }
      text += ')';
    }
    if (d.host_bounds) write("@[{}, {}]", d.host_bounds->lb_bytes, d.host_bounds->extent_bytes);
  }

  std::string text;

 private:
  template <class... Values>
  void write(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(text), form, std::forward<Values>(values)...);
  }

  template <class List, class Each>
  void list(const List& list, const Each& each) {
    const char* before = "";
    text += '[';
    for (const auto& element : list) {
      text += std::exchange(before, ", ");
      each(element);
    }
    text += ']';
  }

  void argument(const Description& d, Argument what) {
    switch (what) {
      case Argument::child: return type(*d.children.at(0));
      case Argument::children: return list(d.children, [&](const DescriptionPtr& child) { type(*child); });
      case Argument::order: text += d.order == Order::c ? "c" : "fortran"; return;
      case Argument::distributions:
        return list(d.distributions,
                    [&](Distribution kind) { text += distribution_names[static_cast<std::size_t>(kind)]; });
      case Argument::distribution_arguments:
        return list(d.distribution_arguments, [&](std::int64_t value) {
          if (value == default_distribution_argument)
            text += "default";
          else
            write("{}", value);
        });
      case Argument::block_lengths:
      case Argument::displacements:
      case Argument::sizes:
      case Argument::subsizes:
      case Argument::starts:
      case Argument::process_sizes: return list(list_of(d, what), [&](std::int64_t value) { write("{}", value); });
      default: write("{}", number_of(d, what));
    }
  }
};

}  // namespace

Parsed parse_notation(std::string_view text) {
  try {
    return {Parser(text).all(), 0, {}};
  } catch (Mistake& mistake) {
    return {nullptr, mistake.position, std::move(mistake.complaint)};
  }
}

std::string notation_of(const Description& description) {
  NotationWriter writer;
  writer.type(description);
  return std::move(writer.text);
}

}  // namespace millrace::layout
