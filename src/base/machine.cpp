#include "base/machine.h"

#include <fmt/format.h>

#include "base/files.h"

namespace millrace {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

}  // namespace

std::string machine_name_of(std::string_view cpuinfo) {
  // x86 has a name, Arm numbers; what is there of these, of the first processor.
  std::string_view name, family, model, implementer, part;
  const auto keep = [](std::string_view& place, std::string_view value) {
    if (place.empty()) place = value;
  };
  std::size_t processors = 0;
  while (!cpuinfo.empty()) {
    const std::string_view line = cpuinfo.substr(0, cpuinfo.find('\n'));
    cpuinfo.remove_prefix(std::min(line.size() + 1, cpuinfo.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
    if (key == "processor") ++processors;
    if (key == "model name") keep(name, value);
    if (key == "cpu family") keep(family, value);
    if (key == "model") keep(model, value);
    if (key == "CPU implementer") keep(implementer, value);
    if (key == "CPU part") keep(part, value);
  }
  if (processors == 0) return "unknown";
  const std::string kind = !family.empty()
                               ? fmt::format("{} (family {}, model {})", name.empty() ? "x86" : name, family, model)
                               : fmt::format("implementer {}, part {}", implementer, part);
  return fmt::format("{}, {} processors", kind, processors);
}

std::string machine_name() {
  static const std::string name = machine_name_of(read_text("/proc/cpuinfo").value_or(""));
  return name;
}

}  // namespace millrace
