// Calls that benchmarks leave out and programs make: ops and types of the user, in place, blocks of unequal length,
// nonblocking and persistent calls, small communicators, and the local calls around them. Each of a few sizes.
#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "rare.h"
#include "tools/bench/turns/host_requests.h"

namespace turns {
namespace {

void add_halves(void* in, void* inout, int* length, MPI_Datatype*) {
  const double* from = static_cast<double*>(in);
  double* into = static_cast<double*>(inout);
  for (int i = 0; i < *length; ++i) into[i] += 0.5 * from[i];
}

void add_pairs(void* in, void* inout, int* length, MPI_Datatype* type) {
  int twice = 2 * *length;
  add_halves(in, inout, &twice, type);
}

struct Rare {
  const Run& run;
  Memory in, out;
  std::size_t bytes = 0;

  void point(const std::string& name, const std::function<void(bool ours)>& call) const {
    measure(run, {"rare", name, bytes, call, {}});
  }
  int doubles() const { return static_cast<int>(bytes / sizeof(double)); }
};

const MPI_Comm world = MPI_COMM_WORLD;

void reductions(const Rare& rare, MPI_Op commutes, MPI_Op ordered, MPI_Op pairs, MPI_Datatype pair) {
  const int n = rare.doubles();
  void *in = rare.in.begin, *out = rare.out.begin;
  const auto allreduce = [&](const std::string& name, const void* from, int count, MPI_Datatype type, MPI_Op op) {
    rare.point("Allreduce_" + name,
               [=](bool ours) { (ours ? MPI_Allreduce : PMPI_Allreduce)(from, out, count, type, op, world); });
  };
  allreduce("user_op", in, n, MPI_DOUBLE, commutes);
  allreduce("ordered_op", in, n, MPI_DOUBLE, ordered);
  allreduce("in_place", MPI_IN_PLACE, n, MPI_DOUBLE, MPI_MAX);
  if (n >= 2) {
    allreduce("user_type", in, n / 2, pair, pairs);
    allreduce("complex", in, n / 2, MPI_C_DOUBLE_COMPLEX, MPI_PROD);
    allreduce("minloc", in, n / 2, MPI_DOUBLE_INT, MPI_MINLOC);
    allreduce("long_double", in, n / 2, MPI_LONG_DOUBLE, MPI_SUM);
  }
  allreduce("lor_bool", in, 8 * n, MPI_C_BOOL, MPI_LOR);
  allreduce("band_byte", in, 8 * n, MPI_BYTE, MPI_BAND);
  allreduce("integer", in, 2 * n, MPI_INTEGER, MPI_SUM);
  rare.point("Reduce_user_op",
             [=](bool ours) { (ours ? MPI_Reduce : PMPI_Reduce)(in, out, n, MPI_DOUBLE, commutes, 0, world); });
  rare.point("Scan_user_op", [=](bool ours) { (ours ? MPI_Scan : PMPI_Scan)(in, out, n, MPI_DOUBLE, ordered, world); });
  rare.point("Reduce_scatter_block_user_op", [=, ranks = rare.run.ranks](bool ours) {
    (ours ? MPI_Reduce_scatter_block : PMPI_Reduce_scatter_block)(in, out, n / ranks, MPI_DOUBLE, commutes, world);
  });
}

void blocks(const Rare& rare) {
  const int n = rare.doubles(), ranks = rare.run.ranks;
  void *in = rare.in.begin, *out = rare.out.begin;
  std::vector<int> counts(static_cast<std::size_t>(ranks), n), starts(counts.size()), zeros(counts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = static_cast<int>(i) * n;
  std::vector<int> byte_starts(starts);
  for (int& start : byte_starts) start *= 8;
  const std::vector<MPI_Datatype> types(counts.size(), MPI_DOUBLE);
  rare.point("Gatherv", [&](bool ours) {
    (ours ? MPI_Gatherv : PMPI_Gatherv)(in, n, MPI_DOUBLE, out, counts.data(), starts.data(), MPI_DOUBLE, 0, world);
  });
  rare.point("Scatterv", [&](bool ours) {
    (ours ? MPI_Scatterv : PMPI_Scatterv)(in, counts.data(), starts.data(), MPI_DOUBLE, out, n, MPI_DOUBLE, 0, world);
  });
  rare.point("Allgatherv", [&](bool ours) {
    (ours ? MPI_Allgatherv : PMPI_Allgatherv)(in, n, MPI_DOUBLE, out, counts.data(), starts.data(), MPI_DOUBLE, world);
  });
  rare.point("Allgather_in_place", [&](bool ours) {
    (ours ? MPI_Allgather : PMPI_Allgather)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_DOUBLE, world);
  });
  rare.point("Alltoallv", [&](bool ours) {
    (ours ? MPI_Alltoallv : PMPI_Alltoallv)(in, counts.data(), starts.data(), MPI_DOUBLE, out, counts.data(),
                                            starts.data(), MPI_DOUBLE, world);
  });
  rare.point("Alltoallw", [&](bool ours) {
    (ours ? MPI_Alltoallw : PMPI_Alltoallw)(in, counts.data(), byte_starts.data(), types.data(), out, counts.data(),
                                            byte_starts.data(), types.data(), world);
  });
  rare.point("Alltoallv_nothing", [&](bool ours) {
    (ours ? MPI_Alltoallv : PMPI_Alltoallv)(in, zeros.data(), starts.data(), MPI_DOUBLE, out, zeros.data(),
                                            starts.data(), MPI_DOUBLE, world);
  });
  MPI_Datatype strided;
  MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &strided);
  MPI_Type_commit(&strided);
  rare.point("Bcast_strided", [&](bool ours) { (ours ? MPI_Bcast : PMPI_Bcast)(out, 1, strided, 0, world); });
  rare.point("Allgather_strided",
             [&](bool ours) { (ours ? MPI_Allgather : PMPI_Allgather)(in, 1, strided, out, n, MPI_DOUBLE, world); });
  MPI_Type_free(&strided);
}

void nonblocking(const Rare& rare) {
  const int n = rare.doubles();
  void *in = rare.in.begin, *out = rare.out.begin;
  const auto wait = [](bool ours, MPI_Request* request) {
    (ours ? MPI_Wait : host_requests().wait)(request, MPI_STATUS_IGNORE);
  };
  rare.point("Iallreduce", [=](bool ours) {
    MPI_Request request;
    (ours ? MPI_Iallreduce : PMPI_Iallreduce)(in, out, n, MPI_DOUBLE, MPI_SUM, world, &request);
    wait(ours, &request);
  });
  rare.point("Ibcast", [=](bool ours) {
    MPI_Request request;
    (ours ? MPI_Ibcast : PMPI_Ibcast)(out, n, MPI_DOUBLE, 0, world, &request);
    wait(ours, &request);
  });
  rare.point("Ialltoall", [=](bool ours) {
    MPI_Request request;
    (ours ? MPI_Ialltoall : PMPI_Ialltoall)(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, world, &request);
    wait(ours, &request);
  });
  const int other = rare.run.rank ^ 1;
  if (rare.run.ranks % 2 != 0) return;
  rare.point("Isend_Irecv_Waitall", [=](bool ours) {
    std::array<MPI_Request, 2> requests;
    (ours ? MPI_Irecv : PMPI_Irecv)(out, n, MPI_DOUBLE, other, 3, world, &requests[0]);
    (ours ? MPI_Isend : PMPI_Isend)(in, n, MPI_DOUBLE, other, 3, world, &requests[1]);
    (ours ? MPI_Waitall : host_requests().waitall)(2, requests.data(), MPI_STATUSES_IGNORE);
  });
  rare.point("Sendrecv", [=](bool ours) {
    (ours ? MPI_Sendrecv : PMPI_Sendrecv)(in, n, MPI_DOUBLE, other, 4, out, n, MPI_DOUBLE, other, 4, world,
                                          MPI_STATUS_IGNORE);
  });
  // Persistent requests belong to the side that made them.
  std::array<std::array<MPI_Request, 2>, 2> kept;
  for (const bool ours : {false, true}) {
    (ours ? MPI_Recv_init : PMPI_Recv_init)(out, n, MPI_DOUBLE, other, 5 + ours, world, &kept[ours][0]);
    (ours ? MPI_Send_init : PMPI_Send_init)(in, n, MPI_DOUBLE, other, 5 + ours, world, &kept[ours][1]);
  }
  rare.point("Startall_Waitall", [&](bool ours) {
    (ours ? MPI_Startall : host_requests().startall)(2, kept[ours].data());
    (ours ? MPI_Waitall : host_requests().waitall)(2, kept[ours].data(), MPI_STATUSES_IGNORE);
  });
  for (const bool ours : {false, true})
    for (MPI_Request& request : kept[ours]) (ours ? MPI_Request_free : host_requests().request_free)(&request);
}

void neighbors(const Rare& rare) {
  const int n = rare.doubles(), periodic = 1;
  void *in = rare.in.begin, *out = rare.out.begin;
  MPI_Comm ring;
  MPI_Cart_create(world, 1, &rare.run.ranks, &periodic, 0, &ring);
  rare.point("Neighbor_alltoall", [=](bool ours) {
    (ours ? MPI_Neighbor_alltoall : PMPI_Neighbor_alltoall)(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, ring);
  });
  rare.point("Neighbor_allgather", [=](bool ours) {
    (ours ? MPI_Neighbor_allgather : PMPI_Neighbor_allgather)(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, ring);
  });
  MPI_Comm_free(&ring);
}

// Nothing but the call itself; `bytes` is 0.
void local(const Rare& rare) {
  char* buffer = rare.out.begin;
  const MPI_Comm self = MPI_COMM_SELF;
  rare.point("Allreduce_self", [=](bool ours) {
    (ours ? MPI_Allreduce : PMPI_Allreduce)(MPI_IN_PLACE, buffer, 8, MPI_DOUBLE, MPI_SUM, self);
  });
  rare.point("Bcast_nothing", [=](bool ours) { (ours ? MPI_Bcast : PMPI_Bcast)(buffer, 0, MPI_DOUBLE, 0, world); });
  rare.point("Ibarrier", [=](bool ours) {
    MPI_Request request;
    (ours ? MPI_Ibarrier : PMPI_Ibarrier)(world, &request);
    (ours ? MPI_Wait : host_requests().wait)(&request, MPI_STATUS_IGNORE);
  });
  rare.point("Wait_null", [](bool ours) {
    MPI_Request request = MPI_REQUEST_NULL;
    (ours ? MPI_Wait : host_requests().wait)(&request, MPI_STATUS_IGNORE);
  });
  rare.point("Testall_null", [](bool ours) {
    std::array<MPI_Request, 8> requests;
    requests.fill(MPI_REQUEST_NULL);
    int flag = 0;
    (ours ? MPI_Testall : host_requests().testall)(8, requests.data(), &flag, MPI_STATUSES_IGNORE);
  });
  rare.point("Iprobe", [](bool ours) {
    int flag = 0;
    (ours ? MPI_Iprobe : PMPI_Iprobe)(MPI_ANY_SOURCE, 77, world, &flag, MPI_STATUS_IGNORE);
  });
  rare.point("Comm_rank", [](bool ours) {
    int rank = 0;
    (ours ? MPI_Comm_rank : PMPI_Comm_rank)(world, &rank);
  });
  rare.point("Type_vector_commit_free", [](bool ours) {
    MPI_Datatype type;
    (ours ? MPI_Type_vector : PMPI_Type_vector)(4, 1, 3, MPI_DOUBLE, &type);
    (ours ? MPI_Type_commit : PMPI_Type_commit)(&type);
    (ours ? MPI_Type_free : PMPI_Type_free)(&type);
  });
  rare.point("Comm_dup_free", [](bool ours) {
    MPI_Comm comm;
    (ours ? MPI_Comm_dup : PMPI_Comm_dup)(world, &comm);
    (ours ? MPI_Comm_free : PMPI_Comm_free)(&comm);
  });
  rare.point("Comm_split_free", [rank = rare.run.rank](bool ours) {
    MPI_Comm comm;
    (ours ? MPI_Comm_split : PMPI_Comm_split)(world, rank, 0, &comm);
    (ours ? MPI_Comm_free : PMPI_Comm_free)(&comm);
  });
  rare.point("Pack_int", [=](bool ours) {
    int value = 1, position = 0;
    (ours ? MPI_Pack : PMPI_Pack)(&value, 1, MPI_INT, buffer, 64, &position, world);
  });
  rare.point("Pack_size", [](bool ours) {
    int size = 0;
    (ours ? MPI_Pack_size : PMPI_Pack_size)(3, MPI_DOUBLE, world, &size);
  });
}

}  // namespace

void rare(const Run& run) {
  constexpr std::size_t sizes[] = {16, 2 << 10, 256 << 10};
  Rare rare{run, buffer(2 * sizes[2] * static_cast<std::size_t>(run.ranks)),
            buffer(2 * sizes[2] * static_cast<std::size_t>(run.ranks))};
  MPI_Op commutes, ordered, pairs;
  MPI_Op_create(add_halves, 1, &commutes);
  MPI_Op_create(add_halves, 0, &ordered);
  MPI_Op_create(add_pairs, 1, &pairs);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  local(rare);
  for (const std::size_t bytes : sizes) {
    rare.bytes = bytes;
    reductions(rare, commutes, ordered, pairs, pair);
    blocks(rare);
    nonblocking(rare);
    neighbors(rare);
  }
  MPI_Type_free(&pair);
  for (MPI_Op* op : {&commutes, &ordered, &pairs}) MPI_Op_free(op);
}

}  // namespace turns
