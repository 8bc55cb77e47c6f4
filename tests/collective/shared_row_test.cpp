// Rows that both ends copy: in exchanges and Bcasts of all sizes, where one end cannot, will not, gives up or dies.
#include "collective/shared_row.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "collective/collective.h"
#include "collective/exchange.h"
#include "messages.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

constexpr std::size_t sizes[] = {1, 4095, 16384, 16385, 32768, 65535, 65536, 100000, 262144, 262145, 1u << 20, 3000001};

// Rows are shared whatever their size, and however many ranks there are for a core.
RankSetup setup_of(std::uint32_t count) {
  RankSetup setup = ranks(count);
  setup.timeout_seconds = 60;
  setup.selection.exchange_single_copy_bytes = setup.selection.exchange_single_copy_crowded_bytes = 1;
  setup.selection.shared_row_bytes = 1;
  setup.selection.shared_rows_crowded = true;
  setup.selection.bcast_cells_bytes = 0;
  setup.selection.bcast_single_copy_bytes = 1;
  setup.selection.choose_copies = false;
  return setup;
}

// Whether rows were shared, which ranks of one test count together. Whether their owners wrote parts of them is a
// matter of who runs when.
class Shared {
 public:
  Shared()
      : rows_(static_cast<std::atomic<std::uint64_t>*>(mmap(
            nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Shared() { munmap(rows_, sizeof *rows_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  void count(const Group& group) {
    for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
      if (rank != group.rank()) *rows_ += group.shared_row(rank, group.rank()).parts.load() != 0 ? 1 : 0;
  }
  bool any() const { return *rows_ != 0; }

 private:
  std::atomic<std::uint64_t>* rows_;
};

// Gathers to, and scatters from, every root.
std::string gather_and_scatter(Group& group, unsigned seed, int calls, Form form, Shared& shared) {
  std::mt19937 random(seed);
  for (int call = 0; call < calls; ++call) {
    Traffic traffic{group.ranks(), random(), {}};
    const Kind kind = random() % 2 == 0 ? Kind::gather : Kind::scatter;
    const std::uint32_t root = random() % group.ranks();
    for (std::uint32_t from = 0; from < group.ranks(); ++from)
      for (std::uint32_t to = 0; to < group.ranks(); ++to) {
        const std::size_t bytes = sizes[random() % std::size(sizes)] / (group.ranks() > 4 ? 4 : 1);
        const bool listed = kind == Kind::gather ? to == root : from == root;
        traffic.bytes.push_back(listed ? std::vector<std::size_t>{bytes} : std::vector<std::size_t>{});
      }
    if (std::string wrong = check_exchange(group, traffic, form, kind); !wrong.empty())
      return fmt::format("seed {}, call {}, {}: {}", seed, call, kind_name(kind), wrong);
    shared.count(group);
  }
  return "";
}

TEST(SharedRows, OfGatherAndScatter) {
  for (const std::uint32_t count : {2u, 3u, 4u, 5u, 7u, 9u})
    for (const Form form : {Form::rows, Form::mixed})
      for (const Waiting waiting : {Waiting::yield, Waiting::sleep}) {
        RankSetup setup = setup_of(count);
        setup.waiting = waiting;
        setup.threads = count == 4;
        Shared shared;
        EXPECT_EQ(run_all(setup,
                          [&](Group& group) {
                            return gather_and_scatter(group, 5 + count, count > 4 ? 20 : 60, form, shared);
                          }),
                  "")
            << count;
        EXPECT_TRUE(shared.any()) << count;
      }
}

// Who will not be written to is not, and gathers in pieces; the same where only some are.
TEST(SharedRows, OnlyWhereTheReaderLetsThem) {
  for (const std::uint32_t count : {2u, 3u}) {
    RankSetup setup = setup_of(count);
    setup.lets_write = false;
    Shared shared;
    EXPECT_EQ(run_all(setup, [&](Group& group) { return gather_and_scatter(group, 11, 60, Form::mixed, shared); }), "")
        << count;
    EXPECT_FALSE(shared.any()) << count;
  }
}

std::string broadcast(Group& group, int calls, Shared& shared) {
  for (int call = 0; call < calls; ++call) {
    const std::uint32_t root = static_cast<std::uint32_t>(call) % 2;
    const std::size_t sent = sizes[static_cast<std::size_t>(call) % std::size(sizes)];
    const std::size_t room = call % 5 == 4 ? sent / 2 + 1 : call % 5 == 3 ? 2 * sent : sent;
    const bool is_root = group.rank() == root;
    const char text = static_cast<char>('a' + call % 20);
    std::vector<char> buffer((is_root ? sent : room) + 4096, 'o');
    if (is_root) std::fill_n(buffer.begin(), sent, text);
    const Result result = bcast(group, buffer.data(), is_root ? sent : room, root);
    if (result != (!is_root && sent > room ? Result::truncated : Result::ok)) return result_name(result);
    const std::size_t came = is_root ? sent : std::min(sent, room);
    for (std::size_t at = 0; at < buffer.size(); ++at)
      if (buffer[at] != (at < came ? text : 'o')) return fmt::format("call {}: wrong at {} of {}", call, at, came);
    buffer.assign(buffer.size(), 'z');
    if (!is_root) shared.count(group);
  }
  return "";
}

TEST(SharedRows, OfBcast) {
  for (const bool lets_write : {true, false})
    for (const Waiting waiting : {Waiting::automatic, Waiting::yield, Waiting::sleep}) {
      RankSetup setup = setup_of(2);
      setup.waiting = waiting;
      setup.lets_write = lets_write;
      Shared shared;
      EXPECT_EQ(run_all(setup, [&](Group& group) { return broadcast(group, 240, shared); }), "");
      EXPECT_EQ(shared.any(), lets_write);
    }
}

// A reader whose memory nobody may touch, though it may read the owners': they find out, and it reads all by itself.
TEST(SharedRows, WhereTheOwnerCannotWrite) {
  EXPECT_EQ(run_all(setup_of(2),
                    [](Group& group) -> std::string {
                      if (!group.reads_memory()) return "cannot read memory here";
                      if (geteuid() == 0 && setuid(65534) != 0) _exit(3);
                      prctl(PR_SET_DUMPABLE, group.rank() == 1 ? 0 : 1, 0, 0, 0);
                      if (barrier(group) != Result::ok) return "no barrier";
                      for (unsigned call = 0; call < 60; ++call) {
                        Traffic traffic{2, call, {{}, {300000 + call}, {}, {}}};  // to rank 1
                        const Kind kind = call % 2 == 0 ? Kind::gather : Kind::scatter;
                        if (std::string wrong = check_exchange(group, traffic, Form::rows, kind); !wrong.empty())
                          return wrong;
                        std::vector<char> buffer(200000, group.rank() == 0 ? 'x' : 'o');
                        if (bcast(group, buffer.data(), buffer.size(), 0) != Result::ok) return "no bcast";
                        if (buffer != std::vector<char>(buffer.size(), 'x')) return "wrong data";
                      }
                      return "";
                    }),
            "");
}

// The two ends by themselves: rank 0 owns a row that rank 1 reads.
std::string close_while_it_helps(Group& group) {
  constexpr std::size_t bytes = 1 << 20;
  std::vector<char> memory(bytes, group.rank() == 0 ? 'x' : 'o');
  for (std::uint64_t turn = 1; turn <= 300; ++turn) {
    if (barrier(group) != Result::ok) return "no barrier";
    std::atomic<std::uint64_t>& closed = group.self().settled.value;
    if (group.rank() == 0) {
      RowWriting writing;
      writing.begin(2 * turn, memory.data(), bytes);
      while (group.member(1).settled.value.load() < turn) writing.help(group, 1);
      for (int late = 0; late < 10; ++late) writing.help(group, 1);
    } else {
      RowReading reading;
      reading.open(group, 0, 2 * turn, memory.data(), bytes);
      std::size_t read = 0;
      for (std::uint64_t part = 0; part < turn % 5; ++part) {
        const RowReading::Part taken = reading.take(group, 0);
        if (taken.length != 0 && taken.first != read) return "parts are not in order";
        read += taken.length;
      }
      for (std::uint64_t pause = 0; pause < turn * 37 % 3000; ++pause) shared_memory::cpu_pause();
      reading.close(group, 0);
      std::fill(memory.begin(), memory.end(), 'o');  // it is somebody else's now
      closed.store(turn);
    }
    if (barrier(group) != Result::ok) return "no barrier";
    if (group.rank() == 1 && std::count(memory.begin(), memory.end(), 'o') != static_cast<std::ptrdiff_t>(bytes))
      return "written after it was closed";
  }
  return "";
}

TEST(SharedRows, AreNotWrittenOnceClosed) { EXPECT_EQ(run_all(setup_of(2), close_while_it_helps), ""); }

// Where to write is told through memory in which others may scribble.
TEST(SharedRows, AreWrittenOnlyWhereTheReaderSaid) {
  EXPECT_EQ(run_all(setup_of(2),
                    [](Group& group) -> std::string {
                      std::vector<char> memory(200000, group.rank() == 0 ? 'x' : 'o');
                      RowReading reading;
                      if (group.rank() == 1) reading.open(group, 0, 2, memory.data(), 100000);
                      if (barrier(group) != Result::ok) return "no barrier";
                      if (group.rank() == 0) {
                        SharedRow& row = group.shared_row(0, 1);
                        const SharedRow* const was = &row;
                        const std::uint64_t address = was->address, bytes = was->bytes, parts = was->parts.load();
                        const auto helps = [&](std::uint64_t to, std::uint64_t length, std::uint64_t which) {
                          row.address = to, row.bytes = length, row.parts.store(which);
                          RowWriting writing;
                          writing.begin(2, memory.data(), memory.size());
                          return writing.help(group, 1);
                        };
                        if (helps(address + 8, bytes, parts)) return "another address";
                        if (helps(address, bytes + 1, parts)) return "more bytes";
                        if (helps(address, bytes, parts | 0xff)) return "parts that there are not";
                        if (helps(address, bytes, parts ^ std::uint64_t{1} << 24)) return "another row";
                        if (!helps(address, bytes, parts)) return "did not help";
                      }
                      if (barrier(group) != Result::ok) return "no barrier";
                      reading.close(group, 0);
                      if (group.rank() == 0) return "";
                      const auto written = std::count(memory.begin(), memory.end(), 'x');
                      return written > 0 && written <= 100000 && memory[99999] == 'x' && memory[100000] == 'o'
                                 ? ""
                                 : "wrong bytes written";
                    }),
            "");
}

// Memory of the reader that cannot be written: it hears of that, and what it is still to read begins where it stopped.
TEST(SharedRows, SayWhatCouldNotBeWritten) {
  EXPECT_EQ(
      run_all(setup_of(2),
              [](Group& group) -> std::string {
                constexpr std::size_t bytes = 1 << 20;
                void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (memory == MAP_FAILED) return "no memory";
                RowReading reading;
                if (group.rank() == 1) {
                  mprotect(static_cast<char*>(memory) + bytes / 2, bytes / 2, PROT_READ);
                  reading.open(group, 0, 2, memory, bytes);
                }
                if (barrier(group) != Result::ok) return "no barrier";
                RowWriting writing;
                writing.begin(2, memory, bytes);
                if (group.rank() == 0 && !writing.help(group, 1)) return "did not try";
                if (group.rank() == 0 && writing.help(group, 1)) return "tried again";
                if (barrier(group) != Result::ok) return "no barrier";
                if (group.rank() == 0) return "";
                std::size_t read = 0;
                for (RowReading::Part part = reading.take(group, 0); part.length != 0; part = reading.take(group, 0))
                  read += part.length;
                if (read == 0 || read >= bytes) return "nothing was taken, or all is left";
                return reading.rest(group, 0) == RowReading::Rest::failed ? "" : "did not hear of it";
              }),
      "");
}

// Rank 1 dies somewhere in a row of calls, as the one that reads or the one that helps; the other notices.
void die(int kind, std::uint32_t root, unsigned after_us) {
  const auto outcomes = run_ranks(setup_of(2), [&](Group& group) -> std::string {
    std::vector<char> own(1 << 20), all(1 << 20);
    const Data row{own.size(), own.data(), nullptr, nullptr}, room{all.size(), all.data(), nullptr, nullptr};
    std::thread killer;
    if (group.rank() == 1)
      killer = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(after_us));
        raise(SIGKILL);
      });
    for (;;) {
      const auto begin = std::chrono::steady_clock::now();
      const std::vector<Message> out{{1 - group.rank(), row}}, in{{1 - group.rank(), room}}, none;
      const bool sends = (kind == 1) == (group.rank() == root);
      const Result result = kind == 0 ? bcast(group, own.data(), own.size(), root)
                                      : exchange(group, kind == 1 ? Kind::scatter : Kind::gather, root,
                                                 sends ? out : none, sends ? none : in);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      if (seconds.count() > 2) return fmt::format("took {} s", seconds.count());
      if (result == Result::peer_died) return "";
      if (result != Result::ok) return result_name(result);
    }
  });
  EXPECT_EQ(outcomes[0], "") << kind << ' ' << root << ' ' << after_us;
}

TEST(SharedRows, OfTheDead) {
  for (int kind = 0; kind < 3; ++kind)
    for (const std::uint32_t root : {0u, 1u})
      for (unsigned attempt = 0; attempt < 4; ++attempt) die(kind, root, 3000 + 1777 * attempt);
}

}  // namespace
}  // namespace millrace::collective::test
