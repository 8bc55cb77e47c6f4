// What libmillrace_threads.so exports to the objects that load it: two functions with C linkage, nothing else.
//
// It is an object of its own so that a process in which no large reduction happens loads neither it nor an OpenMP
// runtime, and so that libmillrace.so needs no C++ runtime.
#pragma once

#include <cstddef>

namespace millrace::threads {

// What the caller wants and knows.
struct Request {
  unsigned threads = 0;    // 0: as many as there are idle cores of this rank; else this many
  int processes = 0;       // of the MPI world; 0: not known, or no MPI
  bool is_forked = false;  // this process is a child of fork() without exec()
};

struct TeamDecision {
  unsigned threads = 1;
  const char* why = "";  // a string that lives as long as the process
};

// Part `index` of `parts`. Parts are independent of one another.
using Part = void (*)(void* context, unsigned index, unsigned parts);

// Decides and, if the answer is more than one thread, runs every part once, each on some thread, and returns when all
// have ended. If the answer is one thread nothing has been run. Thread-safe; of two callers at a time one gets the
// answer 1. Neither throws nor sets errno.
using RunFunction = TeamDecision (*)(const Request* request, Part part, void* context);
inline constexpr const char* run_function_name = "millrace_threads_run";

// Only decides.
using DecideFunction = TeamDecision (*)(const Request* request);
inline constexpr const char* decide_function_name = "millrace_threads_decide";

}  // namespace millrace::threads
