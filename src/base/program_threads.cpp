#include "base/program_threads.h"

namespace millrace {

constinit std::atomic<bool> threads_together{true};

}  // namespace millrace
