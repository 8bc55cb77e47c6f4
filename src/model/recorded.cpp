// Machines that hwloc, or the kernel, has written down.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "model/machine.h"
#include "shared_memory/processors.h"

namespace millrace::model {
namespace {

using shared_memory::Place;
using shared_memory::unknown_place;

// What an object of a topology is, as far as it matters here: what else it may be only contains others.
enum class ObjectKind : std::uint8_t { other, package, cache, core, thread };

// The value of an attribute of a tag, or nothing. hwloc puts no '<' or '>' into values.
std::string_view attribute(std::string_view tag, std::string_view name) {
  const std::string opening = fmt::format(" {}=\"", name);
  const std::size_t begin = tag.find(opening);
  if (begin == std::string_view::npos) return {};
  tag.remove_prefix(begin + opening.size());
  return tag.substr(0, tag.find('"'));
}

ObjectKind kind_of(std::string_view tag) {
  const std::string_view type = attribute(tag, "type");
  if (type == "Package" || type == "Socket") return ObjectKind::package;
  if (type == "Core") return ObjectKind::core;
  if (type == "PU") return ObjectKind::thread;
  // Version 1 knows but "Cache"; 2: for instructions.
  const bool is_cache = type == "Cache" || (type.size() == 7 && type[0] == 'L' && type.ends_with("Cache"));
  return is_cache && attribute(tag, "cache_type") != "2" ? ObjectKind::cache : ObjectKind::other;
}

struct Object {
  ObjectKind kind;
  std::uint32_t number;
};

// Of the objects around a processing unit, the outermost of a kind.
std::uint32_t around(const std::vector<Object>& objects, ObjectKind kind) {
  const auto found =
      std::find_if(objects.begin(), objects.end(), [&](const Object& each) { return each.kind == kind; });
  return found == objects.end() ? unknown_place : found->number;
}

}  // namespace

std::string read_hwloc_xml(std::string_view text, Machine& machine) {
  if (text.find("<topology") == std::string_view::npos) return "no topology of hwloc";
  std::vector<Object> open;
  std::map<std::uint32_t, Core> cores;  // by the number of their object, which are in order
  std::uint32_t number = 0;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view tag = text.substr(at, text.find('>', at) - at);
    if (tag.starts_with("</object")) {
      if (open.empty()) return "an object ends that has not begun";
      open.pop_back();
    } else if (tag.starts_with("<object ")) {
      open.push_back({kind_of(tag), ++number});
      if (open.back().kind == ObjectKind::thread) {
        const std::uint32_t core = around(open, ObjectKind::core);
        const Place place{{around(open, ObjectKind::package), around(open, ObjectKind::cache)}};
        const auto [known, is_new] = cores.try_emplace(core == unknown_place ? number : core, Core{place, 1});
        if (!is_new) ++known->second.threads;
      }
      if (tag.ends_with('/')) open.pop_back();
    }
  }
  if (!open.empty()) return "an object does not end";
  std::vector<Core> all;
  all.reserve(cores.size());
  for (const auto& [object, core] : cores) all.push_back(core);
  return make_machine(std::move(all), machine);
}

std::string read_system(const std::string& root, Machine& machine) {
  const std::string cpus = root + "/sys/devices/system/cpu";
  std::vector<int> processors = parse_list(read_text(cpus + "/online").value_or(""));
  std::error_code unreadable;
  if (processors.empty())  // kernels that do not say it
    for (const auto& entry : std::filesystem::directory_iterator(cpus, unreadable)) {
      const std::string name = entry.path().filename();
      int processor = 0;
      const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), processor);
      if (name.starts_with("cpu") && error == std::errc{} && end == name.data() + name.size() &&
          std::filesystem::exists(entry.path() / "topology"))
        processors.push_back(processor);
    }
  std::sort(processors.begin(), processors.end());
  std::map<std::uint32_t, std::vector<std::uint32_t>> cores;
  for (const int processor : processors) {
    const auto number = static_cast<std::uint32_t>(processor);
    if (number < shared_memory::most_processors) cores[shared_memory::core_of(number, root.c_str())].push_back(number);
  }
  std::vector<Core> all;
  for (const auto& [lowest, threads] : cores) {
    shared_memory::Processors mask;
    for (const std::uint32_t thread : threads) mask.mask[thread / 64] |= std::uint64_t{1} << (thread % 64);
    all.push_back({shared_memory::place_on(mask, root.c_str()), static_cast<std::uint32_t>(threads.size())});
  }
  if (all.empty()) return fmt::format("no processors below {}", cpus);
  return make_machine(std::move(all), machine);
}

}  // namespace millrace::model
