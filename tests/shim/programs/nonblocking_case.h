// The calls of exchange_case.h in their nonblocking and persistent forms, with int and with MPI_Count.
#pragma once

#include "exchange_case.h"

#if MPI_VERSION >= 4
#define HAS_LARGE_COUNTS 1
#endif
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

enum class Form { nonblocking, nonblocking_large, persistent, persistent_large };

inline std::vector<Form> forms_of_host() {
  std::vector<Form> forms{Form::nonblocking};
  // By themselves, MPICH 4.0 hangs there, and Intel MPI loses datatypes and crashes or receives into wrong places.
  [[maybe_unused]] const bool persistent_works = !is_mpich_4 && !is_intel;
#ifdef HAS_LARGE_COUNTS
  forms.push_back(Form::nonblocking_large);
  if (persistent_works) forms.push_back(Form::persistent_large);
#endif
#ifdef HAS_PERSISTENT
  if (persistent_works) forms.push_back(Form::persistent);
#endif
  return forms;
}

// The arguments of a case as the calls take them; they live until the request has completed. What is not significant on
// this rank is what no call may read.
struct Arguments {
  explicit Arguments(Case& one);

  void *sent, *received;
  std::vector<int> send_counts, receive_counts, send_places, receive_places;
  std::vector<MPI_Count> send_large, receive_large;
  std::vector<MPI_Aint> send_wide, receive_wide;
  std::vector<MPI_Datatype> send_types, receive_types;  // one, or one a block
  int root;
  MPI_Comm comm;
};

inline Arguments::Arguments(Case& one)
    : sent(one.from.ours()), received(one.to.ours()), root(one.root), comm(one.comm->handle) {
  const auto fill = [&](const Side& side, bool significant, std::vector<int>& counts, std::vector<MPI_Count>& large,
                        std::vector<int>& places, std::vector<MPI_Aint>& wide, std::vector<MPI_Datatype>& types) {
    types.push_back(MPI_DATATYPE_NULL);
    counts.push_back(-7), large.push_back(-7);
    if (!significant) return;
    counts = side.counts, places = side.displacements;
    large.assign(counts.begin(), counts.end());
    if (one.w)
      wide = side.wide;
    else
      wide.assign(places.begin(), places.end());
    if (one.w)
      types = side.handles;
    else if (!side.types.empty())
      types[0] = side.types[0].handle;
  };
  const bool is_root = one.rank == one.root;
  fill(one.from, !one.scatters || is_root, send_counts, send_large, send_places, send_wide, send_types);
  fill(one.to, !one.gathers || is_root, receive_counts, receive_large, receive_places, receive_wide, receive_types);
  if (one.scatters && !is_root) sent = nullptr;
  if (one.gathers && !is_root) received = nullptr;
  if (!one.in_place) return;
  if (one.scatters) {
    if (is_root) received = MPI_IN_PLACE;
  } else if (!one.gathers || is_root) {
    sent = MPI_IN_PLACE;
  }
}

// As MPI_, or as PMPI_, which Millrace does not see.
template <class Function, class... Values>
int pick(bool ours, Function* seen, Function* unseen, Values... values) {
  return (ours ? seen : unseen)(values...);
}

