// The state of this process: settings, whether the host matches this variant, who we are. Written at load,
// initialisation and finalisation; everything else only reads.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/settings.h"

namespace millrace::shim {

struct Runtime {
  SettingValues settings;
  TickScale tick_scale;
  bool host_matches = false;
  bool host_checked = false;
  bool prepared = false;  // kernels chosen, complaints said
  bool world_initialised = false;
  int world_rank = 0, world_ranks = 1;  // 0 of 1 until it is initialised
  int open_sessions = 0;
  std::uint64_t initialised_ns = 0;
};

// Made when the preload is loaded and never destroyed: calls may come from other libraries' destructors.
Runtime& runtime();

// Compares the host with this variant, once, and turns everything off with one line if they do not match.
void check_host();

// After a successful MPI_Init*, MPI_Session_init; before MPI_Finalize, MPI_Session_finalize.
void world_initialised() noexcept;
void world_finalising() noexcept;
void session_initialised() noexcept;
void session_finalising() noexcept;

}  // namespace millrace::shim
