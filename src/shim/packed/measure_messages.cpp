// What `millrace tune` runs on two ranks under the user's own launcher: messages of derived datatypes through this
// preload and through the host alone, in turns within one process. Rank 0 prints lines that begin with
// "millrace-tune": first "host FAMILY" and "ranks N", then "CLASS BYTES RATIO", host / ours, once for each form and
// pass, and "done". Layouts are of ints and bytes, whose handles every ABI of the shim knows.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "abi.h"
#include "plan/layout_messages.h"
#include "shim/bind/forward.h"
#include "shim/host/library_version.h"

#include "base/clock.h"

// The wrappers, as a program calls them.
extern "C" {
using millrace::shim::Word;
Word shim_MPI_Init(Word, Word);
Word shim_MPI_Finalize();
Word shim_MPI_Send(Word, Word, Word, Word, Word, Word);
Word shim_MPI_Recv(Word, Word, Word, Word, Word, Word, Word);
Word shim_MPI_Isend(Word, Word, Word, Word, Word, Word, Word);
Word shim_MPI_Irecv(Word, Word, Word, Word, Word, Word, Word);
Word shim_MPI_Waitall(Word, Word, Word);
}

namespace millrace::shim {
namespace {

using plan::LayoutClass;

struct Type {
  abi::HandleStorage storage{};
  int count = 1;
  Word handle() const { return abi::handle_at(as_word(&storage)); }
};

abi::HandleStorage stored(Word handle) {
  abi::HandleStorage storage{};
  std::memcpy(&storage, &handle, sizeof storage);  // the low bytes of a word: its value, on our machines
  return storage;
}

void vector(Type& type, int blocks, int block_ints, int stride_ints) {
  host<Symbol::MPI_Type_vector>(blocks, block_ints, stride_ints, abi::int_type(), as_word(&type.storage));
}

void make_structures(Type& type, int bytes) {
  const int lengths[] = {1, 2, 3};
  const std::intptr_t at_bytes[] = {0, 8, 16};
  const abi::HandleStorage types[] = {stored(abi::int_type()), stored(abi::int_type()), stored(abi::byte_type())};
  Type one;
  host<Symbol::MPI_Type_create_struct>(3, as_word(lengths), as_word(at_bytes), as_word(types), as_word(&one.storage));
  host<Symbol::MPI_Type_create_resized>(one.handle(), 0, 24, as_word(&type.storage));
  host<Symbol::MPI_Type_free>(as_word(&one.storage));
  type.count = std::max(1, bytes / 15);
}

// Of a matrix with 8000 bytes a row: one column of 8 bytes, or several side by side.
void make_columns(Type& type, int bytes) {
  const int rows = std::min(bytes / 8, 1000);
  Type one;
  vector(one, rows, 2, 2000);
  host<Symbol::MPI_Type_create_resized>(one.handle(), 0, 8, as_word(&type.storage));
  host<Symbol::MPI_Type_free>(as_word(&one.storage));
  type.count = std::min(bytes / 8 / rows, 1000);
}

// Blocks of 8 bytes in a shuffled order, or of 8 to 200 bytes with gaps.
void make_list(Type& type, int bytes, bool is_short) {
  unsigned state = 12345;
  const auto draw = [&state](unsigned below) { return (state = state * 1664525u + 1013904223u) / 256 % below; };
  std::vector<int> lengths;
  std::vector<std::intptr_t> at_bytes;
  std::intptr_t place = 0;
  for (int left = bytes; left > 0;) {
    lengths.push_back(is_short ? 2 : 2 * (1 + static_cast<int>(draw(25))));
    at_bytes.push_back(place);
    place += std::intptr_t{4} * lengths.back() + 8 * (1 + static_cast<std::intptr_t>(is_short ? draw(2) : draw(8)));
    left -= 4 * lengths.back();
  }
  for (std::size_t i = at_bytes.size(); is_short && i > 1; --i)
    std::swap(at_bytes[i - 1], at_bytes[draw(static_cast<unsigned>(i))]);
  host<Symbol::MPI_Type_create_hindexed>(static_cast<int>(lengths.size()), as_word(lengths.data()),
                                         as_word(at_bytes.data()), abi::int_type(), as_word(&type.storage));
}

Type make_type(LayoutClass layout_class, int bytes) {
  Type type;
  switch (layout_class) {
    case LayoutClass::mixed: make_structures(type, bytes); break;
    case LayoutClass::blocks_4: vector(type, bytes / 4, 1, 2); break;
    case LayoutClass::blocks_8: vector(type, bytes / 8, 2, 3); break;
    case LayoutClass::blocks_32: vector(type, bytes / 32, 8, 16); break;
    case LayoutClass::blocks_128: vector(type, bytes / 128, 32, 64); break;
    case LayoutClass::blocks_1024: vector(type, bytes / 512, 128, 256); break;
    case LayoutClass::sparse: make_columns(type, bytes); break;
    case LayoutClass::list_short: make_list(type, bytes, true); break;
    case LayoutClass::list_long:
    case LayoutClass::count: make_list(type, bytes, false); break;
  }
  host<Symbol::MPI_Type_commit>(as_word(&type.storage));
  return type;
}

// One message of a type between two ranks, there and back or both ways at once.
class TimedExchange {
 public:
  TimedExchange(int rank, const Type& type) : rank_(rank), type_(type) {
    std::intptr_t lb = 0, extent = 0, true_extent = 0;
    host<Symbol::MPI_Type_get_extent>(type.handle(), as_word(&lb), as_word(&extent));
    host<Symbol::MPI_Type_get_true_extent>(type.handle(), as_word(&lb), as_word(&true_extent));
    const auto room_bytes = static_cast<std::size_t>(extent * (type.count - 1) + true_extent);
    out_.assign(room_bytes, 1);
    in_.assign(room_bytes, 2);
  }