inline int begin_nonblocking(const Case& one, Arguments& a, bool ours, MPI_Request* request) {
  const int sc = a.send_counts[0], rc = a.receive_counts[0];
  const int *scs = a.send_counts.data(), *rcs = a.receive_counts.data();
  const int *sd = a.send_places.data(), *rd = a.receive_places.data();
  const MPI_Datatype st = a.send_types[0], rt = a.receive_types[0];
  const MPI_Datatype *sts = a.send_types.data(), *rts = a.receive_types.data();
  void *s = a.sent, *r = a.received;
  const MPI_Comm c = a.comm;
  const std::string& n = one.name;
  if (n == "Bcast") return pick(ours, MPI_Ibcast, PMPI_Ibcast, r, rc, rt, a.root, c, request);
  if (n == "Gather") return pick(ours, MPI_Igather, PMPI_Igather, s, sc, st, r, rc, rt, a.root, c, request);
  if (n == "Gatherv") return pick(ours, MPI_Igatherv, PMPI_Igatherv, s, sc, st, r, rcs, rd, rt, a.root, c, request);
  if (n == "Scatter") return pick(ours, MPI_Iscatter, PMPI_Iscatter, s, sc, st, r, rc, rt, a.root, c, request);
  if (n == "Scatterv") return pick(ours, MPI_Iscatterv, PMPI_Iscatterv, s, scs, sd, st, r, rc, rt, a.root, c, request);
  if (n == "Allgather") return pick(ours, MPI_Iallgather, PMPI_Iallgather, s, sc, st, r, rc, rt, c, request);
  if (n == "Allgatherv") return pick(ours, MPI_Iallgatherv, PMPI_Iallgatherv, s, sc, st, r, rcs, rd, rt, c, request);
  if (n == "Alltoall") return pick(ours, MPI_Ialltoall, PMPI_Ialltoall, s, sc, st, r, rc, rt, c, request);
  if (n == "Alltoallv") return pick(ours, MPI_Ialltoallv, PMPI_Ialltoallv, s, scs, sd, st, r, rcs, rd, rt, c, request);
  if (n == "Alltoallw")
    return pick(ours, MPI_Ialltoallw, PMPI_Ialltoallw, s, scs, sd, sts, r, rcs, rd, rts, c, request);
  if (n == "Neighbor_allgather")
    return pick(ours, MPI_Ineighbor_allgather, PMPI_Ineighbor_allgather, s, sc, st, r, rc, rt, c, request);
  if (n == "Neighbor_allgatherv")
    return pick(ours, MPI_Ineighbor_allgatherv, PMPI_Ineighbor_allgatherv, s, sc, st, r, rcs, rd, rt, c, request);
  if (n == "Neighbor_alltoall")
    return pick(ours, MPI_Ineighbor_alltoall, PMPI_Ineighbor_alltoall, s, sc, st, r, rc, rt, c, request);
  if (n == "Neighbor_alltoallv")
    return pick(ours, MPI_Ineighbor_alltoallv, PMPI_Ineighbor_alltoallv, s, scs, sd, st, r, rcs, rd, rt, c, request);
  const MPI_Aint *sw = a.send_wide.data(), *rw = a.receive_wide.data();
  return pick(ours, MPI_Ineighbor_alltoallw, PMPI_Ineighbor_alltoallw, s, scs, sw, sts, r, rcs, rw, rts, c, request);
}

#ifdef HAS_LARGE_COUNTS
inline int begin_nonblocking_large(const Case& one, Arguments& a, bool ours, MPI_Request* request) {
  const MPI_Count sc = a.send_large[0], rc = a.receive_large[0];
  const MPI_Count *scs = a.send_large.data(), *rcs = a.receive_large.data();
  const MPI_Aint *sd = a.send_wide.data(), *rd = a.receive_wide.data();
  const MPI_Datatype st = a.send_types[0], rt = a.receive_types[0];
  const MPI_Datatype *sts = a.send_types.data(), *rts = a.receive_types.data();
  void *s = a.sent, *r = a.received;
  const MPI_Comm c = a.comm;
  const std::string& n = one.name;
  if (n == "Bcast") return pick(ours, MPI_Ibcast_c, PMPI_Ibcast_c, r, rc, rt, a.root, c, request);
  if (n == "Gather") return pick(ours, MPI_Igather_c, PMPI_Igather_c, s, sc, st, r, rc, rt, a.root, c, request);
  if (n == "Gatherv") return pick(ours, MPI_Igatherv_c, PMPI_Igatherv_c, s, sc, st, r, rcs, rd, rt, a.root, c, request);
  if (n == "Scatter") return pick(ours, MPI_Iscatter_c, PMPI_Iscatter_c, s, sc, st, r, rc, rt, a.root, c, request);
  if (n == "Scatterv")
    return pick(ours, MPI_Iscatterv_c, PMPI_Iscatterv_c, s, scs, sd, st, r, rc, rt, a.root, c, request);
  if (n == "Allgather") return pick(ours, MPI_Iallgather_c, PMPI_Iallgather_c, s, sc, st, r, rc, rt, c, request);
  if (n == "Allgatherv")
    return pick(ours, MPI_Iallgatherv_c, PMPI_Iallgatherv_c, s, sc, st, r, rcs, rd, rt, c, request);
  if (n == "Alltoall") return pick(ours, MPI_Ialltoall_c, PMPI_Ialltoall_c, s, sc, st, r, rc, rt, c, request);
  if (n == "Alltoallv")
    return pick(ours, MPI_Ialltoallv_c, PMPI_Ialltoallv_c, s, scs, sd, st, r, rcs, rd, rt, c, request);
  if (n == "Alltoallw")
    return pick(ours, MPI_Ialltoallw_c, PMPI_Ialltoallw_c, s, scs, sd, sts, r, rcs, rd, rts, c, request);
  if (n == "Neighbor_allgather")
    return pick(ours, MPI_Ineighbor_allgather_c, PMPI_Ineighbor_allgather_c, s, sc, st, r, rc, rt, c, request);
  if (n == "Neighbor_allgatherv")
    return pick(ours, MPI_Ineighbor_allgatherv_c, PMPI_Ineighbor_allgatherv_c, s, sc, st, r, rcs, rd, rt, c, request);
  if (n == "Neighbor_alltoall")
    return pick(ours, MPI_Ineighbor_alltoall_c, PMPI_Ineighbor_alltoall_c, s, sc, st, r, rc, rt, c, request);
  if (n == "Neighbor_alltoallv")
    return pick(ours, MPI_Ineighbor_alltoallv_c, PMPI_Ineighbor_alltoallv_c, s, scs, sd, st, r, rcs, rd, rt, c,
                request);
  return pick(ours, MPI_Ineighbor_alltoallw_c, PMPI_Ineighbor_alltoallw_c, s, scs, sd, sts, r, rcs, rd, rts, c,
              request);
}

