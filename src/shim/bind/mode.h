// What every intercepted call must ask first, in one word that is almost always in the first-level cache.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::shim {

enum ModeBit : std::uint32_t {
  recording = 1,     // MILLRACE_REPORT: count and time every call
  checking = 2,      // `millrace check`: mark the entry, do not call the host
  accelerating = 4,  // between initialisation and finalisation, on a host that matches: our algorithms may take calls
};

// Written at load, initialisation and finalisation only; read relaxed by every call. A call that races with
// initialisation and sees the old value goes to the host untouched, which is always right.
extern std::atomic<std::uint32_t> mode;

inline std::uint32_t current_mode() { return mode.load(std::memory_order_relaxed); }
inline void set_mode(ModeBit bit) { mode.fetch_or(bit, std::memory_order_relaxed); }
inline void clear_mode(ModeBit bit) { mode.fetch_and(~static_cast<std::uint32_t>(bit), std::memory_order_relaxed); }

}  // namespace millrace::shim
