// Calls of collectives that reduce nothing, drawn at random from a seed that every rank knows: communicators of several
// shapes and topologies, sizes, layouts, roots. Every call can be made twice, into two copies of its buffers.
#pragma once

#include <cstdio>
#include <string>

#include "complaints.h"
#include "exchange_layouts.h"

inline int world_rank, world_ranks, mistakes = 0;
inline int most_block_bytes = 1 << 17;
inline bool is_mpich_4 = false, is_openmpi = false, is_openmpi_4 = false, is_intel = false;
inline std::uint64_t seed = 1;

// Whose own mistakes must be kept clear of.
inline void know_host() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  const std::string text = version;
  is_mpich_4 = text.starts_with("MPICH Version:\t4.0");
  is_openmpi = text.starts_with("Open MPI");
  is_openmpi_4 = text.starts_with("Open MPI v4");
  is_intel = text.starts_with("Intel");
}

// ---- communicators ----

struct Comm {
  MPI_Comm handle;
  std::string name;
  std::vector<int> sources, destinations;  // of a topology
};
inline std::vector<Comm> comms;

inline void add(MPI_Comm handle, const char* name) {
  Comm made{handle, name, {}, {}};
  if (handle == MPI_COMM_NULL) {  // on ranks that are not in it
    comms.push_back(made);
    return;
  }
  int topology, rank;
  MPI_Topo_test(handle, &topology);
  MPI_Comm_rank(handle, &rank);
  if (topology == MPI_CART) {
    int dimensions;
    MPI_Cartdim_get(handle, &dimensions);
    for (int d = 0; d < dimensions; ++d) {
      int below, above;
      MPI_Cart_shift(handle, d, 1, &below, &above);
      made.sources.push_back(below), made.sources.push_back(above);
    }
    made.destinations = made.sources;
  } else if (topology == MPI_GRAPH) {
    int count;
    MPI_Graph_neighbors_count(handle, rank, &count);
    made.sources.resize(static_cast<std::size_t>(count));
    MPI_Graph_neighbors(handle, rank, count, made.sources.data());
    made.destinations = made.sources;
  } else if (topology == MPI_DIST_GRAPH) {
    int in, out, weighted;
    MPI_Dist_graph_neighbors_count(handle, &in, &out, &weighted);
    made.sources.resize(static_cast<std::size_t>(in)), made.destinations.resize(static_cast<std::size_t>(out));
    std::vector<int> weights(static_cast<std::size_t>(in + out + 1));
    MPI_Dist_graph_neighbors(handle, in, made.sources.data(), weights.data(), out, made.destinations.data(),
                             weights.data());
  }
  comms.push_back(made);
  for (int i = 0; i < 8; ++i) MPI_Barrier(handle);
}

inline void add_cartesian(std::vector<int> dims, std::vector<int> periods, const char* name) {
  MPI_Comm made;
  MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(dims.size()), dims.data(), periods.data(), 0, &made);
  add(made, name);
}

inline void make_communicators() {
  const int n = world_ranks;
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made), add(made, "world");
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &made), add(made, "half");
  MPI_Comm_dup(MPI_COMM_SELF, &made), add(made, "self");
  add_cartesian({n}, {1}, "ring");
  add_cartesian({n}, {0}, "line");
  add_cartesian({1, n}, {1, 1}, "torus of 1 row");
  add_cartesian({1, 1, n}, {1, 0, 1}, "torus of 1 by 1");
  if (n >= 2) add_cartesian({2, n / 2}, {1, 1}, "torus of 2 rows");
  if (n >= 2) add_cartesian({2, 1, n / 2}, {1, 1, 0}, "torus of 2 by 1");
  if (n >= 4) add_cartesian({2, 2}, {1, 1}, "torus of 2 by 2");
  if (n >= 2) add_cartesian({2, n / 2}, {0, 0}, "grid of 2 rows");
  {  // a ring, and everybody also with rank 0
    std::vector<int> index, edges;
    for (int i = 0; i < n; ++i) {
      if (n > 1) edges.push_back((i + 1) % n), edges.push_back((i + n - 1) % n);
      for (int k = 1; i == 0 && k < n; ++k) edges.push_back(k);
      if (i != 0) edges.push_back(0);
      index.push_back(static_cast<int>(edges.size()));
    }
    edges.push_back(0);
    MPI_Graph_create(MPI_COMM_WORLD, n, index.data(), edges.data(), 0, &made), add(made, "graph");
  }
  for (int turn = 0; turn < 4; ++turn) {  // edges between any two, and to oneself; in the first two turns several
    Random random(seed * 31 + static_cast<std::uint64_t>(turn));
    std::vector<int> sources, destinations;
    for (int from = 0; from < n; ++from)
      for (int to = 0; to < n; ++to)
        for (int edges = random.below(turn < 2 ? 3 : 2); edges > 0; --edges) {
          if (from == world_rank) destinations.push_back(to);
          if (to == world_rank) sources.push_back(from);
        }
    if (turn % 2 == 1) std::reverse(sources.begin(), sources.end());
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                                   static_cast<int>(destinations.size()), destinations.data(), MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &made);
    add(made, "distributed graph");
  }
}

