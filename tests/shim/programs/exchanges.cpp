// Collectives that reduce nothing, on communicators of several shapes and topologies, with blocks and layouts drawn at
// random from a seed that every rank knows. Every call is made twice, as MPI_ and as PMPI_ (which Millrace does not
// take), and both must leave the same bytes in the whole of their buffers: in the data and in everything between.
//
// Arguments: the seed, the number of calls, which calls (all, or the name of one), the most bytes of a block. Prints
// one line for each mistake (at most 5 a rank), then "done" if there was none.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace {

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33, x *= 0xff51afd7ed558ccdu, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed + 1)) {}
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  int below(int limit) { return static_cast<int>(next() % static_cast<std::uint64_t>(limit)); }
  bool one_in(int chances) { return below(chances) == 0; }

 private:
  std::uint64_t state_;
};

int world_rank, world_ranks, mistakes = 0;
int most_block_bytes = 1 << 17;
bool is_mpich_4 = false;
std::uint64_t seed = 1;

// ---- layouts of a given number of ints, each of which does not overlap the next ----

struct Type {
  MPI_Datatype handle = MPI_INT;
  int units = 1;  // ints of data in an element
  bool owned = false;
  MPI_Aint low = 0, high = 4, extent = 4;  // true bounds
};

MPI_Datatype scattered(Random& random, int units) {
  MPI_Datatype type;
  switch (random.below(7)) {
    case 0: MPI_Type_contiguous(units, MPI_INT, &type); return type;
    case 1: MPI_Type_vector(units, 1, 2 + random.below(3), MPI_INT, &type); return type;
    case 2: MPI_Type_create_hvector(units, 1, -8 - 4 * random.below(3), MPI_INT, &type); return type;
    case 3: {  // in an order that is not that of memory
      std::vector<int> displacements(static_cast<std::size_t>(units));
      for (int i = 0; i < units; ++i) displacements[static_cast<std::size_t>(i)] = 2 * (units - i) + random.below(2);
      MPI_Type_create_indexed_block(units, 1, displacements.data(), MPI_INT, &type);
      return type;
    }
    case 4: {  // one and the rest, at a distance
      const int lengths[2] = {1, units - 1};
      const MPI_Aint places[2] = {4 + 4 * random.below(4), 64};
      const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
      MPI_Type_create_struct(2, lengths, places, types, &type);
      return type;
    }
    case 5: {
      const int sizes[2] = {units, 3}, part[2] = {units, 1}, start[2] = {0, random.below(3)};
      MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &type);
      return type;
    }
    default: {
      MPI_Datatype inner;
      MPI_Type_vector(units, 1, 1, MPI_INT, &inner);
      MPI_Type_dup(inner, &type);
      MPI_Type_free(&inner);
      return type;
    }
  }
}

Type make_type(Random& random, int units) {
  Type made;
  made.units = units;
  if (units == 1 && random.one_in(2)) return made;
  const MPI_Datatype inner = scattered(random, units);
  MPI_Aint extent;
  MPI_Type_get_true_extent(inner, &made.low, &extent);
  made.high = made.low + extent;
  MPI_Aint lb;
  MPI_Type_get_extent(inner, &lb, &made.extent);
  made.owned = true;
  made.handle = inner;
  // Bounds that say nothing about where the data are, but keep elements apart.
  if (made.extent < extent || random.one_in(2)) {
    made.extent = extent + 4 * random.below(4);
    MPI_Datatype moved = inner;
    MPI_Type_create_resized(moved, 4 * random.below(9) - 16, made.extent, &made.handle);
    MPI_Type_free(&moved);
  }
  MPI_Type_commit(&made.handle);
  return made;
}

// ---- one side of a call: its buffers and arguments ----

struct Side {
  std::vector<Type> types;  // one, or one a block
  std::vector<int> counts;
  std::vector<int> displacements;  // in extents, or in bytes
  std::vector<MPI_Aint> wide;      // in bytes
  std::vector<MPI_Datatype> handles;
  std::vector<char> memory, again;  // for MPI_ and for PMPI_
  MPI_Aint origin = 0;

  char* ours() { return memory.data() + origin; }
  char* hosts() { return again.data() + origin; }
};

enum class Blocks { one, each, array, own_types };