inline int begin_persistent_large(const Case& one, Arguments& a, bool ours, MPI_Request* request) {
  const MPI_Count sc = a.send_large[0], rc = a.receive_large[0];
  const MPI_Count *scs = a.send_large.data(), *rcs = a.receive_large.data();
  const MPI_Aint *sd = a.send_wide.data(), *rd = a.receive_wide.data();
  const MPI_Datatype st = a.send_types[0], rt = a.receive_types[0];
  const MPI_Datatype *sts = a.send_types.data(), *rts = a.receive_types.data();
  void *s = a.sent, *r = a.received;
  const MPI_Comm c = a.comm;
  const std::string& n = one.name;
  if (n == "Bcast")
    return pick(ours, MPI_Bcast_init_c, PMPI_Bcast_init_c, r, rc, rt, a.root, c, MPI_INFO_NULL, request);
  if (n == "Gather")
    return pick(ours, MPI_Gather_init_c, PMPI_Gather_init_c, s, sc, st, r, rc, rt, a.root, c, MPI_INFO_NULL, request);
  if (n == "Gatherv")
    return pick(ours, MPI_Gatherv_init_c, PMPI_Gatherv_init_c, s, sc, st, r, rcs, rd, rt, a.root, c, MPI_INFO_NULL,
                request);
  if (n == "Scatter")
    return pick(ours, MPI_Scatter_init_c, PMPI_Scatter_init_c, s, sc, st, r, rc, rt, a.root, c, MPI_INFO_NULL, request);
  if (n == "Scatterv")
    return pick(ours, MPI_Scatterv_init_c, PMPI_Scatterv_init_c, s, scs, sd, st, r, rc, rt, a.root, c, MPI_INFO_NULL,
                request);
  if (n == "Allgather")
    return pick(ours, MPI_Allgather_init_c, PMPI_Allgather_init_c, s, sc, st, r, rc, rt, c, MPI_INFO_NULL, request);
  if (n == "Allgatherv")
    return pick(ours, MPI_Allgatherv_init_c, PMPI_Allgatherv_init_c, s, sc, st, r, rcs, rd, rt, c, MPI_INFO_NULL,
                request);
  if (n == "Alltoall")
    return pick(ours, MPI_Alltoall_init_c, PMPI_Alltoall_init_c, s, sc, st, r, rc, rt, c, MPI_INFO_NULL, request);
  if (n == "Alltoallv")
    return pick(ours, MPI_Alltoallv_init_c, PMPI_Alltoallv_init_c, s, scs, sd, st, r, rcs, rd, rt, c, MPI_INFO_NULL,
                request);
  if (n == "Alltoallw")
    return pick(ours, MPI_Alltoallw_init_c, PMPI_Alltoallw_init_c, s, scs, sd, sts, r, rcs, rd, rts, c, MPI_INFO_NULL,
                request);
  if (n == "Neighbor_allgather")
    return pick(ours, MPI_Neighbor_allgather_init_c, PMPI_Neighbor_allgather_init_c, s, sc, st, r, rc, rt, c,
                MPI_INFO_NULL, request);
  if (n == "Neighbor_allgatherv")
    return pick(ours, MPI_Neighbor_allgatherv_init_c, PMPI_Neighbor_allgatherv_init_c, s, sc, st, r, rcs, rd, rt, c,
                MPI_INFO_NULL, request);
  if (n == "Neighbor_alltoall")
    return pick(ours, MPI_Neighbor_alltoall_init_c, PMPI_Neighbor_alltoall_init_c, s, sc, st, r, rc, rt, c,
                MPI_INFO_NULL, request);
  if (n == "Neighbor_alltoallv")
    return pick(ours, MPI_Neighbor_alltoallv_init_c, PMPI_Neighbor_alltoallv_init_c, s, scs, sd, st, r, rcs, rd, rt, c,
                MPI_INFO_NULL, request);
  return pick(ours, MPI_Neighbor_alltoallw_init_c, PMPI_Neighbor_alltoallw_init_c, s, scs, sd, sts, r, rcs, rd, rts, c,
              MPI_INFO_NULL, request);
}
#endif