// ---- the calls ----

inline const std::vector<std::string> names = {"Gather",
                                               "Gatherv",
                                               "Scatter",
                                               "Scatterv",
                                               "Allgather",
                                               "Allgatherv",
                                               "Alltoall",
                                               "Alltoallv",
                                               "Alltoallw",
                                               "Neighbor_allgather",
                                               "Neighbor_allgatherv",
                                               "Neighbor_alltoall",
                                               "Neighbor_alltoallv",
                                               "Neighbor_alltoallw"};

// Ints from one rank to another, known to all.
struct Sizes {
  std::uint64_t key;
  int unit;
  bool regular;
  int largest;
  int operator()(int from, int to) const {
    Random random(key + (regular ? 0 : static_cast<std::uint64_t>(from * 1000 + to + 1)));
    const int few = random.below(20);
    const int elements = random.one_in(4) ? few : random.one_in(8) ? 0 : random.below(largest / unit / 4 + 1);
    return unit * elements;
  }
};

// The arguments of one call on this rank. `name` is that of the blocking call.
struct Case {
  Case(const std::string& of, const Comm& on, int number);
  ~Case() { free_types(from), free_types(to); }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  // The host by itself gets it wrong.
  bool avoided() const {
    // Open MPI's own takes displacements for multiples of extents there.
    if (name == "Alltoallw" && ranks == 1) return true;
    // MPICH 4.0's own writes behind what is sent.
    if (name == "Allgatherv" && ranks == 1 && is_mpich_4) return true;
    // MPICH 4.0's own reads past its arguments where a rank has more destinations than sources.
    return name == "Neighbor_alltoallw" && comm->name == "distributed graph" && is_mpich_4;
  }
  int blocking(bool ours);  // as MPI_, or as PMPI_ in the other copy
  void compare() const;     // of the two copies

  std::string name;
  const Comm* comm;
  int call, rank = 0, ranks = 0, root = 0, unit = 1;
  bool neighbor, v, w, gathers, scatters, in_place = false;
  Side from, to;

 private:
  void compare(const char* what, const Side& side) const;
};

inline void Case::compare(const char* what, const Side& side) const {
  if (side.memory == side.again || mistakes++ >= most_complaints()) return;
  std::size_t first = 0;
  while (side.memory[first] == side.again[first]) ++first;
  std::printf("rank %d: %s%s on %s, call %d, root %d: %s differ from byte %td of %zu (unit %d)\n", world_rank,
              name.c_str(), in_place ? " in place" : "", comm->name.c_str(), call, root, what,
              static_cast<std::ptrdiff_t>(first) - side.origin, side.memory.size(), unit);
}

inline void Case::compare() const {
  compare("what was received", to);
  compare("what was sent", from);
}

