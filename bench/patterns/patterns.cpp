// The access patterns through MPI_ (Millrace, where it is loaded), PMPI_ (the host) and a loop by hand, in turns within
// one process on two ranks. First every pattern is compared with its loop, byte by byte; what differs ends the program.
// One line each: NAME FORM BYTES OURS_NS HOST_NS HAND_NS RATIO LOW HIGH, medians over the turns. RATIO is host / ours,
// with its quartiles. FORM is pack, unpack (by rank 0) or pingpong (one message one way, packed by hand in HAND_NS).
// Arguments: turns, milliseconds of one turn, scales...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pattern.h"

namespace {

using patterns::Pattern;
using patterns::Way;

enum Side { ours, host, hand };
int rank;

struct Work {
  const Pattern& pattern;
  int bytes;
  std::vector<char> spread, packed;
};

void pack_once(Work& work, Side side, Way way) {
  int at = 0;
  char *spread = work.spread.data(), *packed = work.packed.data();
  const MPI_Datatype type = work.pattern.type;
  if (side == hand)
    work.pattern.by_hand(spread, packed, way);
  else if (way == Way::pack)
    (side == ours ? MPI_Pack : PMPI_Pack)(spread, 1, type, packed, work.bytes, &at, MPI_COMM_SELF);
  else
    (side == ours ? MPI_Unpack : PMPI_Unpack)(packed, work.bytes, &at, spread, 1, type, MPI_COMM_SELF);
}

void ping_pong(Work& work, Side side) {
  const auto send = side == ours ? MPI_Send : PMPI_Send;
  const auto receive = side == ours ? MPI_Recv : PMPI_Recv;
  char *spread = work.spread.data(), *packed = work.packed.data();
  const MPI_Datatype type = work.pattern.type;
  for (int turn = 0; turn < 2; ++turn)
    if (rank == turn && side == hand) {
      work.pattern.by_hand(spread, packed, Way::pack);
      send(packed, work.bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    } else if (rank == turn) {
      send(spread, 1, type, 1 - rank, 0, MPI_COMM_WORLD);
    } else if (side == hand) {
      receive(packed, work.bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      work.pattern.by_hand(spread, packed, Way::unpack);
    } else {
      receive(spread, 1, type, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

template <class Once>
double timed_ns(long repetitions, Once once) {
  const double start_s = PMPI_Wtime();
  for (long i = 0; i < repetitions; ++i) once();
  return (PMPI_Wtime() - start_s) / static_cast<double>(repetitions) * 1e9;
}

double middle(std::vector<double> values, std::size_t quarters = 2) {
  std::sort(values.begin(), values.end());
  return values[values.size() * quarters / 4];
}

// Both ranks call it for a ping-pong, where `share` messages go in one call of `once`; else rank 0 alone.
template <class Once>
void measure(const Work& work, const char* form, bool both, int turns, double turn_ms, Once once) {
  for (int i = 0; i < 4; ++i)
    for (const Side side : {ours, host, hand}) once(side);
  long repetitions = static_cast<long>(turn_ms * 1e6 / timed_ns(3, [&] { once(host); })) + 1;
  if (both) PMPI_Bcast(&repetitions, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  std::vector<double> times_ns[3], ratios;
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < 3; ++i) {
      const Side side = static_cast<Side>(turn % 2 ? 2 - i : i);
      times_ns[side].push_back(timed_ns(repetitions, [&] { once(side); }) / (both ? 2 : 1));
    }
    ratios.push_back(times_ns[host].back() / times_ns[ours].back());
  }
  if (rank == 0)
    std::printf("%s %s %d %.1f %.1f %.1f %.3f %.3f %.3f\n", work.pattern.name.c_str(), form, work.bytes,
                middle(times_ns[ours]), middle(times_ns[host]), middle(times_ns[hand]), middle(ratios),
                middle(ratios, 1), middle(ratios, 3));
  std::fflush(stdout);
}

// The same bytes by loop and by datatype, in both directions and through a message; gaps keep what they had.
bool right(Work& work) {
  const std::vector<char> blank(work.spread.size(), 0x55), source = work.spread;
  std::vector<char> expected = blank, packed(work.packed.size());
  work.pattern.by_hand(work.spread.data(), packed.data(), Way::pack);
  work.pattern.by_hand(expected.data(), packed.data(), Way::unpack);
  bool good = true;
  for (int again = 0; again < 3; ++again) {  // Millrace compiles a datatype when it is used again
    std::fill(work.packed.begin(), work.packed.end(), 0);
    work.spread = source;
    pack_once(work, ours, Way::pack);
    good = good && !std::memcmp(work.packed.data(), packed.data(), static_cast<std::size_t>(work.bytes));
    work.spread = blank;
    pack_once(work, ours, Way::unpack);
    good = good && work.spread == expected;
    work.spread = rank == 0 ? source : blank;
    ping_pong(work, ours);
    good = good && (rank == 0 ? work.spread == source : work.spread == expected);
  }
  if (!good)
    std::fprintf(stderr, "%s: rank %d has other bytes than the loop by hand\n", work.pattern.name.c_str(), rank);
  work.spread = source;
  return good;
}

void run(const Pattern& pattern, int turns, double turn_ms) {
  int bytes;
  MPI_Type_size(pattern.type, &bytes);
  Work work{pattern, bytes, std::vector<char>(pattern.spread_bytes),
            std::vector<char>(static_cast<std::size_t>(bytes))};
  for (std::size_t i = 0; i < work.spread.size(); ++i) work.spread[i] = static_cast<char>(i * 31 + i / 251);
  if (!right(work)) MPI_Abort(MPI_COMM_WORLD, 1);
  PMPI_Barrier(MPI_COMM_WORLD);
  measure(work, "pingpong", true, turns, turn_ms, [&](Side side) { ping_pong(work, side); });
  if (rank == 0) {
    measure(work, "pack", false, turns, turn_ms, [&](Side side) { pack_once(work, side, Way::pack); });
    measure(work, "unpack", false, turns, turn_ms, [&](Side side) { pack_once(work, side, Way::unpack); });
  }
  PMPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int turns = std::atoi(argv[1]);
  const double turn_ms = std::atof(argv[2]);
  for (int i = 3; i < argc; ++i) {
    std::vector<Pattern> all = patterns::grid_patterns(std::atol(argv[i]));
    const std::vector<Pattern> lists = patterns::list_patterns(std::atol(argv[i]));
    all.insert(all.end(), lists.begin(), lists.end());
    for (Pattern& pattern : all) {
      MPI_Type_commit(&pattern.type);
      run(pattern, turns, turn_ms);
      MPI_Type_free(&pattern.type);
    }
  }
  MPI_Finalize();
  return 0;
}
