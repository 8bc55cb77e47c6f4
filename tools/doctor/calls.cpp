#include "tools/doctor/calls.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace millrace::tools {
namespace {

constexpr std::string_view collectives[] = {"Barrier",
                                            "Bcast",
                                            "Reduce",
                                            "Allreduce",
                                            "Reduce_scatter",
                                            "Reduce_scatter_block",
                                            "Scan",
                                            "Exscan",
                                            "Gather",
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
constexpr std::string_view all_wait[] = {"Barrier",   "Allreduce",  "Reduce_scatter", "Reduce_scatter_block",
                                         "Allgather", "Allgatherv", "Alltoall",       "Alltoallv",
                                         "Alltoallw"};
constexpr std::string_view makers[] = {"Comm_dup",         "Comm_dup_with_info", "Comm_idup",
                                       "Comm_create",      "Comm_create_group",  "Comm_split",
                                       "Comm_split_type",  "Cart_create",        "Cart_sub",
                                       "Graph_create",     "Dist_graph_create",  "Dist_graph_create_adjacent",
                                       "Intercomm_create", "Intercomm_merge"};

template <std::size_t count>
bool holds(const std::string_view (&names)[count], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

// "MPI_Bcast_c" is "Bcast".
std::string_view bare(std::string_view name) {
  if (name.starts_with("MPI_")) name.remove_prefix(4);
  if (name.ends_with("_c")) name.remove_suffix(2);
  return name;
}

}  // namespace

bool is_collective(std::string_view name) {
  std::string plain(bare(name));
  if (plain.size() > 1 && plain[0] == 'I' && std::islower(static_cast<unsigned char>(plain[1]))) {
    plain.erase(0, 1);
    plain[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(plain[0])));
  }
  return holds(collectives, plain);
}

bool waits_for_all(std::string_view name) { return holds(all_wait, bare(name)); }
bool makes_communicator(std::string_view name) { return holds(makers, bare(name)); }

}  // namespace millrace::tools