inline Case::Case(const std::string& of, const Comm& on, int number)
    : name(of),
      comm(&on),
      call(number),
      neighbor(name.starts_with("Neighbor")),
      v(name.ends_with("v")),
      w(name.ends_with("w")),
      gathers(name.starts_with("Gather")),
      scatters(name.starts_with("Scatter")) {
  const std::uint64_t key = mix(seed * 1000003 + static_cast<std::uint64_t>(call));
  Random common(key);
  MPI_Comm_rank(comm->handle, &rank);
  MPI_Comm_size(comm->handle, &ranks);
  Random own(key ^ mix(static_cast<std::uint64_t>(world_rank) + 77));

  static const int units[] = {1, 1, 2, 3, 4, 6};
  root = common.below(ranks);
  in_place = common.one_in(4) && !neighbor && name != "Bcast";
  static const int largest[] = {64, 1024, 20000, 0};
  int most = largest[common.below(4)];
  if (most == 0 || most > most_block_bytes) most = most_block_bytes;
  unit = units[common.below(6)];
  const Sizes sizes{key, unit, !v && !w, most};
  // Of MPI_Allgatherv a rank's block has one size for all.
  const bool same_for_all = name.find("gather") != std::string::npos || name.find("Gather") != std::string::npos;
  // In place, what a rank sends to another is what it receives from it.
  const bool symmetric = in_place && name.starts_with("Alltoall");
  const auto ints = [&](int from, int to) {
    return symmetric ? sizes(std::min(from, to), std::max(from, to)) : sizes(from, same_for_all ? 0 : to);
  };

  std::vector<int> out, in;
  const Blocks many = w ? Blocks::own_types : v ? Blocks::array : Blocks::each;
  Blocks send = many, receive = many;
  if (name == "Bcast") {
    in.push_back(ints(root, 0));
  } else if (gathers || scatters) {
    if (gathers)
      send = Blocks::one;
    else
      receive = Blocks::one;
    (gathers ? out : in).push_back(gathers ? ints(rank, root) : ints(root, rank));
    if (rank == root)
      for (int i = 0; i < ranks; ++i) (gathers ? in : out).push_back(gathers ? ints(i, root) : ints(root, i));
  } else {
    const auto size_of = [&](int from, int to) {
      return from == MPI_PROC_NULL || to == MPI_PROC_NULL ? ints(0, 0) : ints(from, to);
    };
    std::vector<int> sources = comm->sources, destinations = comm->destinations;
    if (!neighbor) {
      sources.resize(static_cast<std::size_t>(ranks));
      std::iota(sources.begin(), sources.end(), 0);
      destinations = sources;
    }
    for (const int source : sources) in.push_back(size_of(source, rank));
    if (same_for_all)
      send = Blocks::one, out.push_back(ints(rank, 0));
    else
      for (const int destination : destinations) out.push_back(size_of(rank, destination));
  }
  // Open MPI's own chooses an algorithm by the size of the one type and the counts of the other, and cuts broadcasts by
  // both.
  const bool whole = name == "Allgatherv" || name == "Bcast";
  from = make_side(own, send, out, unit, whole, key ^ mix(static_cast<std::uint64_t>(rank)));
  // MPICH and its relatives by themselves want receive types of one extent there.
  Random& to_draw = name == "Allgatherv" && !is_openmpi ? common : own;
  to = make_side(to_draw, receive, in, unit, whole, key ^ mix(static_cast<std::uint64_t>(rank) + 100));
  // A rank without neighbours gives the count of all the same.
  if (neighbor && !v && !w && in.empty()) to.counts[0] = ints(0, 0) / to.types[0].units;
  if (neighbor && !v && !w && out.empty()) from.counts[0] = ints(0, 0) / from.types[0].units;
}

