#include "tools/report/communicators.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "record/communicators_report.h"
#include "record/units.h"
#include "tools/page.h"
#include "tools/report/run.h"
#include "tools/report/values.h"

namespace millrace::tools {
namespace {

using nlohmann::json;
using record::percent;
using record::scaled_bytes;
using record::scaled_count;
using record::scaled_time;

record::CommunicatorRecord record_of(const RunCommunicator& one) {
  record::CommunicatorRecord record;
  record.name = one.name;
  record.ranks = one.ranks;
  return record;
}

double mean_ns(const RunCommunicator& one) {
  return one.callers == 0 ? 0 : one.time_ns / static_cast<double>(one.callers);
}

double taken_share(const RunCommunicator& one) {
  return one.calls == 0 ? 0 : static_cast<double>(one.taken) / static_cast<double>(one.calls);
}

std::string size_of(const RunCommunicator& one) { return one.size == 0 ? "-" : scaled_count(one.size); }

}  // namespace

std::vector<RunCommunicator> communicators_of(const json& report, std::uint64_t ranks) {
  const auto found = report.find("communicators");
  if (found == report.end()) return {};
  std::vector<RunCommunicator> all;
  for (const json& value : *found) {
    RunCommunicator& one = all.emplace_back();
    one.name = text_of(value, "name");
    one.ranks = text_of(value, "ranks");
    one.size = count_of(value, "size");
    one.made = count_of(value, "made");
    one.callers = count_of(value, "callers");
    one.calls = count_of(value, "calls");
    one.taken = count_of(value, "taken");
    one.bytes = count_of(value, "bytes");
    one.time_ns = static_cast<double>(count_of(value, "time_ns"));
    one.longest_ns = static_cast<double>(count_of(value.at("longest"), "time_ns"));
    one.longest_rank = count_of(value.at("longest"), "rank");
    if (one.longest_rank >= ranks) throw std::runtime_error("a rank that is none");
    if (one.taken > one.calls) throw std::runtime_error("more calls are taken than there are");
  }
  return all;
}

std::string communicators_text(const Run& run) {
  constexpr std::size_t most = 12, name_columns = 24;
  const auto& all = run.communicators;
  if (all.size() < 2) return {};
  std::string text =
      fmt::format("\n{:<{}} {:>5} {:>5} {:>7} {:>8} {:>7} {:>7} {:>4} {:>5}\n", "communicator, of a rank", name_columns,
                  "size", "made", "calls", "bytes", "mean", "longest", "rank", "taken");
  for (std::size_t index = 0; index < std::min(most, all.size()); ++index) {
    const RunCommunicator& one = all[index];
    text += fmt::format("{:<{}} {:>5} {:>5} {:>7} {:>8} {:>7} {:>7} {:>4} {:>5}\n",
                        in_words(record_of(one), name_columns), name_columns, size_of(one), scaled_count(one.made),
                        scaled_count(one.calls), scaled_bytes(one.bytes), scaled_time(mean_ns(one)),
                        scaled_time(one.longest_ns), one.longest_rank, percent(taken_share(one)));
  }
  if (all.size() > most) text += fmt::format("and {} more\n", all.size() - most);
  return text;
}

std::string communicators_part(const Run& run) {
  constexpr std::size_t most = 32;
  const auto& all = run.communicators;
  double longest = 0;
  for (const RunCommunicator& one : all) longest = std::max(longest, mean_ns(one));
  const auto figure = [](const std::string& words) { return fmt::format("<td class=\"figure\">{}</td>", words); };
  std::string text =
      "<div class=\"wide\"><table class=\"communicators\">\n<tr><th>communicator</th><th class=\"figure\">size</th>"
      "<th class=\"figure\">made</th><th class=\"figure\">calls</th><th class=\"figure\">bytes</th>"
      "<th class=\"figure\">in a rank</th><th></th><th class=\"figure\">longest</th><th class=\"figure\">at rank</th>"
      "<th class=\"figure\">taken</th></tr>\n";
  for (std::size_t index = 0; index < std::min(most, all.size()); ++index) {
    const RunCommunicator& one = all[index];
    text += fmt::format(
        "<tr><td>{}</td>{}{}{}{}{}<td><span class=\"bar\"><span "
        "style=\"width:{:.1f}%\"></span></span></td>{}{}{}</tr>\n",
        escaped(in_words(record_of(one))), figure(size_of(one)), figure(scaled_count(one.made)),
        figure(scaled_count(one.calls)), figure(scaled_bytes(one.bytes)), figure(scaled_time(mean_ns(one))),
        longest > 0 ? 100 * mean_ns(one) / longest : 0, figure(scaled_time(one.longest_ns)),
        figure(std::to_string(one.longest_rank)), figure(percent(taken_share(one))));
  }
  text += "</table></div>\n";
  if (all.size() > most) text += fmt::format("<p>and {} more</p>\n", all.size() - most);
  return text;
}

}  // namespace millrace::tools
