// How many bytes a call carried, by the entry's rule in the table. Called after the call has succeeded, so that the
// arguments that the rule looks at are known to be valid wherever they are significant.
#include "shim/bind/forward.h"
#include "shim/bind/observed.h"
#include "shim/call/arguments.h"

namespace millrace::shim {
namespace {

// Positions come from the rule, -1 where there is none.
bool has(const Arguments& arguments, int position) {
  return position >= 0 && static_cast<std::size_t>(position) < arguments.size();
}
std::size_t place(int position) { return static_cast<std::size_t>(position); }

std::uint64_t datatype_bytes(Word datatype) {
  int bytes = 0;
  if (host<Symbol::MPI_Type_size>(datatype, as_word(&bytes)) != 0 || bytes < 0) return 0;
  return static_cast<std::uint64_t>(bytes);
}

int topology_neighbours(Word comm) {
  int dimensions = 0;
  int status = 0;
  host<Symbol::MPI_Topo_test>(comm, as_word(&status));
  if (status == abi::topology_cartesian) {
    host<Symbol::MPI_Cartdim_get>(comm, as_word(&dimensions));
    return 2 * dimensions;
  }
  int rank = 0;
  int neighbours = 0;
  if (status == abi::topology_graph) {
    host<Symbol::MPI_Comm_rank>(comm, as_word(&rank));
    host<Symbol::MPI_Graph_neighbors_count>(comm, as_word(rank), as_word(&neighbours));
    return neighbours;
  }
  int sources = 0;
  int weighted = 0;
  if (status == abi::topology_distributed_graph)
    host<Symbol::MPI_Dist_graph_neighbors_count>(comm, as_word(&sources), as_word(&neighbours), as_word(&weighted));
  return neighbours;
}

// The ranks that an argument array runs over: those of the group that data goes to.
int peers(const BytesRule& rule, Word comm) {
  if (rule.neighbours) return topology_neighbours(comm);
  int is_inter = 0;
  int size = 0;
  host<Symbol::MPI_Comm_test_inter>(comm, as_word(&is_inter));
  if (is_inter)
    host<Symbol::MPI_Comm_remote_size>(comm, as_word(&size));
  else
    host<Symbol::MPI_Comm_size>(comm, as_word(&size));
  return size;
}

std::uint64_t elements_bytes(std::int64_t count, Word datatype) {
  return count > 0 ? static_cast<std::uint64_t>(count) * datatype_bytes(datatype) : 0;
}

std::uint64_t array_bytes(const BytesRule& rule, const Posted& posted, const Arguments& arguments) {
  const auto size = static_cast<std::size_t>(peers(rule, arguments.comm(place(rule.comm))));
  std::uint64_t bytes = 0;
  if (posted.array_of_datatypes) {
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t count = arguments.count_at(place(posted.count), i);
      if (count > 0) bytes += elements_bytes(count, arguments.datatype_at(place(posted.datatype), i));
    }
    return bytes;
  }
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < size; ++i) elements += arguments.count_at(place(posted.count), i);
  return elements_bytes(elements, arguments.datatype(place(posted.datatype)));
}

std::uint64_t bytes_of(const BytesRule& rule, const Posted& posted, const Arguments& arguments) {
  switch (posted.shape) {
    case Shape::none: return 0;
    case Shape::whole:
      if (posted.count < 0) return datatype_bytes(arguments.datatype(place(posted.datatype)));
      return elements_bytes(arguments.count(place(posted.count)), arguments.datatype(place(posted.datatype)));
    case Shape::each: {
      const std::int64_t count = arguments.count(place(posted.count));
      if (count <= 0) return 0;
      return elements_bytes(count * peers(rule, arguments.comm(place(rule.comm))),
                            arguments.datatype(place(posted.datatype)));
    }
    case Shape::array: return array_bytes(rule, posted, arguments);
    case Shape::mine: {
      int rank = 0;
      host<Symbol::MPI_Comm_rank>(arguments.comm(place(rule.comm)), as_word(&rank));
      return elements_bytes(arguments.count_at(place(posted.count), static_cast<std::size_t>(rank)),
                            arguments.datatype(place(posted.datatype)));
    }
  }
  return 0;
}

// Whether this alternative is the one that carries data: its buffer is real and its peer is a rank.
bool is_significant(const Posted& posted, const Arguments& arguments) {
  if (has(arguments, posted.buffer) && arguments.is_in_place(place(posted.buffer))) return false;
  return !has(arguments, posted.peer) || arguments.integer(place(posted.peer)) != abi::proc_null;
}

}  // namespace

bool has_posted_from_fortran(Symbol symbol, std::span<const Word> words) {
  const bool is_asked =
      sends(symbol) || communicator_of(symbol) >= 0 || bytes_rule(symbol_entry(symbol)).first.shape != Shape::none;
  return is_asked && has_succeeded(symbol, 0, words);
}

std::uint64_t posted_bytes(Symbol symbol, std::span<const Word> words) {
  const BytesRule& rule = bytes_rule(symbol_entry(symbol));
  if (rule.first.shape == Shape::none) return 0;
  const Arguments arguments(symbol, words);
  // In a rooted call on an intercommunicator, MPI_ROOT and MPI_PROC_NULL make the other arguments insignificant.
  if (has(arguments, rule.root) && arguments.integer(place(rule.root)) < 0) return 0;
  if (is_significant(rule.first, arguments)) return bytes_of(rule, rule.first, arguments);
  return rule.second.shape != Shape::none && is_significant(rule.second, arguments)
             ? bytes_of(rule, rule.second, arguments)
             : 0;
}

}  // namespace millrace::shim
