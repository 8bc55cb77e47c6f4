#include "tools/report/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "record/size_class.h"
#include "record/units.h"
#include "tools/report/values.h"

namespace millrace::tools {
namespace {

using record::percent;
using record::scaled_count;
using record::size_class;

// Powers of two are whole in some unit.
std::string size_in_words(std::uint64_t least_bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  const std::size_t unit =
      std::min<std::size_t>(least_bytes == 0 ? 0 : static_cast<std::size_t>(std::bit_width(least_bytes) - 1) / 10, 4);
  return fmt::format("{} {}", least_bytes >> (10 * unit), units[unit]);
}

double time_of_all(const std::vector<RunSize>& sizes) {
  double time_ns = 0;
  for (const RunSize& size : sizes) time_ns += size.time_ns;
  return time_ns;
}

}  // namespace

std::vector<RunSize> sizes_of(const nlohmann::json& call) {
  std::vector<RunSize> sizes;
  const auto values = call.find("sizes");
  if (values == call.end()) return sizes;
  for (const nlohmann::json& value : *values) {
    const std::uint64_t least_bytes = count_of(value, "least_bytes");
    if (record::least_bytes_of(size_class(least_bytes)) != least_bytes)
      throw std::runtime_error("a size is no power of two");
    sizes.push_back({least_bytes, count_of(value, "calls"), count_of(value, "taken"), count_of(value, "bytes"),
                     static_cast<double>(count_of(value, "time_ns"))});
  }
  return sizes;
}

std::string sizes_in_words(const std::vector<RunSize>& sizes) {
  constexpr std::size_t most = 3;
  const double all_ns = time_of_all(sizes);
  if (sizes.size() < 2 || all_ns <= 0) return {};
  std::vector<RunSize> sorted = sizes;
  std::ranges::stable_sort(sorted, std::greater(), &RunSize::time_ns);
  std::string text = "sizes: ";
  double rest_ns = 0;
  for (std::size_t index = 0; index < sorted.size(); ++index) {
    const RunSize& size = sorted[index];
    if (index >= most) {
      rest_ns += size.time_ns;
      continue;
    }
    text += fmt::format("{}{} {}{} ({}{})", index == 0 ? "" : ", ", size_in_words(size.least_bytes),
                        percent(size.time_ns / all_ns), index == 0 ? " of the time" : "", scaled_count(size.calls),
                        index > 0         ? ""
                        : size.calls == 1 ? " call"
                                          : " calls");
  }
  if (sorted.size() > most) text += fmt::format(", {} more {}", sorted.size() - most, percent(rest_ns / all_ns));
  return text;
}

std::string sizes_strip(const std::vector<RunSize>& sizes) {
  constexpr std::size_t column = 7, height = 24;
  const double all_ns = time_of_all(sizes);
  if (sizes.size() < 2 || all_ns <= 0) return {};
  const std::size_t first = size_class(sizes.front().least_bytes), last = size_class(sizes.back().least_bytes);
  const std::size_t width = (last - first + 1) * column;
  std::string text = fmt::format(
      "<svg class=\"sizes\" style=\"width:{0}px;height:{1}px\" viewBox=\"0 0 {0} {1}\" role=\"img\">"
      "<title>time by size, from {2} to {3}</title><rect class=\"track\" width=\"{0}\" height=\"1\" y=\"{4}\"/>",
      width, height, size_in_words(sizes.front().least_bytes), size_in_words(sizes.back().least_bytes), height - 1);
  for (const RunSize& size : sizes) {
    const double share = size.time_ns / all_ns, bar = std::max(1.0, share * height);
    // All of the column answers to the pointer, however low its bar.
    text += fmt::format(
        "<g><title>{}: {} of the time, {} calls, taken {}</title>"
        "<rect x=\"{}\" y=\"0\" width=\"{}\" height=\"{}\" fill-opacity=\"0\"/>"
        "<rect class=\"cell\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/></g>",
        size_in_words(size.least_bytes), percent(share), scaled_count(size.calls),
        percent(size.calls == 0 ? 0 : static_cast<double>(size.taken) / static_cast<double>(size.calls)),
        (size_class(size.least_bytes) - first) * column, column, height,
        (size_class(size.least_bytes) - first) * column, height - bar, column - 1, bar);
  }
  return text + "</svg>";
}

}  // namespace millrace::tools
