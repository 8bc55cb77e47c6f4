#include "shim/node/announce.h"

#include <fmt/format.h>

#include <atomic>

#include "abi.h"
#include "base/log.h"

namespace millrace::shim {
namespace {

constexpr unsigned most_announced = 16;
std::atomic<unsigned> announced{0};

}  // namespace

void announce(const Communicator& communicator) noexcept try {
  if (log_level() < LogLevel::info || communicator.rank != 0 || communicator.ranks < 2) return;
  if (communicator.is_background || communicator.is_persistent) return;
  const unsigned before = announced.fetch_add(1, std::memory_order_relaxed);
  if (before > most_announced) return;
  if (before == most_announced) return log(LogLevel::info, "of further communicators nothing is said");
  const bool is_world = communicator.handle == abi::comm_world();
  const std::string name =
      fmt::format("{} of {} ranks", is_world ? "MPI_COMM_WORLD" : "a communicator", communicator.ranks);
  const char* reason = record::reason_text(communicator.reason);
  if (communicator.stage == Communicator::Stage::active)
    log(LogLevel::info, fmt::format("{}: collectives in shared memory{}", name,
                                    communicator.nodes ? " of each node, and between nodes" : ""));
  else if (communicator.stage == Communicator::Stage::host)
    log(LogLevel::info, fmt::format("{}: collectives are the host's: {}", name, reason));
  else
    log(LogLevel::info, fmt::format("{}: all {} collectives were the host's: {}", name, communicator.calls, reason));
} catch (...) {  // a line less
}

}  // namespace millrace::shim