  double seconds(bool ours, bool halo, int repetitions) {
    host<Symbol::MPI_Barrier>(abi::comm_world());
    const double start = now();
    for (int i = 0; i < repetitions; ++i) halo ? both_ways(ours) : there_and_back(ours);
    return (now() - start) / repetitions;
  }

 private:
  static double now() { return static_cast<double>(monotonic_ns()) * 1e-9; }

  void there_and_back(bool ours) {
    const Word count = as_word(type_.count), type = type_.handle(), peer = as_word(1 - rank_), comm = abi::comm_world();
    for (int turn = 0; turn < 2; ++turn) {
      if (rank_ == turn)
        ours ? (void)shim_MPI_Send(as_word(out_.data()), count, type, peer, 0, comm)
             : (void)host<Symbol::MPI_Send>(as_word(out_.data()), count, type, peer, 0, comm);
      else
        ours ? (void)shim_MPI_Recv(as_word(in_.data()), count, type, peer, 0, comm, abi::status_ignore)
             : (void)host<Symbol::MPI_Recv>(as_word(in_.data()), count, type, peer, 0, comm, abi::status_ignore);
    }
  }

  void both_ways(bool ours) {
    const Word count = as_word(type_.count), type = type_.handle(), peer = as_word(1 - rank_), comm = abi::comm_world();
    abi::HandleStorage requests[2];
    const Word receive = as_word(&requests[0]), send = as_word(&requests[1]);
    if (ours) {
      shim_MPI_Irecv(as_word(in_.data()), count, type, peer, 0, comm, receive);
      shim_MPI_Isend(as_word(out_.data()), count, type, peer, 0, comm, send);
      shim_MPI_Waitall(2, as_word(requests), abi::statuses_ignore);
    } else {
      host<Symbol::MPI_Irecv>(as_word(in_.data()), count, type, peer, 0, comm, receive);
      host<Symbol::MPI_Isend>(as_word(out_.data()), count, type, peer, 0, comm, send);
      host<Symbol::MPI_Waitall>(2, as_word(requests), abi::statuses_ignore);
    }
  }

  int rank_;
  const Type& type_;
  std::vector<char> out_, in_;
};

// The median over the turns of host / ours.
double median_ratio(TimedExchange& exchange, bool halo, int turns, double turn_s) {
  for (int i = 0; i < 3; ++i) exchange.seconds(true, halo, 1), exchange.seconds(false, halo, 1);
  int repetitions = std::clamp(static_cast<int>(turn_s / exchange.seconds(false, halo, 2)), 1, 100000);
  host<Symbol::MPI_Bcast>(as_word(&repetitions), 1, abi::int_type(), 0, abi::comm_world());
  std::vector<double> ratios;
  for (int turn = 0; turn < turns; ++turn) {
    const bool ours_first = turn % 2;
    const double first = exchange.seconds(ours_first, halo, repetitions);
    const double second = exchange.seconds(!ours_first, halo, repetitions);
    ratios.push_back(ours_first ? second / first : first / second);
  }
  std::nth_element(ratios.begin(), ratios.begin() + turns / 2, ratios.end());
  return ratios[static_cast<std::size_t>(turns / 2)];
}

void measure(LayoutClass layout_class, int bytes, int rank, int turns, double turn_s) {
  Type type = make_type(layout_class, bytes);
  int size = 0;
  host<Symbol::MPI_Type_size>(type.handle(), as_word(&size));
  TimedExchange exchange(rank, type);
  for (const bool halo : {false, true}) {
    const double ratio = median_ratio(exchange, halo, turns, turn_s);
    if (rank != 0) continue;
    std::printf("millrace-tune %s %d %.4f\n", layout_class_name(layout_class), size * type.count, ratio);
    std::fflush(stdout);
  }
  host<Symbol::MPI_Type_free>(as_word(&type.storage));
}

}  // namespace
}  // namespace millrace::shim

// `passes` times through all sizes, a multiple of `step` apart (2: every power of two). Returns an exit code. Of the
// preload's own interface, for `millrace tune` alone; the program is to call nothing of MPI itself.
extern "C" [[gnu::visibility("default"), gnu::used]] int millrace_measure_messages(int passes, int turns,
                                                                                   double turn_ms, int step) {
  using namespace millrace;
  using namespace millrace::shim;
  if (as_int(shim_MPI_Init(0, 0)) != 0) return 1;
  int rank = 0, ranks = 0;
  host<Symbol::MPI_Comm_rank>(abi::comm_world(), as_word(&rank));
  host<Symbol::MPI_Comm_size>(abi::comm_world(), as_word(&ranks));
  if (rank == 0) std::printf("millrace-tune ranks %d\nmillrace-tune host %s\n", ranks, host_facts().name);
  constexpr int least_bytes = 64, most_bytes = 4 << 20;
  for (int pass = 0; ranks == 2 && pass < passes; ++pass)
    for (std::size_t i = 0; i < plan::layout_classes; ++i)
      for (int bytes = least_bytes; bytes <= most_bytes; bytes *= step) {
        // Two blocks at least, or there is nothing to pack.
        if (static_cast<LayoutClass>(i) == LayoutClass::blocks_128 && bytes < 256) continue;
        if (static_cast<LayoutClass>(i) == LayoutClass::blocks_1024 && bytes < 1024) continue;
        measure(static_cast<LayoutClass>(i), bytes, rank, turns, turn_ms / 1e3);
      }
  if (rank == 0) std::printf("millrace-tune done\n");
  std::fflush(stdout);
  shim_MPI_Finalize();
  return 0;
}
