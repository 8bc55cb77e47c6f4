// Persistent collectives, each started and waited for, and the nonblocking one of neighbours, on a line of all ranks.
// Each side has requests of its own.
#include <mpi.h>

#include <functional>
#include <string>

#include "rare.h"
#include "tools/bench/turns/host_requests.h"

namespace turns {
namespace {

using Prepare = std::function<void(bool ours, MPI_Request* request)>;

struct Buffers {
  Memory in, out;
};

void started(const Run& run, const std::string& name, std::size_t bytes, const Prepare& prepare) {
  const HostRequests& host = host_requests();
  MPI_Request requests[2];
  for (const bool ours : {false, true}) prepare(ours, &requests[ours]);
  measure(run, {"persistent",
                name,
                bytes,
                [&](bool ours) {
                  (ours ? MPI_Start : host.start)(&requests[ours]);
                  (ours ? MPI_Wait : host.wait)(&requests[ours], MPI_STATUS_IGNORE);
                },
                {}});
  for (const bool ours : {false, true}) (ours ? MPI_Request_free : host.request_free)(&requests[ours]);
}

void neighbors(const Run& run, const Buffers& buffers, MPI_Comm line, std::size_t bytes) {
  const int n = static_cast<int>(bytes / sizeof(double));
  measure(run, {"persistent",
                "Ineighbor_alltoall",
                bytes,
                [&](bool ours) {
                  MPI_Request request;
                  (ours ? MPI_Ineighbor_alltoall : PMPI_Ineighbor_alltoall)(
                      buffers.in.begin, n, MPI_DOUBLE, buffers.out.begin, n, MPI_DOUBLE, line, &request);
                  (ours ? MPI_Wait : host_requests().wait)(&request, MPI_STATUS_IGNORE);
                },
                {}});
}

// Whether the host's starts of an Allgather bring what is there by then: those of MPICH 4.0 and Intel MPI bring what
// was there at the first one (docs/hosts.md), which is nothing to compare with. The same on all ranks.
bool are_new(const Run& run, const Buffers& buffers, std::size_t bytes, const Prepare& prepare) {
  MPI_Request request;
  prepare(false, &request);
  auto* const in = reinterpret_cast<double*>(buffers.in.begin);
  const auto* const out = reinterpret_cast<const double*>(buffers.out.begin);
  int is_new = 1, all_new = 1;
  for (int start = 1; start <= 3; ++start) {
    in[0] = start;
    host_requests().start(&request);
    host_requests().wait(&request, MPI_STATUS_IGNORE);
    for (int rank = 0; rank < run.ranks; ++rank)
      if (out[static_cast<std::size_t>(rank) * (bytes / sizeof(double))] != start) is_new = 0;
  }
  host_requests().request_free(&request);
  PMPI_Allreduce(&is_new, &all_new, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_new != 0;
}

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
void collectives_of(const Run& run, const Buffers& buffers, std::size_t bytes) {
  const int n = static_cast<int>(bytes / sizeof(double));
  void *in = buffers.in.begin, *out = buffers.out.begin;
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Info info = MPI_INFO_NULL;
  started(run, "Allreduce_init", bytes, [=](bool ours, MPI_Request* request) {
    (ours ? MPI_Allreduce_init : PMPI_Allreduce_init)(in, out, n, MPI_DOUBLE, MPI_SUM, world, info, request);
  });
  started(run, "Bcast_init", bytes, [=](bool ours, MPI_Request* request) {
    (ours ? MPI_Bcast_init : PMPI_Bcast_init)(out, n, MPI_DOUBLE, 0, world, info, request);
  });
  const Prepare allgather = [=](bool ours, MPI_Request* request) {
    (ours ? MPI_Allgather_init : PMPI_Allgather_init)(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, world, info, request);
  };
  if (are_new(run, buffers, bytes, allgather)) started(run, "Allgather_init", bytes, allgather);
  started(run, "Alltoall_init", bytes, [=](bool ours, MPI_Request* request) {
    (ours ? MPI_Alltoall_init : PMPI_Alltoall_init)(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, world, info, request);
  });
}
#else
void collectives_of(const Run&, const Buffers&, std::size_t) {}
#endif

}  // namespace

void persistent(const Run& run) {
  constexpr std::size_t sizes[] = {8, 64, 256, 512, 2 << 10, 32 << 10, 256 << 10, 1 << 20};
  const std::size_t most = std::end(sizes)[-1] * static_cast<std::size_t>(run.ranks);
  const Buffers buffers{buffer(most), buffer(most)};
  const int open = 0;
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &run.ranks, &open, 0, &line);
  for (const std::size_t bytes : sizes) {
    collectives_of(run, buffers, bytes);
    neighbors(run, buffers, line, bytes);
  }
  MPI_Comm_free(&line);
  release(buffers.in);
  release(buffers.out);
}

}  // namespace turns