inline int Case::blocking(bool ours) {
  // What is not significant is not to be read.
  const int bad = -7;
  void* sent = ours ? from.ours() : from.hosts();
  void* received = ours ? to.ours() : to.hosts();
  const int *sc = from.counts.data(), *sd = from.displacements.data(), *rc = to.counts.data(),
            *rd = to.displacements.data();
  const MPI_Datatype st = from.types.empty() ? MPI_INT : from.types[0].handle;
  const MPI_Datatype rt = to.types.empty() ? MPI_INT : to.types[0].handle;
  const MPI_Comm c = comm->handle;
  if (name == "Bcast") return ours ? MPI_Bcast(received, rc[0], rt, root, c) : PMPI_Bcast(received, rc[0], rt, root, c);
  if (gathers) {
    if (in_place && rank == root) sent = MPI_IN_PLACE;
    if (rank != root) {
      received = nullptr;
      if (v)
        return ours ? MPI_Gatherv(sent, sc[0], st, received, nullptr, nullptr, MPI_DATATYPE_NULL, root, c)
                    : PMPI_Gatherv(sent, sc[0], st, received, nullptr, nullptr, MPI_DATATYPE_NULL, root, c);
      return ours ? MPI_Gather(sent, sc[0], st, received, bad, MPI_DATATYPE_NULL, root, c)
                  : PMPI_Gather(sent, sc[0], st, received, bad, MPI_DATATYPE_NULL, root, c);
    }
    if (v)
      return ours ? MPI_Gatherv(sent, sc[0], st, received, rc, rd, rt, root, c)
                  : PMPI_Gatherv(sent, sc[0], st, received, rc, rd, rt, root, c);
    return ours ? MPI_Gather(sent, sc[0], st, received, rc[0], rt, root, c)
                : PMPI_Gather(sent, sc[0], st, received, rc[0], rt, root, c);
  }
  if (scatters) {
    if (in_place && rank == root) received = MPI_IN_PLACE;
    if (rank != root) {
      sent = nullptr;
      if (v)
        return ours ? MPI_Scatterv(sent, nullptr, nullptr, MPI_DATATYPE_NULL, received, rc[0], rt, root, c)
                    : PMPI_Scatterv(sent, nullptr, nullptr, MPI_DATATYPE_NULL, received, rc[0], rt, root, c);
      return ours ? MPI_Scatter(sent, bad, MPI_DATATYPE_NULL, received, rc[0], rt, root, c)
                  : PMPI_Scatter(sent, bad, MPI_DATATYPE_NULL, received, rc[0], rt, root, c);
    }
    if (v)
      return ours ? MPI_Scatterv(sent, sc, sd, st, received, rc[0], rt, root, c)
                  : PMPI_Scatterv(sent, sc, sd, st, received, rc[0], rt, root, c);
    return ours ? MPI_Scatter(sent, sc[0], st, received, rc[0], rt, root, c)
                : PMPI_Scatter(sent, sc[0], st, received, rc[0], rt, root, c);
  }
  if (in_place) sent = MPI_IN_PLACE;
  if (name == "Allgather")
    return ours ? MPI_Allgather(sent, sc[0], st, received, rc[0], rt, c)
                : PMPI_Allgather(sent, sc[0], st, received, rc[0], rt, c);
  if (name == "Allgatherv")
    return ours ? MPI_Allgatherv(sent, sc[0], st, received, rc, rd, rt, c)
                : PMPI_Allgatherv(sent, sc[0], st, received, rc, rd, rt, c);
  if (name == "Alltoall")
    return ours ? MPI_Alltoall(sent, sc[0], st, received, rc[0], rt, c)
                : PMPI_Alltoall(sent, sc[0], st, received, rc[0], rt, c);
  if (name == "Alltoallv")
    return ours ? MPI_Alltoallv(sent, sc, sd, st, received, rc, rd, rt, c)
                : PMPI_Alltoallv(sent, sc, sd, st, received, rc, rd, rt, c);
  if (name == "Alltoallw")
    return ours ? MPI_Alltoallw(sent, sc, sd, from.handles.data(), received, rc, rd, to.handles.data(), c)
                : PMPI_Alltoallw(sent, sc, sd, from.handles.data(), received, rc, rd, to.handles.data(), c);
  if (name == "Neighbor_allgather")
    return ours ? MPI_Neighbor_allgather(sent, sc[0], st, received, rc[0], rt, c)
                : PMPI_Neighbor_allgather(sent, sc[0], st, received, rc[0], rt, c);
  if (name == "Neighbor_allgatherv")
    return ours ? MPI_Neighbor_allgatherv(sent, sc[0], st, received, rc, rd, rt, c)
                : PMPI_Neighbor_allgatherv(sent, sc[0], st, received, rc, rd, rt, c);
  if (name == "Neighbor_alltoall")
    return ours ? MPI_Neighbor_alltoall(sent, sc[0], st, received, rc[0], rt, c)
                : PMPI_Neighbor_alltoall(sent, sc[0], st, received, rc[0], rt, c);
  if (name == "Neighbor_alltoallv")
    return ours ? MPI_Neighbor_alltoallv(sent, sc, sd, st, received, rc, rd, rt, c)
                : PMPI_Neighbor_alltoallv(sent, sc, sd, st, received, rc, rd, rt, c);
  return ours ? MPI_Neighbor_alltoallw(sent, sc, from.wide.data(), from.handles.data(), received, rc, to.wide.data(),
                                       to.handles.data(), c)
              : PMPI_Neighbor_alltoallw(sent, sc, from.wide.data(), from.handles.data(), received, rc, to.wide.data(),
                                        to.handles.data(), c);
}
