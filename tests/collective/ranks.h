// Runs a function as all ranks of a group, each rank a process of its own or a thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collective/group.h"

namespace millrace::collective::test {

struct RankSetup {
  GroupShape shape;
  Waiting waiting = Waiting::automatic;
  Selection selection;
  bool lets_write = true;
  bool threads = false;          // else forked processes
  double timeout_seconds = 100;  // then what still runs is killed, and its outcome says so
  bool (*progress)(void* context) = nullptr;
  shared_memory::Seating seating;  // without the seat, which is the rank
};

RankSetup ranks(std::uint32_t count);

// Returns "" or what went wrong. Runs after start(); gtest assertions do not reach the parent, so say it in words.
using Body = std::function<std::string(Group& group)>;

// One outcome per rank: what `body` returned, or how the process ended.
std::vector<std::string> run_ranks(const RankSetup& setup, const Body& body);

// For EXPECT_EQ(run_all(...), ""): the outcomes that are not "", each with its rank.
std::string run_all(const RankSetup& setup, const Body& body);

}  // namespace millrace::collective::test
