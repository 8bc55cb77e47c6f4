#include "shim/node/nodes_accord.h"

#include <sched.h>

#include <ctime>
#include <utility>

#include "abi.h"
#include "base/clock.h"
#include "base/log.h"
#include "shim/bind/forward.h"
#include "shim/host/host_progress.h"
#include "shim/node/job_nodes.h"
#include "shim/node/nodes_mail.h"

namespace millrace::shim {

NodesAccord::NodesAccord(const node::Identity& identity, std::uint32_t rank, std::vector<int> members,
                         std::uint64_t calls, std::uint64_t history)
    : identity_(identity),
      rank_(rank),
      members_(std::move(members)),
      agreement_(identity, rank, static_cast<std::uint32_t>(members_.size()), *this, calls, history) {}

NodesAccord::~NodesAccord() { forget_letters(identity_); }

namespace {

void end_job() {
  log(LogLevel::error, "out of memory while the ranks of several nodes agree: the job ends");
  host<Symbol::MPI_Abort>(nodes_comm(), abi::err_intern);
}

}  // namespace

NodesAccord::State NodesAccord::enter(std::uint64_t calls, bool synchronises) noexcept try {
  return agreement_.enter(calls, synchronises);
} catch (...) {
  end_job();
  return State::host;
}

void NodesAccord::spoil() noexcept try { agreement_.spoil(); } catch (...) {
  end_job();
}

void NodesAccord::post(std::uint32_t member, const node::NodesLetter& letter) { send_letter(members_[member], letter); }

std::vector<node::NodesLetter> NodesAccord::collect() { return collect_letters(identity_); }

std::uint64_t NodesAccord::now_ns() { return monotonic_ns(); }

void NodesAccord::pass_time(std::uint32_t round) {
  drive_host(nullptr);
  if (round < 200) {
    sched_yield();
  } else {
    const timespec pause{0, 20'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace millrace::shim
