// Nonblocking collectives, each waited for at once, of nine sizes; and eight Iallreduce under way together. On the
// world; roots are rank 0.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <string>

#include "tools/bench/turns/host_requests.h"
#include "tools/bench/turns/turns.h"

namespace turns {
namespace {

// Handles, which are pointers with some hosts.
const MPI_Comm world = MPI_COMM_WORLD;  // NOLINT(misc-misplaced-const)
const MPI_Datatype type = MPI_DOUBLE;   // NOLINT(misc-misplaced-const)

struct Host {
  decltype(&MPI_Ibarrier) barrier = host_function(&MPI_Ibarrier, "PMPI_Ibarrier");
  decltype(&MPI_Ibcast) bcast = host_function(&MPI_Ibcast, "PMPI_Ibcast");
  decltype(&MPI_Ireduce) reduce = host_function(&MPI_Ireduce, "PMPI_Ireduce");
  decltype(&MPI_Iallreduce) allreduce = host_function(&MPI_Iallreduce, "PMPI_Iallreduce");
  decltype(&MPI_Ireduce_scatter_block) reduce_scatter_block =
      host_function(&MPI_Ireduce_scatter_block, "PMPI_Ireduce_scatter_block");
  decltype(&MPI_Iscan) scan = host_function(&MPI_Iscan, "PMPI_Iscan");
  decltype(&MPI_Iexscan) exscan = host_function(&MPI_Iexscan, "PMPI_Iexscan");
  decltype(&MPI_Igather) gather = host_function(&MPI_Igather, "PMPI_Igather");
  decltype(&MPI_Iscatter) scatter = host_function(&MPI_Iscatter, "PMPI_Iscatter");
  decltype(&MPI_Iallgather) allgather = host_function(&MPI_Iallgather, "PMPI_Iallgather");
  decltype(&MPI_Ialltoall) alltoall = host_function(&MPI_Ialltoall, "PMPI_Ialltoall");
};

void begin(const Host& host, char kind, bool ours, char* in, char* out, int n, MPI_Request* request) {
  switch (kind) {
    case 'b': (ours ? MPI_Ibarrier : host.barrier)(world, request); break;
    case 'B': (ours ? MPI_Ibcast : host.bcast)(out, n, type, 0, world, request); break;
    case 'r': (ours ? MPI_Ireduce : host.reduce)(in, out, n, type, MPI_SUM, 0, world, request); break;
    case 'a': (ours ? MPI_Iallreduce : host.allreduce)(in, out, n, type, MPI_SUM, world, request); break;
    case 'R':
      (ours ? MPI_Ireduce_scatter_block : host.reduce_scatter_block)(in, out, n, type, MPI_SUM, world, request);
      break;
    case 'c': (ours ? MPI_Iscan : host.scan)(in, out, n, type, MPI_SUM, world, request); break;
    case 'x': (ours ? MPI_Iexscan : host.exscan)(in, out, n, type, MPI_SUM, world, request); break;
    case 'g': (ours ? MPI_Igather : host.gather)(in, n, type, out, n, type, 0, world, request); break;
    case 's': (ours ? MPI_Iscatter : host.scatter)(in, n, type, out, n, type, 0, world, request); break;
    case 'G': (ours ? MPI_Iallgather : host.allgather)(in, n, type, out, n, type, world, request); break;
    default: (ours ? MPI_Ialltoall : host.alltoall)(in, n, type, out, n, type, world, request);
  }
}

struct Kind {
  char letter;
  const char* name;
  bool many_in, many_out;  // a block for each rank
};

}  // namespace

void nonblocking(const Run& run) {
  constexpr Kind kinds[] = {{'B', "Ibcast", false, false},     {'r', "Ireduce", false, false},
                            {'a', "Iallreduce", false, false}, {'R', "Ireduce_scatter_block", true, false},
                            {'c', "Iscan", false, false},      {'x', "Iexscan", false, false},
                            {'g', "Igather", false, true},     {'s', "Iscatter", true, false},
                            {'G', "Iallgather", false, true},  {'A', "Ialltoall", true, true}};
  const std::vector<std::size_t> sizes =
      sizes_of(run, {8, 64, 512, 2 << 10, 8 << 10, 32 << 10, 256 << 10, 1 << 20, 2 << 20});
  constexpr std::size_t together = 8;
  const Host host;
  const HostRequests& requests = host_requests();
  const auto ranks = static_cast<std::size_t>(run.ranks);
  const std::size_t most = std::clamp(sizes.back() * ranks, sizes.back(), run.most_buffer_bytes);
  const Memory in = buffer(most), out = buffer(most);
  const auto one = [&](char letter, bool ours, std::size_t bytes) {
    MPI_Request request;
    begin(host, letter, ours, in.begin, out.begin, static_cast<int>(bytes / 8), &request);
    (ours ? MPI_Wait : requests.wait)(&request, MPI_STATUS_IGNORE);  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)
  };
  if (run.mode != Mode::cold) measure(run, {"nonblocking", "Ibarrier", 0, [&](bool ours) { one('b', ours, 0); }, {}});
  for (const Kind& kind : kinds)
    for (const std::size_t bytes : sizes) {
      const Memory from{in.begin, kind.many_in ? bytes * ranks : bytes},
          into{out.begin, kind.many_out ? bytes * ranks : bytes};
      if (std::max(from.bytes, into.bytes) > most) continue;
      measure(run, {"nonblocking", kind.name, bytes, [&](bool ours) { one(kind.letter, ours, bytes); }, {from, into}});
    }
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{2} << 10, std::size_t{32} << 10})
    measure(run, {"nonblocking",
                  "Iallreduce_8_together",
                  bytes,
                  [&](bool ours) {
                    std::array<MPI_Request, together> open;
                    for (std::size_t i = 0; i < together; ++i)
                      begin(host, 'a', ours, in.begin + i * bytes, out.begin + i * bytes, static_cast<int>(bytes / 8),
                            &open[i]);
                    (ours ? MPI_Waitall : requests.waitall)(together, open.data(), MPI_STATUSES_IGNORE);
                  },
                  {{in.begin, together * bytes}, {out.begin, together * bytes}}});
  release(in);
  release(out);
}

}  // namespace turns