// `ints[i]`: of block i, a multiple of `unit`. `whole`: elements are of that many.
Side make_side(Random& random, Blocks blocks, const std::vector<int>& ints, int unit, bool whole,
               std::uint64_t content) {
  Side side;
  const std::size_t size = ints.size();
  const auto divisor = [&] {
    for (;;) {
      if (whole) return unit;
      const int tried = 1 + random.below(unit);
      if (unit % tried == 0) return tried;
    }
  };
  for (std::size_t i = 0; i < (blocks == Blocks::own_types ? size : 1); ++i)
    side.types.push_back(make_type(random, divisor()));
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  if (blocks == Blocks::array || blocks == Blocks::own_types)
    for (std::size_t i = size; i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  side.counts.resize(size + 1), side.displacements.resize(size + 1), side.wide.resize(size + 1);
  side.handles.resize(size + 1, MPI_INT);
  // Blocks behind one another, in some order, with room between; all that is touched lies in [least, most).
  MPI_Aint least = 0, most = 0, next = 0;
  for (const std::size_t i : order) {
    const Type& type = side.types[blocks == Blocks::own_types ? i : 0];
    const int count = ints[i] / type.units;
    side.counts[i] = count;
    side.handles[i] = type.handle;
    MPI_Aint at = 0;
    if (blocks == Blocks::each || blocks == Blocks::one) {
      at = static_cast<MPI_Aint>(i) * count * type.extent;
    } else if (blocks == Blocks::array) {
      next += random.below(3);
      side.displacements[i] = static_cast<int>(next);
      at = next * type.extent;
      next += count;
    } else {
      next += 4 * random.below(3) - type.low;
      at = next;
      side.displacements[i] = static_cast<int>(at);
      side.wide[i] = at;
      next += count * type.extent + type.high;
    }
    if (count == 0) continue;
    least = std::min(least, at + type.low);
    most = std::max(most, at + (count - 1) * type.extent + type.high);
  }
  side.origin = (-least + 63) / 64 * 64 + 64;
  side.memory.resize(static_cast<std::size_t>(side.origin + most + 64));
  for (std::size_t i = 0; i < side.memory.size(); ++i)
    side.memory[i] = static_cast<char>(mix(content + i / 8) >> i % 8 * 8);
  side.again = side.memory;
  return side;
}

void free_types(Side& side) {
  for (Type& type : side.types)
    if (type.owned) MPI_Type_free(&type.handle);
}

// ---- communicators ----

struct Comm {
  MPI_Comm handle;
  std::string name;
  std::vector<int> sources, destinations;  // of a topology
};
std::vector<Comm> comms;

void add(MPI_Comm handle, const char* name) {
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

void add_cartesian(std::vector<int> dims, std::vector<int> periods, const char* name) {
  MPI_Comm made;
  MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(dims.size()), dims.data(), periods.data(), 0, &made);
  add(made, name);
}

void make_communicators() {
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
  for (int turn = 0; turn < 2; ++turn) {  // edges between any two, several, and to oneself
    Random random(seed * 31 + static_cast<std::uint64_t>(turn));
    std::vector<int> sources, destinations;
    for (int from = 0; from < n; ++from)
      for (int to = 0; to < n; ++to)
        for (int edges = random.below(3); edges > 0; --edges) {
          if (from == world_rank) destinations.push_back(to);
          if (to == world_rank) sources.push_back(from);
        }
    if (turn == 1) std::reverse(sources.begin(), sources.end());
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                                   static_cast<int>(destinations.size()), destinations.data(), MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &made);
    add(made, "distributed graph");
  }
}

// ---- the calls ----

