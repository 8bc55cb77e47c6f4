// Rank records with random content, for the tests of packing and merging.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "record/rank_record.h"
#include "record/size_class.h"

namespace millrace::record {

class RandomRecord {
 public:
  explicit RandomRecord(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t number(std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(engine_); }

  std::string text() {
    std::string result;
    for (std::uint64_t length = number(30); length > 0; --length) result.push_back(static_cast<char>(' ' + number(94)));
    return result;
  }

  // `most` bounds every count, so that sums over ranks stay within 64 bits.
  RankRecord operator()(std::int32_t rank, std::int32_t ranks, std::uint64_t most) {
    RankRecord record;
    record.identity = {rank, ranks, text(), static_cast<std::int64_t>(number(1 << 22)), text(), text(), text(),
                       {},   0,     {}};
    record.identity.wall_ns = number(most);
    for (std::uint64_t left = number(4); left > 0; --left) record.identity.settings.emplace_back(text(), text());
    record.threads = number(9);
    record.lost_calls = number(most);
    for (int name = 0; name < 12; ++name)
      if (number(2) != 0) record.calls.push_back(call("MPI_Call_" + std::to_string(name), most));
    for (int name = 0; name < 4; ++name)
      if (number(2) != 0) record.waits.calls.push_back(wait("MPI_Call_" + std::to_string(name), ranks, most));
    record.waits.for_rank = by_rank(record.waits.calls);
    record.peers = peers(ranks, most);
    record.regions = regions(most);
    record.communicators = communicators(most);
    record.phases = phases(most);
    return record;
  }

 private:
  CallRecord call(std::string name, std::uint64_t most) {
    CallRecord result{std::move(name), number(most), number(most), {}, {}, {}, {}};
    for (std::uint64_t& count : result.outcome) count = number(2) ? number(most) : 0;
    for (std::uint64_t left = number(3); left > 0; --left)
      result.algorithms.push_back({"kernel_" + std::to_string(left), number(most), number(most), number(most)});
    // In eighths, so that their sums are exact.
    const auto saved = static_cast<double>(number(1 << 20)) - (1 << 19);
    result.saved = {number(most), saved / 8, static_cast<double>(number(1 << 20)) / 8};
    for (std::size_t size_class = 0; size_class < size_class_count; ++size_class)
      if (number(8) == 0)
        result.sizes.push_back(
            {least_bytes_of(size_class), 1 + number(most - 1), number(most), number(most), number(most)});
    return result;
  }

  WaitRecord wait(std::string name, std::int32_t ranks, std::uint64_t most) {
    WaitRecord result{std::move(name), number(1) != 0 ? "MPI_COMM_WORLD" : text(), number(most), number(most), 0, {}};
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      if (number(2) == 0) result.for_rank.push_back({rank, number(most), number(most)});
    keep_foremost(result.for_rank);
    for (const LateRank& late : result.for_rank) result.wait_ns += late.wait_ns;
    return result;
  }

  Peers peers(std::int32_t ranks, std::uint64_t most) {
    Peers result;
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      if (number(2) != 0) result.to.push_back({rank, number(most), number(most)});
    if (number(1) != 0) result.others = {outside_world, number(most), number(most)};
    keep_foremost(result);
    return result;
  }

  std::vector<CommunicatorRecord> communicators(std::uint64_t most) {
    std::vector<CommunicatorRecord> result;
    for (std::uint64_t left = number(5); left > 0; --left)
      result.push_back({text(), text(), number(most), 1 + number(most - 1), number(most), 1 + number(most - 1),
                        number(most), number(most), number(most)});
    return result;
  }

  Phases phases(std::uint64_t most) {
    Phases result{number(most), {}};
    if (number(3) != 0)
      for (std::size_t slice = 0; slice < phase_slices; ++slice)
        result.slices.push_back({number(most), number(most), number(most)});
    return result;
  }

  Regions regions(std::uint64_t most) {
    Regions result{{}, number(most)};
    for (std::uint64_t left = number(5); left > 0; --left)
      result.all.push_back({text(), number(most), number(most), number(most), number(most), number(most)});
    return result;
  }

  std::mt19937_64 engine_;
};

}  // namespace millrace::record
