// The table that `millrace tune` writes and the preload reads: what was measured on this machine in place of what was
// measured on ours. JSON:
//
//   {"millrace_tuning": 1,
//    "machine": "any text",
//    "copies": {"permute_from_bytes": 384, "stream_from_bytes": null, "gather_lists": true, ...},
//    "messages": {"Open MPI 4": {"mixed": [1, null], "blocks_32": []}},
//    "collectives": {"bcast_chunk_bytes": 32768, ...},
//    "left_to_host": {"Open MPI 4": {"bcast": [65536, null], "gather": []}},
//    "learned": ...}                                       as learned.h has it
//
// Every part and every key may be missing and then is what it is without a table. null is "no limit"; of "messages",
// the least and the most bytes that are ours, [] for none; of "left_to_host", those of a collective inside a node that
// are the host's (of calls whose blocks differ, all if the least is 1). Names: kernel::CopyTuning, plan::LayoutClass,
// plan::HostFacts, collective::Selection, collective::Kind. Ranks must have the same table: its digest is part of what
// they agree on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collective/selection.h"
#include "kernel/copy/tuning.h"
#include "plan/hosts/hosts.h"
#include "plan/learned.h"
#include "plan/shared_collectives.h"

namespace millrace::plan {

inline constexpr int tuning_version = 1;

struct Tuning {
  bool in_force = false;      // a table was found, and all of it is of the right version
  std::string path;           // of the table; "" if there is none
  std::uint64_t digest = 0;   // of its text; 0 if none is in force
  kernel::CopyTuning copies;  // those of this processor, where the table says nothing else
  std::array<std::array<std::optional<MessageRange>, layout_classes>, std::size(hosts::measured)> messages{};
  collective::Selection collectives;
  std::array<HostCollectives, std::size(hosts::measured)> left_to_host{};
  Learned learned;
  std::vector<std::string> complaints;  // one line each, with the name of what is wrong

  MessageRanges ranges(const HostFacts& facts) const;
  HostCollectives collectives_of(const HostFacts& facts) const;
};

// Never fails: what is unknown or out of its bounds is left as it is and named in `complaints`; a text that is no table
// of this version changes nothing and is one complaint.
Tuning parse_tuning(std::string_view text, const std::string& path);

// The table that the environment names: MILLRACE_TUNING, "none" for no table; else tuning.json in the directory
// `millrace` of XDG_CONFIG_HOME (~/.config), which may be missing.
Tuning read_tuning(const char* const* environment);
std::string standard_tuning_path(const char* const* environment);  // "" without a home

// The text of a table with these values; messages and collectives only where they are not the standard.
std::string tuning_text(const Tuning& tuning, std::string_view machine);

// The text of a table ("" for a new one) with what a run has learned merged into it, and all else as it was. Nothing if
// the text is no table of this version: whatever it is, it is not to be overwritten.
std::optional<std::string> with_learned(std::string_view text, const LearnedPlace& place, const LearnedRows& rows);
// All of a file that may be a table; "" if it is not there.
std::string table_text(const std::string& path);
// Why what is learned cannot be kept in this file; "" if it can.
std::string learning_obstacle(const std::string& path);

}  // namespace millrace::plan
