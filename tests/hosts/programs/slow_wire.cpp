// A wire between network namespaces that takes its time and loses frames, for kernels without netem: each namespace
// gets an interface eth0, and what it sends there comes out of the others' so much later. Arguments: microseconds,
// frames lost of a million, names of namespaces. Says "ready" when the interfaces are there; ends when its input does.
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using Address = std::array<unsigned char, 6>;
constexpr std::size_t header_bytes = 10;  // struct virtio_net_hdr, before each frame: long ones stay in one piece

[[noreturn]] void fail(const std::string& what) {
  std::perror(what.c_str());
  std::exit(1);
}

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

int open_interface(const std::string& name) {
  const int space = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (space < 0 || setns(space, 0x40000000) != 0) fail(name);  // CLONE_NEWNET
  close(space);
  const int made = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  std::strcpy(request.ifr_name, "eth0");
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (made < 0 || ioctl(made, TUNSETIFF, &request) != 0) fail("/dev/net/tun");
  if (ioctl(made, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0) fail("TUNSETOFFLOAD");
  return made;
}

struct Frame {
  std::int64_t due_ns;
  std::size_t from;
  std::vector<char> bytes;
};

class Switch {
 public:
  Switch(std::vector<int> ends, std::int64_t delay_ns, unsigned lost)
      : ends_(std::move(ends)), delay_ns_(delay_ns), lost_(lost) {}

  void run() {
    std::vector<pollfd> polled;
    for (const int end : ends_) polled.push_back({end, POLLIN, 0});
    polled.push_back({STDIN_FILENO, POLLIN, 0});
    while (true) {
      timespec wait{};
      if (!under_way_.empty()) {
        const std::int64_t left_ns = std::max<std::int64_t>(under_way_.front().due_ns - now_ns(), 0);
        wait = {left_ns / 1'000'000'000, left_ns % 1'000'000'000};
      }
      if (ppoll(polled.data(), polled.size(), under_way_.empty() ? nullptr : &wait, nullptr) < 0) fail("ppoll");
      if (polled.back().revents != 0) return;
      for (std::size_t from = 0; from < ends_.size(); ++from) take(from);
      while (!under_way_.empty() && under_way_.front().due_ns <= now_ns()) {
        deliver(under_way_.front());
        under_way_.pop_front();
      }
    }
  }

 private:
  void take(std::size_t from) {
    for (int frames = 0; frames < 32; ++frames) {
      const ssize_t length = read(ends_[from], buffer_.data(), buffer_.size());
      if (length < static_cast<ssize_t>(header_bytes + 14)) return;
      Address sender;
      std::memcpy(sender.data(), buffer_.data() + header_bytes + 6, sender.size());
      known_[sender] = from;
      if (random_() % 1'000'000 < lost_) continue;
      under_way_.push_back({now_ns() + delay_ns_, from, {buffer_.data(), buffer_.data() + length}});
    }
  }
  void deliver(const Frame& frame) {
    Address receiver;
    std::memcpy(receiver.data(), frame.bytes.data() + header_bytes, receiver.size());
    const auto found = known_.find(receiver);
    for (std::size_t to = 0; to < ends_.size(); ++to)
      if (found == known_.end() ? to != frame.from : to == found->second)
        // An interface that is down, or has no room, loses it.
        if (write(ends_[to], frame.bytes.data(), frame.bytes.size()) < 0) continue;
  }

  std::vector<int> ends_;
  std::int64_t delay_ns_;
  unsigned lost_;
  std::map<Address, std::size_t> known_;
  std::deque<Frame> under_way_;
  std::mt19937 random_{20261125};
  std::array<char, 80 << 10> buffer_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  std::vector<int> ends;
  for (int i = 3; i < argc; ++i) ends.push_back(open_interface(argv[i]));
  // Waits end when they should, also where ranks take all cores.
  prctl(PR_SET_TIMERSLACK, 1);
  sched_param priority{};
  priority.sched_priority = 1;
  sched_setscheduler(0, SCHED_FIFO, &priority);
  std::puts("ready");
  std::fflush(stdout);
  Switch(std::move(ends), std::atoll(argv[1]) * 1000, static_cast<unsigned>(std::atoi(argv[2]))).run();
  return 0;
}
