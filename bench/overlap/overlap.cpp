// What a nonblocking collective takes of a rank that computes between its beginning and its end. TURNS COMPUTE_US.
// Prints on rank 0, for each turn: "name bytes side alone_us compute_us tested_us": the time of call and wait with
// nothing in between, and by how much a computation takes longer that lies in between, without a call of MPI and with
// an MPI_Test every twentieth of it. The mean over the calls of a turn, on the slowest rank.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tools/bench/turns/host_requests.h"

namespace {

using turns::host_function;

enum class Between { nothing, computing, testing };  // of call and wait

struct Side {
  bool ours;
  decltype(&MPI_Iallreduce) allreduce = host_function(&MPI_Iallreduce, "PMPI_Iallreduce");
  decltype(&MPI_Ibcast) bcast = host_function(&MPI_Ibcast, "PMPI_Ibcast");
  decltype(&MPI_Ialltoall) alltoall = host_function(&MPI_Ialltoall, "PMPI_Ialltoall");
  decltype(&MPI_Test) test = host_function(&MPI_Test, "PMPI_Test");
  decltype(&MPI_Wait) wait = host_function(&MPI_Wait, "PMPI_Wait");
};

// Rounds of arithmetic that take so long, as measured on this rank beforehand.
double rounds_per_us = 1;
volatile double sink = 1;
void compute(double time_us) {
  const long rounds = static_cast<long>(time_us * rounds_per_us);
  double x = sink;
  for (long i = 0; i < rounds; ++i) x = x * 1.0000001 + 1e-9;
  sink = x;
}

double one_us(const Side& side, const std::string& name, int doubles, const std::vector<double>& in,
              std::vector<double>& out, Between between, double compute_us) {
  MPI_Request request;
  const MPI_Comm world = MPI_COMM_WORLD;
  PMPI_Barrier(world);
  double begin = MPI_Wtime();
  // The computation alone, on this very minute.
  if (between != Between::nothing) compute(compute_us);
  const double computed_us = (MPI_Wtime() - begin) * 1e6;
  PMPI_Barrier(world);
  begin = MPI_Wtime();
  if (name == "Iallreduce")
    (side.ours ? MPI_Iallreduce : side.allreduce)(in.data(), out.data(), doubles, MPI_DOUBLE, MPI_SUM, world, &request);
  else if (name == "Ibcast")
    (side.ours ? MPI_Ibcast : side.bcast)(out.data(), doubles, MPI_DOUBLE, 0, world, &request);
  else
    (side.ours ? MPI_Ialltoall : side.alltoall)(in.data(), doubles, MPI_DOUBLE, out.data(), doubles, MPI_DOUBLE, world,
                                                &request);
  constexpr int pieces = 20;
  int flag = 0;
  if (between == Between::computing) compute(compute_us);
  for (int piece = 0; between == Between::testing && piece < pieces; ++piece) {
    compute(compute_us / pieces);
    if (!flag) (side.ours ? MPI_Test : side.test)(&request, &flag, MPI_STATUS_IGNORE);
  }
  if (!flag) (side.ours ? MPI_Wait : side.wait)(&request, MPI_STATUS_IGNORE);
  double time_us = (MPI_Wtime() - begin) * 1e6 - (between == Between::nothing ? 0 : computed_us), slowest_us = 0;
  PMPI_Allreduce(&time_us, &slowest_us, 1, MPI_DOUBLE, MPI_MAX, world);
  return slowest_us;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = argc > 1 ? std::atoi(argv[1]) : 11;
  const double compute_us = argc > 2 ? std::atof(argv[2]) : 2000;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 5; ++i) {
    const double begin = MPI_Wtime();
    rounds_per_us = 1;
    compute(1e6);
    rounds_per_us = 1e6 / ((MPI_Wtime() - begin) * 1e6);
  }
  constexpr std::size_t sizes[] = {8, 32 << 10, 1 << 20, 4 << 20};
  std::vector<double> in(sizes[3] / 8 * static_cast<std::size_t>(ranks), 1.0), out(in);
  constexpr int calls = 10;
  for (const std::string name : {"Iallreduce", "Ibcast", "Ialltoall"})
    for (const std::size_t bytes : sizes) {
      const int doubles = static_cast<int>(bytes / 8);
      for (int turn = -2; turn < turns; ++turn)
        for (const bool ours : {false, true}) {
          const Side side{ours};
          double alone = 0, computing = 0, testing = 0;
          for (int call = 0; call < calls; ++call) {
            alone += one_us(side, name, doubles, in, out, Between::nothing, 0);
            computing += one_us(side, name, doubles, in, out, Between::computing, compute_us);
            testing += one_us(side, name, doubles, in, out, Between::testing, compute_us);
          }
          if (rank == 0 && turn >= 0)
            std::printf("%s %zu %s %.2f %.2f %.2f\n", name.c_str(), bytes, ours ? "ours" : "host", alone / calls,
                        computing / calls, testing / calls);
        }
    }
  MPI_Finalize();
  return 0;
}
