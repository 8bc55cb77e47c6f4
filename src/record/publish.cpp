#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "base/log.h"
#include "record/report.h"
#include "record/whole_file.h"

namespace millrace::record {
namespace {

std::vector<RankRecord> unpack_all(std::span<const std::vector<std::byte>> ranks, std::vector<std::string>& notes) {
  std::vector<RankRecord> records;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].empty()) continue;  // merge() says how many are missing
    RankRecord record;
    std::string error;
    if (unpack(ranks[rank], record, error) == Status::ok)
      records.push_back(std::move(record));
    else
      notes.push_back(fmt::format("the record of rank {} cannot be read: {}", rank, error));
  }
  return records;
}

// Sessions may end more than once, and each time the process writes what it has seen so far.
bool has_written(const std::string& path) {
  static std::mutex mutex;
  static std::set<std::string>& written = *new std::set<std::string>;  // programs may end in any way
  const std::lock_guard hold(mutex);
  return !written.insert(path).second;
}

Status to_file(const Report& report, const std::string& path) {
  const std::string text = to_json(report);
  std::string kept, error;
  const Status status =
      has_written(path) ? write_whole_file(path, text, error) : write_beside_older(path, text, kept, error);
  if (status != Status::ok)
    log(LogLevel::error, fmt::format("cannot write the report to {}: {}: here is its table", path, error));
  else if (!kept.empty())
    log(LogLevel::warning, fmt::format("{} was there: it is now {}", path, kept));
  return status;
}

Status show(std::span<const std::vector<std::byte>> ranks, const Destination& destination) {
  std::vector<std::string> unreadable;
  Report report = merge(unpack_all(ranks, unreadable));
  report.ranks = std::max(report.ranks, static_cast<std::int32_t>(ranks.size()));
  report.notes.insert(report.notes.end(), unreadable.begin(), unreadable.end());
  const Status status = destination.file.empty() ? Status::ok : to_file(report, destination.file);
  if (!destination.table && status == Status::ok) return status;
  return write_all(STDERR_FILENO, to_table(report)) ? status : Status::system_error;
}

}  // namespace

Status publish(std::span<const std::vector<std::byte>> ranks, const Destination& destination) noexcept {
  try {
    return show(ranks, destination);
  } catch (...) {
    log(LogLevel::error, "no memory for the report");
    return Status::no_memory;
  }
}

}  // namespace millrace::record
