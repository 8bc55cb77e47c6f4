#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "record/units.h"
#include "tools/doctor/reasons.h"
#include "tools/doctor/shown.h"

namespace millrace::tools {
namespace {

using record::percent;
using record::scaled_count;

constexpr std::size_t most_calls = 10;
constexpr std::int64_t two_errors = 2;

std::string time_text(std::int64_t time_ns) {
  return (time_ns < 0 ? "-" : "") + record::scaled_time(static_cast<double>(std::llabs(time_ns)));
}

std::string share_text(std::int64_t time_ns, const Examined& job) {
  return job.ranks_ns > 0 ? percent(static_cast<double>(time_ns) / static_cast<double>(job.ranks_ns)) : "-";
}

std::string plural(std::uint64_t count, const char* thing) {
  return fmt::format("{} {}{}", scaled_count(count), thing, count == 1 ? "" : "s");
}

std::string head(const Diagnosis& diagnosis) {
  const Examined& job = diagnosis.job;
  return wrapped(
      "",
      fmt::format("millrace doctor: {} on {}, {}, {}; of the {} of all ranks together, {} ({}) inside MPI",
                  plural(job.ranks, "rank"), plural(job.nodes().size(), "node"), job.host_mpi, time_text(job.wall_ns),
                  time_text(job.ranks_ns), time_text(job.mpi_ns), share_text(job.mpi_ns, job)));
}

std::string saved_text(const ExaminedCall& call) {
  if (call.saved_calls == 0) return "what that saved was not measured";
  const std::string error = time_text(two_errors * call.error_ns);
  if (std::llabs(call.saved_ns) <= two_errors * call.error_ns)
    return fmt::format("as fast as the host MPI (+- {})", error);
  return fmt::format("{} {} (+- {})", call.saved_ns < 0 ? "lost" : "saved", time_text(std::llabs(call.saved_ns)),
                     error);
}

std::string taken_text(const Examined& job) {
  std::string text;
  for (const ExaminedCall& call : job.calls)
    if (call.taken > 0)
      text += wrapped("  ", fmt::format("{}: {} of {}, {}; {}", call.name, scaled_count(call.taken),
                                        plural(call.calls, "call"), time_text(call.taken_ns), saved_text(call)));
  return text.empty() ? "  none of the job's calls\n" : text;
}

std::string left_text(const ExaminedCall& call, const Examined& job) {
  const std::uint64_t left = call.calls - std::min(call.taken, call.calls);
  std::string text =
      wrapped("  ", fmt::format("{}: {}{} ({}) in {}", call.name, call.taken > 0 ? "at most " : "",
                                time_text(call.left_ns()), share_text(call.left_ns(), job), plural(left, "call")));
  std::vector<std::pair<std::uint64_t, std::string>> reasons;
  reasons.reserve(call.why.size());
  for (const auto& [reason, calls] : call.why) reasons.emplace_back(calls, reason);
  std::ranges::stable_sort(reasons, std::ranges::greater(), &std::pair<std::uint64_t, std::string>::first);
  for (const auto& [calls, reason] : reasons) {
    const std::string setting = setting_in_the_way(job, call.name, reason);
    const std::string why = setting.empty() ? why_in_words(reason) : setting + " leaves it to the host MPI";
    text += wrapped("    ", fmt::format("{}: {}", calls == left ? "all" : scaled_count(calls), why));
  }
  return text;
}

std::string all_left_text(const Examined& job) {
  std::vector<const ExaminedCall*> calls;
  for (const ExaminedCall& call : job.calls)
    if (call.taken < call.calls) calls.push_back(&call);
  std::ranges::stable_sort(calls, std::ranges::greater(), [](const ExaminedCall* call) { return call->left_ns(); });
  std::string text;
  std::int64_t rest_ns = 0;
  std::size_t shown = 0, rest = 0;
  for (const ExaminedCall* call : calls) {
    const bool is_little = static_cast<double>(call->left_ns()) < least_share * static_cast<double>(job.mpi_ns);
    if (is_little || shown == most_calls) {
      ++rest;
      rest_ns += call->left_ns();
    } else {
      ++shown;
      text += left_text(*call, job);
    }
  }
  if (rest > 0)
    text += wrapped("  ", fmt::format("{}: {} ({}) together", plural(rest, "other call"), time_text(rest_ns),
                                      share_text(rest_ns, job)));
  return text.empty() ? "  nothing\n" : text;
}

std::string changes_text(const Diagnosis& diagnosis) {
  std::string text;
  int number = 0;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.change.empty() || !is_worth_showing(finding, diagnosis.job)) continue;
    text += wrapped(fmt::format("  {}. ", ++number), finding.says);
    text += wrapped("     change: ", finding.change);
    text += wrapped("     worth: ", worth_in_words(finding, diagnosis.job));
  }
  return text.empty()
             ? wrapped("  ", fmt::format("nothing that would be worth {} of the ranks' time", percent(least_share)))
             : text;
}

}  // namespace

std::string wrapped(const std::string& start, const std::string& text, std::size_t columns) {
  std::string result, line = start;
  bool is_empty = true;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!is_empty && line.size() + 1 + word.size() > columns) {
      result += line + '\n';
      line = std::string(start.size(), ' ');
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + word;
    is_empty = false;
  }
  return result + line + '\n';
}

std::string worth_in_words(const Finding& finding, const Examined& job) {
  if (finding.gain_ns)
    return fmt::format("{} (+- {}) of the ranks' {} ({}), as measured in this job", time_text(*finding.gain_ns),
                       time_text(finding.error_ns), time_text(job.ranks_ns), share_text(*finding.gain_ns, job));
  if (finding.at_most_ns)
    return fmt::format(
        "at most {} of the ranks' {} ({}), the time spent there; how much less it can be, the report does not say",
        time_text(*finding.at_most_ns), time_text(job.ranks_ns), share_text(*finding.at_most_ns, job));
  return "the report does not say: time the job before and after";
}

std::string as_text(const Diagnosis& diagnosis) {
  const Examined& job = diagnosis.job;
  std::string text = head(diagnosis);
  for (const std::string& note : job.notes) text += wrapped("note: ", note);
  text += "\nWhat Millrace did\n" + taken_text(job);
  text += "\nWhat it left to the host MPI, most time first\n" + all_left_text(job);
  std::string remarks;
  for (const Finding& finding : diagnosis.findings)
    if (finding.change.empty() && !reason_words(finding.name)) remarks += wrapped("  ", finding.says);
  if (!remarks.empty()) text += "\nTo know\n" + remarks;
  return text + "\nWhat to change\n" + changes_text(diagnosis);
}

}  // namespace millrace::tools
