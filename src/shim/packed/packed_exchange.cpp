#include "shim/packed/packed_exchange.h"

#include "abi.h"
#include "shim/call/exchange_neighbors.h"
#include "shim/node/communicators.h"

namespace millrace::shim {
namespace {

using record::Reason;

constexpr BlockRole nothing{false, false};
constexpr BlockRole outgoing{true, false};
constexpr BlockRole incoming{false, true};
constexpr BlockRole both{true, true};

std::vector<BlockRole> roles_of(const std::vector<int>& peers, BlockRole role) {
  std::vector<BlockRole> roles;
  roles.reserve(peers.size());
  for (const int peer : peers) roles.push_back(peer == abi::proc_null ? nothing : role);
  return roles;
}

// MPI_Ialltoallv and MPI_Ialltoallw in place are the host's own: Open MPI 4.1 (from three ranks on), MPICH 4.0 and
// Intel MPI leave wrong data there, by themselves, more often than not with types like ours.
//
// Open MPI 4.1 looks at as many datatypes of MPI_Ialltoallw as there are neighbours, if the communicator has a
// topology. Behind the program's array there may be something that looks like one; behind ours there is not.
bool reads_beyond(Word comm) {
  int topology = abi::undefined;
  return abi::ialltoallw_reads_beyond &&
         (host<Symbol::MPI_Topo_test>(comm, as_word(&topology)) != 0 || topology != abi::undefined);
}

}  // namespace

// Of an intracommunicator.
bool PackedExchange::find_ranks(Word comm) {
  if (const Communicator* const known = find_communicator(comm)) {
    rank_ = known->rank;
    ranks_ = known->ranks;
    return known->reason != Reason::intercommunicator;
  }
  int inter = 0;
  if (comm == abi::comm_null() || host<Symbol::MPI_Comm_test_inter>(comm, as_word(&inter)) != 0 || inter) return false;
  return host<Symbol::MPI_Comm_rank>(comm, as_word(&rank_)) == 0 &&
         host<Symbol::MPI_Comm_size>(comm, as_word(&ranks_)) == 0;
}

PackedExchange::PackedExchange(const ExchangeCall& call, bool types_at_once) {
  const ExchangeShape& shape = call.shape;
  if (!find_ranks(call.comm())) {
    reason_ = Reason::intercommunicator;
    return;
  }
  const auto own = static_cast<std::size_t>(rank_);
  const auto all = static_cast<std::size_t>(ranks_);
  const int root = shape.is_rooted() ? call.root() : -1;
  if (shape.is_rooted() && (root < 0 || root >= ranks_)) {
    reason_ = Reason::invalid_argument;
    return;
  }
  const bool is_root = root == rank_;
  const std::vector<BlockRole> one_out{outgoing};
  const std::vector<BlockRole> one_in{incoming};
  const auto send = [&](std::span<const BlockRole> roles) {
    send_.open(call, shape.send, roles, Goes::out, types_at_once);
  };
  const auto receive = [&](std::span<const BlockRole> roles, Goes goes) {
    receive_.open(call, shape.receive, roles, goes, types_at_once);
  };
  switch (shape.kind) {
    case ExchangeKind::bcast:
      if (is_root)
        send(one_out);
      else
        receive(one_in, Goes::out);  // also to those that have it from here
      break;
    case ExchangeKind::gather: {
      const bool in_place = is_root && call.is_in_place(shape.send);
      if (!in_place) send(one_out);
      if (!is_root) break;
      std::vector<BlockRole> roles(all, incoming);
      if (in_place) roles[own] = nothing;
      receive(roles, Goes::in);
      break;
    }
    case ExchangeKind::scatter: {
      const bool in_place = is_root && call.is_in_place(shape.receive);
      if (!in_place) receive(one_in, Goes::in);
      if (!is_root) break;
      std::vector<BlockRole> roles(all, outgoing);
      if (in_place) roles[own] = nothing;
      send(roles);
      break;
    }
    case ExchangeKind::allgather: {
      const bool in_place = call.is_in_place(shape.send);
      if (!in_place) send(one_out);
      std::vector<BlockRole> roles(all, incoming);
      if (in_place) roles[own] = outgoing;
      // Hosts that cut blocks where they go round a ring by extent: on ranks whose receive types have different ones
      // the pieces do not match, and ours would have another than the program's.
      if (!abi::allgatherv_cuts_by_extent || shape.receive.blocks != ExchangeSide::Blocks::array)
        receive(roles, Goes::out);
      break;
    }
    case ExchangeKind::alltoall: {
      const bool in_place = call.is_in_place(shape.send);
      if (shape.send.blocks == ExchangeSide::Blocks::array &&
          (in_place || (shape.send.own_types && reads_beyond(call.comm())))) {
        reason_ = Reason::type_not_covered;
        return;
      }
      if (!in_place) send(std::vector<BlockRole>(all, outgoing));
      std::vector<BlockRole> roles(all, in_place ? both : incoming);
      if (in_place) roles[own] = nothing;
      receive(roles, in_place ? Goes::out : Goes::in);
      break;
    }
    case ExchangeKind::neighbor_allgather:
    case ExchangeKind::neighbor_alltoall: {
      const Neighbors neighbors = neighbors_of(call.comm(), rank_);
      if (!neighbors.has_topology) {
        reason_ = Reason::invalid_argument;
        return;
      }
      if (shape.kind == ExchangeKind::neighbor_allgather)
        send(one_out);
      else
        send(roles_of(neighbors.destinations, outgoing));
      receive(roles_of(neighbors.sources, incoming), Goes::in);
      break;
    }
  }
  // The more telling one.
  reason_ = send_.reason() != Reason::not_accelerated ? send_.reason() : receive_.reason();
}

void PackedExchange::remember_unknown() const {
  for (const Word handle : send_.unknown()) remember_datatype(handle);
  for (const Word handle : receive_.unknown()) remember_datatype(handle);
}

void PackedExchange::pack() const {
  send_.pack();
  receive_.pack();  // what is in place
}

void PackedExchange::unpack() const { receive_.unpack(); }

void PackedExchange::put_into(HostCall& call) {
  send_.put_into(call);
  receive_.put_into(call);
}

}  // namespace millrace::shim
