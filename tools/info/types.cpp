#include "tools/info/types.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/types.h"

namespace millrace::tools {
namespace {

using kernel::Op;
using kernel::Type;
using nlohmann::ordered_json;

const char* class_word(Type type) {
  switch (kernel::type_class(type)) {
    case kernel::TypeClass::integer: return "integers";
    case kernel::TypeClass::floating: return "floating point";
    case kernel::TypeClass::complex: return "complex numbers";
    case kernel::TypeClass::logical: return "logicals";
    case kernel::TypeClass::pair: return "pairs of value and index";
  }
  return "";
}

std::string why_not(Op op, Type type) {
  if (!kernel::op_applies(op, type)) return fmt::format("not defined by MPI: {} on {}", op_name(op), class_word(type));
  if (type == Type::f80 || type == Type::c80 || type == Type::f80_i32)
    return "no kernel: x87 extended precision exists on x86-64 only";
  return "no kernel: not built for this architecture";
}

// Columns of one width, nothing after the last.
std::string row(const std::string& head, const std::vector<std::string>& cells) {
  std::string text = fmt::format("{:9}", head);
  for (const std::string& cell : cells) text += fmt::format(" {:7}", cell);
  return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
}

// Ends every line within the width of a page.
std::string wrapped(const std::vector<std::string>& words, const std::string& indent) {
  constexpr std::size_t width = 100;
  std::string text, line = indent;
  for (const std::string& word : words) {
    if (line.size() > indent.size() && line.size() + word.size() + 1 > width) {
      text += line + '\n';
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
  }
  return text + line + '\n';
}

}  // namespace

ordered_json report_types(const kernel::IsaUnit& unit) {
  ordered_json kernels = ordered_json::array(), not_covered = ordered_json::array();
  for (std::size_t index = 0; index < kernel::kernel_count; ++index) {
    const Op op = static_cast<Op>(index / kernel::type_count);
    const Type type = static_cast<Type>(index % kernel::type_count);
    ordered_json entry = {{"name", kernel::kernel_name(index)}, {"op", op_name(op)}, {"type", type_name(type)}};
    // As kernel::find_reduce2 does for the active unit.
    const bool is_own = kernel_of(*unit.set, op, type).reduce2 != nullptr;
    if (is_own || kernel_of(kernel::scalar_unit, op, type).reduce2) {
      entry["unit"] = is_own ? unit.set->isa : kernel::scalar_unit.isa;
      kernels.push_back(entry);
    } else {
      entry["why"] = why_not(op, type);
      not_covered.push_back(entry);
    }
  }
  return {{"unit", unit.name}, {"kernels", kernels}, {"not_covered", not_covered}};
}

std::string types_text(const ordered_json& types) {
  std::map<std::string, std::string> unit_of_kernel;
  for (const ordered_json& kernel : types["kernels"])
    unit_of_kernel[kernel["name"].get<std::string>()] = kernel["unit"].get<std::string>();
  std::vector<std::string> ops;
  ops.reserve(kernel::op_count);
  for (std::size_t i = 0; i < kernel::op_count; ++i) ops.emplace_back(op_name(static_cast<Op>(i)));
  std::string text =
      fmt::format("kernels    unit {}; a kernel's name is OP_TYPE, as in sum_f64\n", types["unit"].get<std::string>());
  text += row("", ops);
  for (std::size_t t = 0; t < kernel::type_count; ++t) {
    const std::string type = type_name(static_cast<Type>(t));
    std::vector<std::string> cells;
    for (const std::string& op : ops) {
      const auto found = unit_of_kernel.find(fmt::format("{}_{}", op, type));
      cells.push_back(found == unit_of_kernel.end() ? "-" : found->second);
    }
    text += row(type, cells);
  }
  text += "not covered\n";
  std::map<std::string, std::vector<std::string>> names_by_reason;
  for (const ordered_json& entry : types["not_covered"])
    names_by_reason[entry["why"].get<std::string>()].push_back(entry["name"].get<std::string>());
  for (const auto& [why, names] : names_by_reason) text += fmt::format("  {}\n{}", why, wrapped(names, "      "));
  return text;
}

}  // namespace millrace::tools
