// What the program may ask the preload about itself: python/millrace/mpi.py does. Found by dlsym; a process without
// Millrace has no such functions. Callable at any time and by any thread; they change nothing.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "record/report.h"
#include "shim/bind/mode.h"
#include "shim/process/publish.h"
#include "shim/process/runtime.h"

namespace millrace::shim {
namespace {

const char* state() {
  if (!runtime().settings.enabled) return "off";
  if (runtime().host_checked && !runtime().host_matches) return "other_mpi";
  return current_mode() & accelerating ? "active" : "idle";
}

// The record of this process in the form of the report. What is missing of other ranks was not asked for.
std::string statistics() {
  if (!(current_mode() & recording)) return {};
  const record::RankRecord own = record_until_now();
  record::Report report = record::merge({&own, 1});
  report.notes.clear();
  return record::to_json(report);
}

}  // namespace
}  // namespace millrace::shim

// "active": calls may be taken. "idle": before initialisation or after finalisation. "off": MILLRACE=0. "other_mpi":
// the MPI library is not the one that this preload is for.
extern "C" [[gnu::visibility("default"), gnu::used]] const char* millrace_preload_state() {
  return millrace::shim::state();
}

// Writes at most `text_bytes` bytes, the last one 0, and returns how many the whole text takes, its 0 included; 0 if
// nothing is counted (MILLRACE_REPORT is not set) or memory ran out. Counters go on between two calls, so that the
// second may need more.
extern "C" [[gnu::visibility("default"), gnu::used]] std::size_t millrace_preload_statistics(
    char* text, std::size_t text_bytes) try {
  const std::string whole = millrace::shim::statistics();
  if (whole.empty()) return 0;
  if (text && text_bytes > 0) {
    const std::size_t shown = std::min(whole.size(), text_bytes - 1);
    std::memcpy(text, whole.data(), shown);
    text[shown] = 0;
  }
  return whole.size() + 1;
} catch (...) {
  return 0;
}
