// Anything at all in the memory of a board, before ranks join it and while they use it: no sharing, no report, wrong
// ones, but nothing outside is touched and nobody hangs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "../collective/guarded.h"
#include "node/agreement.h"
#include "node/board.h"
#include "node/board_reports.h"

namespace millrace::node {
namespace {

constexpr std::uint32_t world_ranks = 3;

std::uint64_t number_from(const char* variable, std::uint64_t standard) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 0) : standard;
}

class Scribbler {
 public:
  Scribbler(char* memory, std::uint64_t seed) : memory_(memory), random_(seed) {}

  void once(std::size_t first, std::size_t bytes) {
    const std::size_t width = pick(3) == 0 ? 4 : 8, at = (first + pick(bytes)) / width * width;
    const std::uint64_t huge[] = {~std::uint64_t{0}, std::uint64_t{1} << 63, 0xfffff000u, ~std::uint64_t{4095}};
    std::uint64_t value = 0;
    std::memcpy(&value, memory_ + at, width);
    switch (pick(6)) {
      case 0: value ^= std::uint64_t{1} << pick(64); break;
      case 1: value += pick(3) * 4096; break;
      case 2: value = pick(10); break;
      case 3: value = huge[pick(4)]; break;
      case 4: value = pick(1 << 20) * 4096; break;
      default: value = random_(); break;
    }
    std::memcpy(memory_ + at, &value, width);
  }
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

 private:
  char* memory_;
  std::mt19937_64 random_;
};

// The head but for its key, which only says that it is another job's, then the first regions; what each rank says.
void scribble_on_board(Scribbler& scribbler, Scribbler& regions) {
  switch (scribbler.pick(4)) {
    case 0: scribbler.once(offsetof(BoardHead, maker), sizeof(BoardHead) - offsetof(BoardHead, maker)); break;
    case 1: scribbler.once(offsetof(BoardHead, arena_used_bytes), 24); break;
    case 2: regions.once(0, 8 * sizeof(Region)); break;
    default: scribbler.once(members_offset(), world_ranks * sizeof(BoardMember)); break;
  }
}

void use(Board& board) {
  const std::byte word[5000] = {};
  for (std::uint64_t name = 1; name < 4 && board.lock(); ++name) {
    const std::uint32_t record = board.find_record({name, 7}, world_ranks);
    if (char* const at = board.region(record, record_bytes(world_ranks))) std::memset(at, 0, record_bytes(world_ranks));
    const std::uint32_t region = board.allocate(10'000 * name);
    if (char* const at = board.region(region, 10'000 * name))
      if (board.reserve(region, 0, 10'000 * name) == Status::ok) std::memset(at, 1, 10'000 * name);
    board.release(name == 2 ? record : region);
    board.unlock();
  }
  bool left = false;
  for (const auto& part : leave_report(board, word, left)) ASSERT_LE(part.size(), std::size_t{4} << 20);
  for (std::uint32_t rank = 0; rank < world_ranks + 2; ++rank) board.is_here(rank);
}

int play(int directory, std::uint64_t seed, bool memfd) {
  const auto join = [&](std::uint32_t rank) {
    JoinRequest request;
    request.key = "job";
    request.rank = rank;
    request.world_ranks = world_ranks;
    request.reports = true;
    request.try_memfd = memfd;
    std::string why_not;
    return Board::join(request, directory, why_not);
  };
  Board* const first = join(0);
  if (!first) return 1;
  if (seed % 2 == 0) use(*first);
  if (!first->lock() || first->allocate(1) == 0) return 1;
  first->unlock();
  char* const table = first->region(1, 1) - region_table_bytes;  // in front of the first region
  Scribbler scribbler(reinterpret_cast<char*>(&first->attention()) - attention_offset(), seed), regions(table, ~seed);
  for (std::uint64_t count = 1 + scribbler.pick(4); count != 0; --count) scribble_on_board(scribbler, regions);
  const pid_t child = fork();
  if (child == 0) {
    if (Board* const second = join(1)) {
      use(*second);
      second->leave();
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  std::atomic<bool> stop{seed % 3 != 0};
  std::thread hostile([&] {
    while (!stop) {
      scribble_on_board(scribbler, regions);
      std::this_thread::yield();
    }
  });
  use(*first);
  int status = 0;
  waitpid(child, &status, 0);
  stop = true;
  hostile.join();
  first->leave();
  return status == 0 && !testing::Test::HasFailure() ? 0 : 2;
}

// MILLRACE_TEST_SCRIBBLES rounds from MILLRACE_TEST_SEED on.
TEST(ScribbledBoard, HarmsNothingOutside) {
  const std::uint64_t seed = number_from("MILLRACE_TEST_SEED", 1), rounds = number_from("MILLRACE_TEST_SCRIBBLES", 60);
  for (std::uint64_t round = seed; round < seed + rounds; ++round) {
    char place[] = "/dev/shm/millrace-test-XXXXXX";
    ASSERT_NE(mkdtemp(place), nullptr);
    const int directory = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const pid_t child = fork();
    if (child == 0) _exit(play(directory, round, round % 4 < 2));
    int status = 0;
    waitpid(child, &status, 0);
    close(directory);
    std::filesystem::remove_all(place);
    ASSERT_EQ(status, 0) << "MILLRACE_TEST_SEED=" << round;
  }
}

// A member of an agreement whose record holds anything shares memory only if it has joined some, and comes back.
TEST(ScribbledAgreement, NeverSharesWhatItHasNotJoined) {
  const std::uint64_t seed = number_from("MILLRACE_TEST_SEED", 1),
                      rounds = number_from("MILLRACE_TEST_SCRIBBLES", 3000);
  for (std::uint64_t round = seed; round < seed + rounds; ++round) {
    const collective::test::Guarded memory((record_bytes(world_ranks) + 63) / 64 * 64);  // aligned, for it ends a page
    char* const base = memory.data();
    auto& record = *new (base) AgreementRecord{};
    for (std::uint32_t each = 0; each < world_ranks; ++each) new (members_of(record) + each) AgreementMember{};
    Scribbler scribbler(base, round);
    struct State {
      bool joined = false;
    } state;
    static std::uint64_t time_ns = 0;
    AgreementUser user;
    user.prepare = [](void* of) { return static_cast<State*>(of)->joined = true; };
    user.find_memory = [](void*) { return std::uint32_t{1}; };
    user.pass_time = [](void*, std::uint32_t) {};
    user.now_ns = [] { return time_ns += 1'000'000; };
    user.lock = [](void*) { return true; };
    user.unlock = [](void*) {};
    user.user = &state;
    Agreement member(record, 0, world_ranks, user, 5, 77);
    record.joined = world_ranks;
    for (std::uint64_t call = 0; call < 20; ++call) {
      if (scribbler.pick(3) == 0) scribbler.once(0, record_bytes(world_ranks) - 8);
      if (scribbler.pick(4) == 0)  // words that look right, of this very call or the next
        record.decision = Decision{static_cast<std::uint32_t>(scribbler.pick(3)), 6 + call + scribbler.pick(2),
                                   static_cast<Stand>(scribbler.pick(6))}
                              .word();
      if (member.enter() == Agreement::State::shared) {
        ASSERT_TRUE(state.joined) << "MILLRACE_TEST_SEED=" << round;
        break;
      }
      member.leave(1, true, scribbler.pick(2) == 0);
    }
    member.end();
    ASSERT_TRUE(memory.intact());
  }
}

}  // namespace
}  // namespace millrace::node
