#include "shared_memory/waiting.h"

namespace millrace::shared_memory {

const char* waiting_name(Waiting waiting) {
  switch (waiting) {
    case Waiting::automatic: return "auto";
    case Waiting::spin: return "spin";
    case Waiting::yield: return "yield";
    case Waiting::sleep: return "sleep";
  }
  return "?";
}

}  // namespace millrace::shared_memory
