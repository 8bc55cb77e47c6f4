// Ranks as processes of one directory: who joins whose board, and what the memory on it does.
#include "node/board.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "node/board_reports.h"
#include "node/user_directory.h"

namespace millrace::node {
namespace {

namespace fs = std::filesystem;

class Boards : public testing::TestWithParam<bool> {  // whether the arena may be a memfd
 protected:
  void SetUp() override {
    char name[] = "/dev/shm/millrace-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    place = name;
    directory = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_GE(directory, 0);
  }
  void TearDown() override {
    close(directory);
    fs::remove_all(place);
  }
  JoinRequest request(std::uint32_t rank, std::uint32_t ranks, const std::string& key = "job") const {
    JoinRequest made;
    made.key = key;
    made.rank = rank;
    made.world_ranks = ranks;
    made.digest = rank;
    made.reports = true;
    made.try_memfd = GetParam();
    return made;
  }
  Board* join(const JoinRequest& of) {
    std::string why_not;
    return Board::join(of, directory, why_not);
  }
  // What `body` returns in a process of its own, which then ends without a word.
  static int in_child(const std::function<int()>& body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(place), fs::directory_iterator{}));
  }

  fs::path place;
  int directory = -1;
};

TEST_P(Boards, AreOneForAllRanksOfAJob) {
  Board* first = join(request(0, 2));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(files(), 1u);
  EXPECT_FALSE(first->is_here(1));
  EXPECT_EQ(in_child([&] {
              Board* second = join(request(1, 2));
              return second && second->is_here(0) && second->member(0).digest == 0 && second->joined() == 2 ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(first->is_here(1));
  EXPECT_EQ(files(), 0u) << "the name stays although all have come";
}

TEST_P(Boards, OfOtherKeysAndSizesAreOthers) {
  Board* first = join(request(0, 3));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(in_child([&] {
              Board* other = join(request(1, 3, "another job"));
              return other && !other->is_here(0) ? 0 : 1;
            }),
            0);
  EXPECT_FALSE(first->is_here(1));
}

TEST_P(Boards, StopWhenARankComesTwice) {
  Board* first = join(request(0, 3));
  ASSERT_NE(first, nullptr);
  std::string why_not;
  EXPECT_EQ(Board::join(request(0, 3), directory, why_not), nullptr);
  EXPECT_EQ(why_not, "another process of the job on this node has the same rank");
  EXPECT_TRUE(first->stopped());
  EXPECT_FALSE(first->lock());
}

TEST_P(Boards, OfKilledJobsAreRemoved) {
  const JoinRequest killed = request(0, 3, "killed");
  EXPECT_EQ(in_child([&] { return join(killed) ? 0 : 1; }), 0);
  EXPECT_EQ(files(), 1u);
  // The same job again, as after 65536 others of Open MPI 4.
  Board* again = join(killed);
  ASSERT_NE(again, nullptr);
  EXPECT_FALSE(again->stopped());
  EXPECT_EQ(in_child([&] { return join(request(0, 4, "killed too")) ? 0 : 1; }), 0);
  Board* later = join(request(1, 4, "a later one"));
  ASSERT_NE(later, nullptr);
  EXPECT_EQ(files(), 2u) << "what a killed job left is still there";
  later->leave();
  again->leave();
  EXPECT_EQ(files(), 0u);
}

TEST_P(Boards, AreNotMadeOfForeignFiles) {
  Board* first = join(request(0, 3));
  ASSERT_NE(first, nullptr);
  const fs::path file = fs::directory_iterator(place)->path();
  first->leave();
  // Rubbish of the right size is not taken for a board; what another may write, or a link, is not touched.
  std::ofstream(file).write(std::string(1 << 20, 'x').data(), 1 << 20);
  chmod(file.c_str(), 0600);
  Board* second = join(request(0, 3));
  ASSERT_NE(second, nullptr);
  second->leave();
  std::ofstream(file) << "x";
  chmod(file.c_str(), 0666);
  EXPECT_EQ(join(request(0, 3)), nullptr);
  fs::remove(file);
  fs::create_symlink("elsewhere", file);
  EXPECT_EQ(join(request(0, 3)), nullptr);
}

TEST_P(Boards, GiveZeroedMemoryAgain) {
  Board* board = join(request(0, 2));
  ASSERT_NE(board, nullptr);
  constexpr std::size_t bytes = 40'000;
  ASSERT_TRUE(board->lock());
  const std::uint32_t region = board->allocate(bytes);
  ASSERT_NE(region, 0u);
  ASSERT_EQ(board->reserve(region, 0, bytes), Status::ok);
  EXPECT_EQ(board->region(region, bytes + 10'000), nullptr);
  EXPECT_EQ(board->region(0, 1), nullptr);
  EXPECT_EQ(board->region(most_regions, 1), nullptr);
  EXPECT_EQ(board->region(region + 1, 1), nullptr);
  char* const base = board->region(region, bytes);
  std::memset(base, 7, bytes);
  board->release(region);
  const std::uint32_t again = board->allocate(bytes);
  // What cannot be zeroed is not used again.
  EXPECT_EQ(again == region, !MILLRACE_TEST_EMULATED);
  ASSERT_EQ(board->reserve(again, 0, bytes), Status::ok);
  const char* const zeroed = board->region(again, bytes);
  ASSERT_NE(zeroed, nullptr);
  for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(zeroed[i], 0) << i;
  // Not more than the budget, whatever is asked for.
  EXPECT_EQ(board->allocate(board->budget_bytes() + 1), 0u);
  board->unlock();
}

TEST_P(Boards, KeepOneRecordForACommunicator) {
  Board* board = join(request(0, 2));
  ASSERT_NE(board, nullptr);
  ASSERT_TRUE(board->lock());
  const std::uint32_t one = board->find_record({1, 2}, 2), other = board->find_record({1, 3}, 2);
  EXPECT_NE(one, 0u);
  EXPECT_NE(one, other);
  EXPECT_EQ(board->find_record({1, 2}, 2), one);
  board->release(one);
  EXPECT_EQ(board->find_record({1, 3}, 2), other);
  EXPECT_EQ(board->find_record({1, 4}, 2) == one, !MILLRACE_TEST_EMULATED) << "what was given back is used again";
  board->unlock();
}

// A rank that dies with the lock may have left anything half done.
TEST_P(Boards, StopWhenARankDiesWithTheLock) {
  Board* board = join(request(0, 2));
  ASSERT_NE(board, nullptr);
  EXPECT_EQ(in_child([&] {
              Board* second = join(request(1, 2));
              return second && second->lock() ? 0 : 1;
            }),
            0);
  EXPECT_FALSE(board->lock());
  EXPECT_TRUE(board->stopped());
}

TEST_P(Boards, BringReportsTogetherForTheLast) {
  Board* board = join(request(0, 3));
  ASSERT_NE(board, nullptr);
  const std::byte word[2] = {std::byte{1}, std::byte{2}};
  EXPECT_EQ(in_child([&] {
              Board* second = join(request(1, 3));
              bool left = false;
              return second && leave_report(*second, word, left).empty() && left && !second->leave() ? 0 : 1;
            }),
            0);
  // One that was asked and died is not waited for.
  EXPECT_EQ(in_child([&] { return join(request(2, 3)) ? 0 : 1; }), 0);
  bool left = false;
  const auto parts = leave_report(*board, word, left);
  EXPECT_TRUE(left);
  EXPECT_EQ(parts.size(), 2u);
}

TEST_P(Boards, GiveThePartsThatAreThereToOneWhoHasWaited) {
  Board* board = join(request(0, 3));
  ASSERT_NE(board, nullptr);
  int ready[2], finished[2];
  ASSERT_EQ(pipe(ready) + pipe(finished), 0);
  // One that lives, and leaves nothing before the others have lost patience.
  const pid_t late = fork();
  if (late == 0) {
    Board* second = join(request(1, 3));
    bool left = false;
    char letter = second ? 1 : 0;
    if (write(ready[1], &letter, 1) != 1 || read(finished[0], &letter, 1) != 1) _exit(2);
    const std::byte word{7};
    _exit(second && !are_parts_taken(*second)                                                   ? 3
          : !claim_early_report(*second) && leave_report(*second, {&word, 1}, left).size() == 2 ? 0
                                                                                                : 1);
  }
  char letter = 0;
  ASSERT_EQ(read(ready[0], &letter, 1), 1);
  const std::byte word{1};
  bool left = false;
  EXPECT_TRUE(leave_report(*board, {&word, 1}, left).empty());
  EXPECT_TRUE(left);
  EXPECT_FALSE(are_parts_taken(*board));
  EXPECT_TRUE(claim_early_report(*board));
  EXPECT_EQ(take_parts(*board).size(), 1u);
  EXPECT_TRUE(are_parts_taken(*board));
  EXPECT_TRUE(take_parts(*board).empty()) << "once";
  ASSERT_EQ(write(finished[1], &letter, 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(late, &status, 0), late);
  EXPECT_EQ(status, 0) << "the last one still gets all";
  for (const int end : {ready[0], ready[1], finished[0], finished[1]}) close(end);
}

INSTANTIATE_TEST_SUITE_P(Arena, Boards, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "memfd" : "file"; });

TEST(UserDirectory, IsOursAlone) {
  char name[] = "/dev/shm/millrace-test-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::string place = name;
  const UserDirectory made = open_user_directory({place});
  ASSERT_GE(made.descriptor, 0);
  struct stat found {};
  fstat(made.descriptor, &found);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
  close(made.descriptor);
  // One that others may enter, or a link to one, is passed over for the next name.
  chmod(made.path.c_str(), 0755);
  const UserDirectory next = open_user_directory({place});
  ASSERT_GE(next.descriptor, 0);
  EXPECT_NE(next.path, made.path);
  close(next.descriptor);
  fs::remove_all(next.path);
  fs::create_symlink(made.path, next.path);
  const UserDirectory third = open_user_directory({place});
  EXPECT_NE(third.path, next.path);
  close(third.descriptor);
  fs::remove_all(place);
}

}  // namespace
}  // namespace millrace::node
