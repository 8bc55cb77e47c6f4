// What ranks of a node have to report when they end, brought together without waiting for anybody: each leaves its part
// on the board, and whoever leaves the last part that is to be expected has them all.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "node/board.h"

namespace millrace::node {

// Leaves this rank's part. Returns all parts if no other rank that was asked for a report when it joined (and lives) is
// still to come; empty otherwise, and then another rank will get them. `left`: false if there was no room for the part.
std::vector<std::vector<std::byte>> leave_report(Board& board, std::span<const std::byte> part, bool& left);

// This rank ends before its time, and reports of itself. False: another one has done so.
bool claim_early_report(Board& board);

// Whether somebody has all parts, or took those that were there.
bool are_parts_taken(const Board& board);
// For a rank that has waited for the others in vain: the parts that are there. Empty if they are taken.
std::vector<std::vector<std::byte>> take_parts(Board& board);

}  // namespace millrace::node
