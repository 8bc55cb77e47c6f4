// main KIND MODE TURNS TURN_US OFFSET: see tools/bench/turns/turns.h, and run.py, which makes tables of what this
// prints: on rank 0, for each turn, "kind name bytes turn ours_us host_us line_ns".
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "rare.h"

namespace {

void print(const turns::Point& point, const std::vector<turns::Turn>& measured) {
  int number = 0;
  for (const turns::Turn& turn : measured)
    std::printf("%s %s %zu %d %.5f %.5f %.0f\n", point.kind.c_str(), point.name.c_str(), point.bytes, number++,
                turn.ours_us, turn.host_us, turn.line_ns);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  turns::Run run{};
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  const std::string_view kind = argc > 1 ? argv[1] : "", mode = argc > 2 ? argv[2] : "hot";
  run.mode = mode == "cold" ? turns::Mode::cold : mode == "apart" ? turns::Mode::apart : turns::Mode::hot;
  if (argc > 3) run.turns = std::atoi(argv[3]);
  if (argc > 4) run.turn_us = std::atof(argv[4]);
  if (argc > 5) turns::place_buffers(static_cast<std::size_t>(std::atol(argv[5])));
  run.measures_line = true;
  run.report = print;
  if (kind == "reduce_local")
    turns::reduce_local(run);
  else if (kind == "pack")
    turns::pack(run);
  else if (kind == "messages")
    turns::messages(run);
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