#ifdef HAS_PERSISTENT
inline int begin_persistent(const Case& one, Arguments& a, bool ours, MPI_Request* request) {
  const int sc = a.send_counts[0], rc = a.receive_counts[0];
  const int *scs = a.send_counts.data(), *rcs = a.receive_counts.data();
  const int *sd = a.send_places.data(), *rd = a.receive_places.data();
  const MPI_Datatype st = a.send_types[0], rt = a.receive_types[0];
  const MPI_Datatype *sts = a.send_types.data(), *rts = a.receive_types.data();
  void *s = a.sent, *r = a.received;
  const MPI_Comm c = a.comm;
  const std::string& n = one.name;
  if (n == "Bcast") return pick(ours, MPI_Bcast_init, PMPI_Bcast_init, r, rc, rt, a.root, c, MPI_INFO_NULL, request);
  if (n == "Gather")
    return pick(ours, MPI_Gather_init, PMPI_Gather_init, s, sc, st, r, rc, rt, a.root, c, MPI_INFO_NULL, request);
  if (n == "Gatherv")
    return pick(ours, MPI_Gatherv_init, PMPI_Gatherv_init, s, sc, st, r, rcs, rd, rt, a.root, c, MPI_INFO_NULL,
                request);
  if (n == "Scatter")
    return pick(ours, MPI_Scatter_init, PMPI_Scatter_init, s, sc, st, r, rc, rt, a.root, c, MPI_INFO_NULL, request);
  if (n == "Scatterv")
    return pick(ours, MPI_Scatterv_init, PMPI_Scatterv_init, s, scs, sd, st, r, rc, rt, a.root, c, MPI_INFO_NULL,
                request);
  if (n == "Allgather")
    return pick(ours, MPI_Allgather_init, PMPI_Allgather_init, s, sc, st, r, rc, rt, c, MPI_INFO_NULL, request);
  if (n == "Allgatherv")
    return pick(ours, MPI_Allgatherv_init, PMPI_Allgatherv_init, s, sc, st, r, rcs, rd, rt, c, MPI_INFO_NULL, request);
  if (n == "Alltoall")
    return pick(ours, MPI_Alltoall_init, PMPI_Alltoall_init, s, sc, st, r, rc, rt, c, MPI_INFO_NULL, request);
  if (n == "Alltoallv")
    return pick(ours, MPI_Alltoallv_init, PMPI_Alltoallv_init, s, scs, sd, st, r, rcs, rd, rt, c, MPI_INFO_NULL,
                request);
  if (n == "Alltoallw")
    return pick(ours, MPI_Alltoallw_init, PMPI_Alltoallw_init, s, scs, sd, sts, r, rcs, rd, rts, c, MPI_INFO_NULL,
                request);
  if (n == "Neighbor_allgather")
    return pick(ours, MPI_Neighbor_allgather_init, PMPI_Neighbor_allgather_init, s, sc, st, r, rc, rt, c, MPI_INFO_NULL,
                request);
  if (n == "Neighbor_allgatherv")
    return pick(ours, MPI_Neighbor_allgatherv_init, PMPI_Neighbor_allgatherv_init, s, sc, st, r, rcs, rd, rt, c,
                MPI_INFO_NULL, request);
  if (n == "Neighbor_alltoall")
    return pick(ours, MPI_Neighbor_alltoall_init, PMPI_Neighbor_alltoall_init, s, sc, st, r, rc, rt, c, MPI_INFO_NULL,
                request);
  if (n == "Neighbor_alltoallv")
    return pick(ours, MPI_Neighbor_alltoallv_init, PMPI_Neighbor_alltoallv_init, s, scs, sd, st, r, rcs, rd, rt, c,
                MPI_INFO_NULL, request);
  const MPI_Aint *sw = a.send_wide.data(), *rw = a.receive_wide.data();
  return pick(ours, MPI_Neighbor_alltoallw_init, PMPI_Neighbor_alltoallw_init, s, scs, sw, sts, r, rcs, rw, rts, c,
              MPI_INFO_NULL, request);
}
#endif

// Begins the call, or makes its persistent request.
inline int begin(const Case& one, Arguments& arguments, Form form, bool ours, MPI_Request* request) {
  switch (form) {
#ifdef HAS_LARGE_COUNTS
    case Form::nonblocking_large: return begin_nonblocking_large(one, arguments, ours, request);
    case Form::persistent_large: return begin_persistent_large(one, arguments, ours, request);
#endif
#ifdef HAS_PERSISTENT
    case Form::persistent: return begin_persistent(one, arguments, ours, request);
#endif
    default: return begin_nonblocking(one, arguments, ours, request);
  }
}
