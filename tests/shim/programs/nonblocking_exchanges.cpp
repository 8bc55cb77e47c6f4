// Collectives that reduce nothing, nonblocking and persistent, several under way at once, completed in all the ways
// there are. Each call is made once so, as MPI_ or, on some ranks, as PMPI_ (which Millrace does not take), and once as
// PMPI_ and blocking; both must leave the same bytes in the whole of their buffers: in the data and in everything
// between.
//
// Arguments: the seed, the number of batches, which calls (all, each in turn, or the name of a blocking one), the most
// bytes of a block, "mixed" if some ranks are to leave calls to the host, how often a persistent one is started (3).
// Prints one line for each mistake (at most MOST_COMPLAINTS a rank, or 5), then "done" if there was none.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "nonblocking_case.h"

namespace {

bool is_persistent(Form form) { return form == Form::persistent || form == Form::persistent_large; }

struct Pending {
  Pending(const std::string& name, const Comm& comm, int call) : one(name, comm, call), arguments(one) {}
  Case one;
  Arguments arguments;
  Form form = Form::nonblocking;
};

// What the host alone gets wrong, all ranks agreeing that it is tried.
bool wrong_by_itself(const Case& one) {
  // Open MPI 4.1 reads as many datatypes as there are neighbours, if the communicator has a topology.
  if (is_openmpi_4 && one.name == "Alltoallw" && !one.comm->sources.empty()) return true;
  // Open MPI 4.1, MPICH 4.0 and Intel MPI leave wrong data; Millrace takes no part in it with any host.
  if ((one.name == "Alltoallv" || one.name == "Alltoallw") && one.in_place) return true;
  return is_intel && one.name == "Gather";  // crashes
}

void check(int error, const char* what) {
  if (error != MPI_SUCCESS && mistakes++ < most_complaints())
    std::printf("rank %d: %s: error %d\n", world_rank, what, error);
}

// Millrace compiles datatypes that the host has accepted in a call before.
void use_once(const Side& side) {
  static char memory[4096];
  char packed[64];
  for (const Type& type : side.types) {
    int position = 0;
    if (type.owned)
      MPI_Pack(memory + sizeof memory / 2, 1, type.handle, packed, sizeof packed, &position, MPI_COMM_SELF);
  }
}

// Waits for all, in a way of this rank's choice. Inactive and null requests may be among them.
void complete(std::vector<MPI_Request>& requests, Random& random, bool any_persistent) {
  const int count = static_cast<int>(requests.size());
  std::vector<int> indices(requests.size() + 1);
  std::vector<MPI_Status> statuses(requests.size() + 1);
  int flag = 0, index = 0, done = 0;
  const bool ignore = random.one_in(2);
  MPI_Status* const many = ignore ? MPI_STATUSES_IGNORE : statuses.data();
  MPI_Status* const one = ignore ? MPI_STATUS_IGNORE : statuses.data();
  int way = random.below(9);
  // MPI_Testall of MPICH and its relatives, by themselves, fails whenever a persistent collective is among the
  // requests.
  if (way == 3 && any_persistent && !is_openmpi) way = 2;
  switch (way) {
    case 0:
      for (MPI_Request& request : requests) check(MPI_Wait(&request, one), "Wait");
      return;
    case 1:
      for (MPI_Request& request : requests)
        for (flag = 0; !flag;) check(MPI_Test(&request, &flag, one), "Test");
      return;
    case 2: check(MPI_Waitall(count, requests.data(), many), "Waitall"); return;
    case 3:
      while (!flag) check(MPI_Testall(count, requests.data(), &flag, many), "Testall");
      return;
    case 4:
      do check(MPI_Waitany(count, requests.data(), &index, one), "Waitany");
      while (index != MPI_UNDEFINED);
      return;
    case 5:
      do check(MPI_Testany(count, requests.data(), &index, &flag, one), "Testany");
      while (!flag || index != MPI_UNDEFINED);
      return;
    case 6:
      do check(MPI_Waitsome(count, requests.data(), &done, indices.data(), many), "Waitsome");
      while (done != MPI_UNDEFINED);
      return;
    case 7:
      do check(MPI_Testsome(count, requests.data(), &done, indices.data(), many), "Testsome");
      while (done != MPI_UNDEFINED);
      return;
    default:
      for (MPI_Request& request : requests) {
        for (flag = request == MPI_REQUEST_NULL; !flag;)
          check(MPI_Request_get_status(request, &flag, one), "Request_get_status");
        check(MPI_Wait(&request, one), "Wait");
      }
  }
}

void refill(Side& side, std::uint64_t content) {
  for (std::size_t i = 0; i < side.memory.size(); ++i)
    side.memory[i] = static_cast<char>(mix(content + i / 8) >> i % 8 * 8);
  side.again = side.memory;
}

// Which of two messages between the same two neighbours goes where differs within a host, between its blocking call and
// the others.
void by_host(Case& one) {
  if (!one.neighbor) {
    check(one.blocking(false), one.name.c_str());
    return;
  }
  MPI_Request request;
  Arguments arguments(one);
  arguments.sent = one.from.hosts(), arguments.received = one.to.hosts();
  check(begin_nonblocking(one, arguments, false, &request), one.name.c_str());
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), one.name.c_str());
}

