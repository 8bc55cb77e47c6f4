#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

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

Status show(std::span<const std::vector<std::byte>> ranks, std::string_view destination) {
  std::vector<std::string> unreadable;
  Report report = merge(unpack_all(ranks, unreadable));
  report.ranks = std::max(report.ranks, static_cast<std::int32_t>(ranks.size()));
  report.notes.insert(report.notes.end(), unreadable.begin(), unreadable.end());
  if (destination == "1") return write_all(STDERR_FILENO, to_table(report)) ? Status::ok : Status::system_error;
  const std::string path(destination);
  std::string error;
  const Status status = write_whole_file(path, to_json(report), error);
  if (status != Status::ok) log(LogLevel::error, fmt::format("cannot write the report to {}: {}", path, error));
  return status;
}

}  // namespace

Status publish(std::span<const std::vector<std::byte>> ranks, std::string_view destination) noexcept {
  try {
    return show(ranks, destination);
  } catch (...) {
    log(LogLevel::error, "no memory for the report");
    return Status::no_memory;
  }
}

}  // namespace millrace::record
