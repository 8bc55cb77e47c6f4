// main KIND MODE TURNS TURN_US OFFSET: see tools/bench/turns/turns.h, and run.py, which makes tables of what this
// prints: on rank 0, for each turn, "kind name bytes turn ours_us host_us line_ns", and with TURNS_WIRE set, to the
// name of the interface that leads to the other nodes, "ours_packets host_packets ours_bytes host_bytes" that all nodes
// send for a call. TURNS_ONLY=Scatter,Alltoall: of these names alone.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "rare.h"

namespace {

void print(const turns::Point& point, const std::vector<turns::Turn>& measured) {
  int number = 0;
  for (const turns::Turn& turn : measured)
    std::printf("%s %s %zu %d %.5f %.5f %.0f %.2f %.2f %.0f %.0f\n", point.kind.c_str(), point.name.c_str(),
                point.bytes, number++, turn.ours_us, turn.host_us, turn.line_ns, turn.ours_sent.packets,
                turn.host_sent.packets, turn.ours_sent.bytes, turn.host_sent.bytes);
  std::fflush(stdout);
}

// Whether `name` is one of those between commas.
bool is_listed(std::string_view names, std::string_view name) {
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    if (names.substr(begin, end - begin) == name) return true;
    begin = end + 1;
  }
  return false;
}

double count(const std::string& name) {
  double value = 0;
  std::ifstream(name) >> value;
  return value;
}

// Of the interface of this rank's node, on the first rank there.
std::function<turns::Sent()> counter_of(const char* interface, int rank) {
  MPI_Comm node;
  int rank_here = 0;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  PMPI_Comm_rank(node, &rank_here);
  PMPI_Comm_free(&node);
  if (rank_here != 0) return [] { return turns::Sent{}; };
  return [place = "/sys/class/net/" + std::string(interface) + "/statistics/"] {
    return turns::Sent{count(place + "tx_packets"), count(place + "tx_bytes")};
  };
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  turns::Run run{};
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  const std::string_view kind = argc > 1 ? argv[1] : "", mode = argc > 2 ? argv[2] : "hot";
  run.mode = mode == "cold" ? turns::Mode::cold : mode == "apart" ? turns::Mode::apart : turns::Mode::hot;
  run.shares_cores = turns::ranks_share_cores();
  if (argc > 3) run.turns = std::atoi(argv[3]);
  if (argc > 4) run.turn_us = std::atof(argv[4]);
  if (argc > 5) turns::place_buffers(static_cast<std::size_t>(std::atol(argv[5])));
  run.measures_line = true;
  run.report = print;
  if (const char* const only = std::getenv("TURNS_ONLY"))
    run.wants = [only](const turns::Point& point) { return is_listed(only, point.name); };
  if (const char* const interface = std::getenv("TURNS_WIRE")) run.sent = counter_of(interface, run.rank);
  // Who is faster shows after some 200 of them (docs/layouts.md), which take a second where they are large.
  if (kind == "messages" || kind == "halos") run.most_before_us = 1e6;
  if (kind == "reduce_local")
    turns::reduce_local(run);
  else if (kind == "pack")
    turns::pack(run);
  else if (kind == "messages")
    turns::messages(run);
  else if (kind == "halos")
    turns::halos(run);
  else if (kind == "collectives")
    turns::collectives(run);
  else if (kind == "nonblocking")
    turns::nonblocking(run);
  else if (kind == "rare")
    turns::rare(run);
  else if (kind == "persistent")
    turns::persistent(run);
  else
    std::fprintf(stderr, "turns: no kind '%.*s'\n", static_cast<int>(kind.size()), kind.data());
  MPI_Finalize();
}