void one_batch(const std::vector<std::pair<std::string, const Comm*>>& calls, int batch, bool mixed, int starts) {
  static const std::vector<Form> forms = forms_of_host();
  Random common(seed * 7919 + static_cast<std::uint64_t>(batch));
  Random own(common.next() ^ mix(static_cast<std::uint64_t>(world_rank) + 5));
  std::vector<std::unique_ptr<Pending>> pending;
  std::vector<MPI_Request> requests;
  bool again = false;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    // A form is chosen by all ranks alike: a persistent collective does not match another.
    const Form form = forms[static_cast<std::size_t>(common.below(static_cast<int>(forms.size())))];
    const auto& [name, comm] = calls[i];
    if (comm->handle == MPI_COMM_NULL) continue;
    auto one = std::make_unique<Pending>(name, *comm, batch * 8 + static_cast<int>(i));
    if (one->one.avoided() || wrong_by_itself(one->one)) continue;
    one->form = form;
    again = again || is_persistent(form);
    if (!own.one_in(4)) use_once(one->one.from), use_once(one->one.to);
    const bool ours = !mixed || own.one_in(2);
    MPI_Request request = MPI_REQUEST_NULL;
    check(begin(one->one, one->arguments, form, ours, &request), name.c_str());
    requests.push_back(request);
    pending.push_back(std::move(one));
  }
  for (int round = 0; round < (again ? starts : 1); ++round) {
    for (std::size_t i = 0; i < pending.size(); ++i)
      if (is_persistent(pending[i]->form)) check(MPI_Start(&requests[i]), "Start");
    complete(requests, own, again);
    for (std::size_t i = 0; i < pending.size(); ++i) {
      Case& one = pending[i]->one;
      if (round > 0 && !is_persistent(pending[i]->form)) continue;
      by_host(one);
      one.compare();
      if (!is_persistent(pending[i]->form)) continue;
      refill(one.from, common.next() + static_cast<std::uint64_t>(world_rank));
      refill(one.to, common.next() + static_cast<std::uint64_t>(world_rank) + 100);
    }
  }
  for (std::size_t i = 0; i < pending.size(); ++i)
    if (is_persistent(pending[i]->form)) check(MPI_Request_free(&requests[i]), "Request_free");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int batches = argc > 2 ? std::atoi(argv[2]) : 100;
  const std::string which = argc > 3 ? argv[3] : "all";
  if (argc > 4) most_block_bytes = std::atoi(argv[4]);
  const bool mixed = argc > 5 && std::string(argv[5]) == "mixed";
  const int starts = argc > 6 ? std::atoi(argv[6]) : 3;
  know_host();
  make_communicators();
  // The ranks of a half do not know what those of the other do: everybody draws the same.
  std::vector<std::string> all = names;
  for (int i = 0; i < 3; ++i) all.push_back("Bcast");
  Random random(seed);
  for (int batch = 0; batch < batches; ++batch) {
    std::vector<std::pair<std::string, const Comm*>> calls;
    for (int length_of_batch = 1 + random.below(4); length_of_batch > 0; --length_of_batch) {
      const std::string name = which == "each" ? all[static_cast<std::size_t>(batch) % all.size()]
                               : which == "all"
                                   ? all[static_cast<std::size_t>(random.below(static_cast<int>(all.size())))]
                                   : which;
      // The first six are for all calls, from the fourth on they have a topology.
      const bool neighbor = name.starts_with("Neighbor");
      const int place = neighbor ? 3 + random.below(static_cast<int>(comms.size()) - 3) : random.below(6);
      calls.emplace_back(name, &comms[static_cast<std::size_t>(place)]);
    }
    one_batch(calls, batch, mixed, starts);
  }
  int total = 0;
  MPI_Allreduce(&mistakes, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (Comm& comm : comms)
    if (comm.handle != MPI_COMM_NULL) MPI_Comm_free(&comm.handle);
  if (world_rank == 0) std::printf(total ? "%d wrong\n" : "done\n", total);
  MPI_Finalize();
  return mistakes != 0;
}