const std::vector<std::string> names = {"Gather",
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

void compare(const char* what, const std::string& name, const Comm& comm, int call, const Side& side, int root,
             bool in_place, const Sizes& sizes) {
  if (side.memory == side.again || mistakes++ >= 5) return;
  std::size_t first = 0;
  while (side.memory[first] == side.again[first]) ++first;
  std::printf("rank %d: %s%s on %s, call %d, root %d: %s differ from byte %td of %zu (unit %d)\n", world_rank,
              name.c_str(), in_place ? " in place" : "", comm.name.c_str(), call, root, what,
              static_cast<std::ptrdiff_t>(first) - side.origin, side.memory.size(), sizes.unit);
}

void one_call(const std::string& name, const Comm& comm, int call) {
  const std::uint64_t key = mix(seed * 1000003 + static_cast<std::uint64_t>(call));
  Random common(key);
  int rank, ranks;
  MPI_Comm_rank(comm.handle, &rank);
  MPI_Comm_size(comm.handle, &ranks);
  // Open MPI's own takes displacements for multiples of extents there.
  if (name == "Alltoallw" && ranks == 1) return;
  // MPICH 4.0's own reads past its arguments where a rank has more destinations than sources.
  if (name == "Neighbor_alltoallw" && comm.name == "distributed graph" && is_mpich_4) return;
  // And writes before the blocks that it receives from itself, when their type has gaps.
  if (name == "Allgatherv" && ranks == 1 && is_mpich_4) return;
  Random own(key ^ mix(static_cast<std::uint64_t>(world_rank) + 77));

  static const int units[] = {1, 1, 2, 3, 4, 6};
  const bool neighbor = name.starts_with("Neighbor");
  const bool v = name.ends_with("v"), w = name.ends_with("w");
  const int root = common.below(ranks);
  const bool in_place = common.one_in(4) && !neighbor;
  static const int largest[] = {64, 1024, 20000, 0};
  int most = largest[common.below(4)];
  if (most == 0 || most > most_block_bytes) most = most_block_bytes;
  const Sizes sizes{key, units[common.below(6)], !v && !w, most};
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
  const bool gathers = name.starts_with("Gather"), scatters = name.starts_with("Scatter");
  if (gathers || scatters) {
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
    std::vector<int> sources = comm.sources, destinations = comm.destinations;
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
  // Open MPI's own chooses an algorithm by the size of the one type and the counts of the other.
  const bool whole = name == "Allgatherv";
  Side from = make_side(own, send, out, sizes.unit, whole, key ^ mix(static_cast<std::uint64_t>(rank)));
  Side to = make_side(own, receive, in, sizes.unit, whole, key ^ mix(static_cast<std::uint64_t>(rank) + 100));
  // A rank without neighbours gives the count of all the same.
  if (neighbor && !v && !w && in.empty()) to.counts[0] = ints(0, 0) / to.types[0].units;
  if (neighbor && !v && !w && out.empty()) from.counts[0] = ints(0, 0) / from.types[0].units;

  // What is not significant is not to be read.
  const int bad = -7;
  const auto run = [&](bool ours) {
    void* sent = ours ? from.ours() : from.hosts();
    void* received = ours ? to.ours() : to.hosts();
    const int *sc = from.counts.data(), *sd = from.displacements.data(), *rc = to.counts.data(),
              *rd = to.displacements.data();
    const MPI_Datatype st = from.types.empty() ? MPI_INT : from.types[0].handle;
    const MPI_Datatype rt = to.types.empty() ? MPI_INT : to.types[0].handle;
    const MPI_Comm c = comm.handle;
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
  };
  const bool ours_first = call % 2 == 0;
  for (const bool ours : {ours_first, !ours_first})
    if (const int error = run(ours); error != MPI_SUCCESS && mistakes++ < 5)
      std::printf("rank %d: %s on %s, call %d: error %d\n", world_rank, name.c_str(), comm.name.c_str(), call, error);
  compare("what was received", name, comm, call, to, root, in_place, sizes);
  compare("what was sent", name, comm, call, from, root, in_place, sizes);
  free_types(from), free_types(to);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 200;
  const std::string which = argc > 3 ? argv[3] : "all";
  if (argc > 4) most_block_bytes = std::atoi(argv[4]);
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  is_mpich_4 = std::string(version).starts_with("MPICH Version:\t4.0");
  // Those of Intel MPI lose bytes of some blocks, or take them for too long, when the two sides' types differ.
  const bool without_regular_gathers = which == "all" && argc > 4 && std::string(version).starts_with("Intel");
  make_communicators();
  // The ranks of a half do not know what those of the other do: everybody draws the same.
  Random random(seed);
  for (int call = 0; call < calls; ++call) {
    const std::string name =
        which == "all" ? names[static_cast<std::size_t>(random.below(static_cast<int>(names.size())))] : which;
    if (without_regular_gathers && (name == "Gather" || name == "Allgather")) continue;
    // The first six are for all calls, from the fourth on they have a topology.
    const bool neighbor = name.starts_with("Neighbor");
    const int place = neighbor ? 3 + random.below(static_cast<int>(comms.size()) - 3) : random.below(6);
    const Comm& comm = comms[static_cast<std::size_t>(place)];
    if (comm.handle != MPI_COMM_NULL) one_call(name, comm, call);
  }
  int total = 0;
  MPI_Allreduce(&mistakes, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (Comm& comm : comms)
    if (comm.handle != MPI_COMM_NULL) MPI_Comm_free(&comm.handle);
  if (world_rank == 0) std::printf(total ? "%d wrong\n" : "done\n", total);
  MPI_Finalize();
  return mistakes != 0;
}
