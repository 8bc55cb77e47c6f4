// Nonblocking and persistent collectives of plain data and of vectors, many under way at a time on communicators that
// overlap, ended by every call that can end them, in orders that differ between ranks, mixed with messages and with
// collectives that wait. SEED ROUNDS MOST [KINDS [PERSISTENT [HOW]]]: so many rounds, each with up to MOST calls under
// way; KINDS: "plain" leaves out vectors. PERSISTENT: so many persistent ones at a time, a third of which are started
// in each round, and which are made anew now and then. HOW: "orders" starts them in an order of each rank's own,
// "one_or_all" leaves out the completion calls of one or some of an array. Prints "done", or what is wrong.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "collective_call.h"

namespace {

// Requests under way, and what is to be checked when they have completed.
struct Open {
  std::vector<MPI_Request> requests;
  std::vector<std::shared_ptr<Call>> calls;  // null: a message, or nothing
  std::vector<MPI_Request> persistent;       // as they are when they have ended

  void add(MPI_Request request, std::shared_ptr<Call> call, MPI_Request at_end = MPI_REQUEST_NULL) {
    requests.push_back(request);
    calls.push_back(std::move(call));
    persistent.push_back(at_end);
  }
  bool is_open(std::size_t i) const {
    return calls[i] || (persistent[i] == MPI_REQUEST_NULL && requests[i] != MPI_REQUEST_NULL);
  }
  void ended(int index, const MPI_Status&) {  // that of a collective says nothing, and with Open MPI 4 anything
    const auto i = static_cast<std::size_t>(index);
    Call* const call = calls[i].get();
    if (!call) return;
    if (requests[i] != persistent[i]) give_up(call->name() + ": the request has changed, or has not");
    call->check();
    calls[i].reset();
  }
};

// Persistent ones of a program.
struct Prepared {
  MPI_Request request;
  std::shared_ptr<Call> call;
};

void end_all(Open& open, std::mt19937_64& own, MPI_Request inactive, bool one_or_all) {
  const std::size_t total = open.requests.size();
  // One that is never active, in the middle.
  const std::size_t place = total / 2;
  open.requests.insert(open.requests.begin() + static_cast<std::ptrdiff_t>(place), inactive);
  open.calls.insert(open.calls.begin() + static_cast<std::ptrdiff_t>(place), nullptr);
  open.persistent.insert(open.persistent.begin() + static_cast<std::ptrdiff_t>(place), inactive);
  const int count = static_cast<int>(open.requests.size());
  std::vector<MPI_Status> statuses(open.requests.size());
  std::vector<int> indices(open.requests.size());
  const auto is_left = [&] {
    for (std::size_t i = 0; i < open.requests.size(); ++i)
      if (open.is_open(i)) return true;
    return false;
  };
  while (is_left()) {
    int flag = 0, index = 0, some = 0;
    const int pick = static_cast<int>(own() % open.requests.size());
    MPI_Request& one = open.requests[static_cast<std::size_t>(pick)];
    MPI_Status status;
    constexpr std::uint64_t ways[] = {0, 1, 7, 8, 9, 10};
    switch (one_or_all ? ways[own() % std::size(ways)] : own() % 11) {
      case 0:
        if (static_cast<std::size_t>(pick) == place || one == MPI_REQUEST_NULL) break;
        MPI_Wait(&one, &status);
        open.ended(pick, status);
        break;
      case 1:
        if (static_cast<std::size_t>(pick) == place || one == MPI_REQUEST_NULL) break;
        MPI_Test(&one, &flag, &status);
        if (flag) open.ended(pick, status);
        break;
      case 2:
        MPI_Waitany(count, open.requests.data(), &index, &status);
        if (index == MPI_UNDEFINED) give_up("MPI_Waitany says that nothing is active");
        open.ended(index, status);
        break;
      case 3:
        MPI_Testany(count, open.requests.data(), &index, &flag, &status);
        if (flag && index == MPI_UNDEFINED) give_up("MPI_Testany says that nothing is active");
        if (flag) open.ended(index, status);
        break;
      case 4:
      case 5:
        if (own() % 2 == 0)
          MPI_Waitsome(count, open.requests.data(), &some, indices.data(), statuses.data());
        else
          MPI_Testsome(count, open.requests.data(), &some, indices.data(), statuses.data());
        if (some == MPI_UNDEFINED) give_up("MPI_Waitsome or MPI_Testsome says that nothing is active");
        for (int i = 0; i < some; ++i)
          open.ended(indices[static_cast<std::size_t>(i)], statuses[static_cast<std::size_t>(i)]);
        break;
      case 6:
        MPI_Testall(count, open.requests.data(), &flag, statuses.data());
        for (int i = 0; flag && i < count; ++i) open.ended(i, statuses[static_cast<std::size_t>(i)]);
        break;
      case 7:
        if (own() % 4 != 0) break;
        MPI_Waitall(count, open.requests.data(), statuses.data());
        for (int i = 0; i < count; ++i) open.ended(i, statuses[static_cast<std::size_t>(i)]);
        break;
      case 8:
        if (own() % 4 != 0) break;
        MPI_Waitall(count, open.requests.data(), MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; ++i) open.ended(i, MPI_Status{});
        break;
      case 9: {
        MPI_Request_get_status(one, &flag, &status);
        if (!flag || !open.calls[static_cast<std::size_t>(pick)]) break;
        open.calls[static_cast<std::size_t>(pick)]->check();
        if (one == MPI_REQUEST_NULL) give_up("MPI_Request_get_status frees a request");
        break;
      }
      default: {
        // Something that has nothing to do with them.
        int sum = 0;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 20, most = argc > 3 ? std::atoi(argv[3]) : 10;
  const bool plain = argc > 4 && std::strcmp(argv[4], "plain") == 0;
  const std::size_t persistent = argc > 5 ? std::strtoul(argv[5], nullptr, 10) : 0;
  const bool own_orders = argc > 6 && std::strstr(argv[6], "orders");
  const bool one_or_all = argc > 6 && std::strstr(argv[6], "one_or_all");
  std::mt19937_64 same(seed), own(seed * 1000 + static_cast<std::uint64_t>(world_rank));

  std::vector<Comm> comms(3);
  comms[0].comm = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1].comm);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank >= 1 && ranks > 2 ? 1 : 0, -world_rank, &comms[2].comm);
  for (Comm& comm : comms) MPI_Comm_rank(comm.comm, &comm.rank), MPI_Comm_size(comm.comm, &comm.ranks);
  int nothing = 0;
  MPI_Request inactive;
  MPI_Recv_init(&nothing, 1, MPI_INT, world_rank, 77, MPI_COMM_WORLD, &inactive);

  const int sizes[] = {0, 1, 2, 7, 100, 1000, 1024, 5000, 40000, 300000};
  std::uint64_t number = 0;
  const auto any_call = [&](int most_elements) {
    const Comm& comm = comms[same() % comms.size()];
    const auto kind = static_cast<Kind>(same() % kinds);
    const int size = std::min(sizes[same() % std::size(sizes)], most_elements);
    const std::uint64_t root = same();
    const bool in_place = same() % 3 == 0, strided = same() % 4 == 0 && !plain;
    ++number;
    return std::make_shared<Call>(comm, kind, number, size,
                                  static_cast<int>(root % static_cast<std::uint64_t>(comm.ranks)), in_place, strided);
  };
  std::vector<Prepared> prepared;
  // Prepares what is missing, frees some, and starts a third of them: the same on all ranks, but in orders of their
  // own.
  const auto start_some = [&](Open& open) {
    while (prepared.size() < persistent) {
      Prepared& made = prepared.emplace_back(Prepared{MPI_REQUEST_NULL, any_call(5000)});
      made.call->begin(Call::How::persistent, &made.request);
    }
    if (prepared.empty()) return;
    if (same() % 40 == 0) {
      const auto freed = prepared.begin() + static_cast<std::ptrdiff_t>(same() % prepared.size());
      MPI_Request_free(&freed->request);
      if (freed->request != MPI_REQUEST_NULL) give_up("MPI_Request_free leaves a request");
      prepared.erase(freed);
    }
    const std::size_t most_started = (prepared.size() + 2) / 3, first = same();
    std::vector<std::size_t> chosen(most_started);
    for (std::size_t i = 0; i < most_started; ++i) chosen[i] = (first + i) % prepared.size();
    for (const std::size_t i : chosen) prepared[i].call->renew(++number);
    std::shuffle(chosen.begin(), chosen.end(), own_orders ? own : same);
    std::vector<MPI_Request> together;
    for (const std::size_t i : chosen) {
      if ((own_orders ? own : same)() % 2 == 0)
        MPI_Start(&prepared[i].request);
      else
        together.push_back(prepared[i].request);
    }
    if (!together.empty()) MPI_Startall(static_cast<int>(together.size()), together.data());
    for (const std::size_t i : chosen) open.add(prepared[i].request, prepared[i].call, prepared[i].request);
  };

  for (int round = 0; round < rounds; ++round) {
    Open open;
    const int count = 1 + static_cast<int>(same() % static_cast<std::uint64_t>(most));
    // A neighbour's message, which may need what comes later.
    std::vector<int> from(same() % 2 ? 10 : 20000, -1), to(from.size(), world_rank);
    const bool talks = same() % 2 == 0;
    if (talks) {
      MPI_Request request;
      MPI_Irecv(from.data(), static_cast<int>(from.size()), MPI_INT, (world_rank + 1) % ranks, 5, MPI_COMM_WORLD,
                &request);
      open.add(request, nullptr);
    }
    start_some(open);
    for (int i = 0; i < count; ++i) {
      std::shared_ptr<Call> call = any_call(count > 20 ? 1024 : 300000);
      MPI_Request request;
      call->begin(Call::How::nonblocking, &request);
      if (own() % 3 == 0) {
        int flag = 0;
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        if (flag) call->check(), call.reset();
      }
      open.add(request, std::move(call));
      const std::uint64_t between = same() % 8;
      if (between == 0) MPI_Barrier(comms[same() % comms.size()].comm);
      if (between == 2) {
        const std::shared_ptr<Call> waits = any_call(1024);
        waits->begin(Call::How::blocking, nullptr);
        waits->check();
      }
      if (between == 1) {
        int sum = world_rank, expected = ranks * (ranks - 1) / 2;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != expected) give_up("an MPI_Allreduce that waits is wrong");
      }
    }
    if (talks) {
      MPI_Request request;
      MPI_Isend(to.data(), static_cast<int>(to.size()), MPI_INT, (world_rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD,
                &request);
      open.add(request, nullptr);
    }
    end_all(open, own, inactive, one_or_all);
    if (talks && from.back() != (world_rank + 1) % ranks) give_up("a message is wrong");
  }
  for (Prepared& one : prepared) MPI_Request_free(&one.request);
  prepared.clear();  // their types
  MPI_Request_free(&inactive);
  MPI_Comm_free(&comms[1].comm);
  MPI_Comm_free(&comms[2].comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) std::printf("done\n");
  MPI_Finalize();
  return 0;
}
