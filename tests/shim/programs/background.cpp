// Nonblocking collectives of plain data and of vectors, many under way at a time on communicators that overlap, ended
// by every call that can end them, in orders that differ between ranks, mixed with messages and with collectives that
// wait. SEED ROUNDS MOST [KINDS]: so many rounds, each with up to MOST calls under way; KINDS: "plain" leaves out
// vectors. Prints "done", or what is wrong.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

enum Kind {
  barrier,
  bcast,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  kinds
};
const char* const names[] = {
    "Ibarrier",   "Ibcast",      "Ireduce",   "Iallreduce", "Ireduce_scatter", "Ireduce_scatter_block",
    "Iscan",      "Iexscan",     "Igather",   "Igatherv",   "Iscatter",        "Iscatterv",
    "Iallgather", "Iallgatherv", "Ialltoall", "Ialltoallv", "Ialltoallw"};

int world_rank = 0;

[[noreturn]] void give_up(const std::string& what) {
  std::printf("rank %d: %s\n", world_rank, what.c_str());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

// What `rank` sends as element `index` of call `number` to `peer`: sums of them are exact.
int value(std::uint64_t number, int rank, int peer, int index) {
  return static_cast<int>((number * 7919 + static_cast<std::uint64_t>(rank) * 104729 +
                           static_cast<std::uint64_t>(peer) * 1299709 + static_cast<std::uint64_t>(index) * 31) %
                          100003);
}

constexpr int untouched = -77;

struct Comm {
  MPI_Comm comm;
  int rank, ranks;
};

// How many elements of a call whose blocks differ go from one rank to another.
int uneven(std::uint64_t number, int from, int to, int most) {
  return static_cast<int>((number + static_cast<std::uint64_t>(from) * 5 + static_cast<std::uint64_t>(to) * 3) %
                          static_cast<std::uint64_t>(most + 1));
}

// One call. Elements are ints, `stride` apart where they go as vectors.
class Call {
 public:
  Call(const Comm& comm, Kind kind, std::uint64_t number, int count, int root, bool in_place, bool strided)
      : comm_(comm),
        kind_(kind),
        number_(number),
        count_(count),
        root_(root),
        in_place_(in_place),
        stride_(strided && (kind == bcast || kind >= gather) ? 2 : 1) {}
  ~Call() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  std::string name() const {
    return std::string(names[kind_]) + " number " + std::to_string(number_) + " of " + std::to_string(count_) + " on " +
           std::to_string(comm_.ranks) + " ranks, root " + std::to_string(root_) + (in_place_ ? ", in place" : "") +
           (stride_ == 2 ? ", strided" : "");
  }

  void begin(MPI_Request* request) {
    const int n = comm_.ranks, me = comm_.rank;
    MPI_Datatype type = MPI_INT;
    if (stride_ == 2) {
      // An int with a gap behind it.
      MPI_Datatype resized;
      MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &resized);
      MPI_Type_commit(&resized);
      type = type_ = resized;
    }
    counts_.resize(static_cast<std::size_t>(n)), places_ = counts_, out_counts_ = counts_, out_places_ = counts_;
    types_.assign(static_cast<std::size_t>(n), type);
    const void* in = MPI_IN_PLACE;
    switch (kind_) {
      case barrier: MPI_Ibarrier(comm_.comm, request); break;
      case bcast:
        out_ = room(count_);
        if (me == root_) fill(out_, 0, count_, root_, 0);
        MPI_Ibcast(out_.data(), count_, type, root_, comm_.comm, request);
        break;
      case reduce:
      case allreduce:
      case scan:
      case exscan:
        if (kind_ == reduce && me != root_) in_place_ = false;
        out_ = room(count_);
        in_ = room(count_);
        fill(in_placed() ? out_ : in_, 0, count_, me, 0);
        if (!in_placed()) in = in_.data();
        if (kind_ == reduce)
          MPI_Ireduce(in, me == root_ ? out_.data() : nullptr, count_, MPI_INT, MPI_SUM, root_, comm_.comm, request);
        else if (kind_ == allreduce)
          MPI_Iallreduce(in, out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, request);
        else if (kind_ == scan)
          MPI_Iscan(in, out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, request);
        else
          MPI_Iexscan(in, out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, request);
        break;
      case reduce_scatter:
      case reduce_scatter_block: {
        int all = 0;
        for (int r = 0; r < n; ++r) {
          counts_[at(r)] = kind_ == reduce_scatter ? uneven(number_, r, 0, count_) : count_;
          places_[at(r)] = all;
          all += counts_[at(r)];
        }
        in_ = room(all), out_ = room(in_placed() ? all : counts_[at(me)]);
        fill(in_placed() ? out_ : in_, 0, all, me, 0);
        if (!in_placed()) in = in_.data();
        if (kind_ == reduce_scatter)
          MPI_Ireduce_scatter(in, out_.data(), counts_.data(), MPI_INT, MPI_SUM, comm_.comm, request);
        else
          MPI_Ireduce_scatter_block(in, out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, request);
        break;
      }
      case gather:
      case gatherv:
        if (me != root_) in_place_ = false;
        lay_out(counts_, places_, [&](int r) { return kind_ == gatherv ? uneven(number_, r, root_, count_) : count_; });
        in_ = room(counts_[at(me)]), out_ = room(me == root_ ? end(counts_, places_) : 0);
        fill(in_placed() ? out_ : in_, in_placed() ? places_[at(me)] : 0, counts_[at(me)], me, root_);
        if (!in_placed()) in = in_.data();
        if (kind_ == gather)
          MPI_Igather(in, count_, type, out_.data(), count_, type, root_, comm_.comm, request);
        else
          MPI_Igatherv(in, counts_[at(me)], type, out_.data(), counts_.data(), places_.data(), type, root_, comm_.comm,
                       request);
        break;
      case scatter:
      case scatterv: {
        if (me != root_) in_place_ = false;
        lay_out(counts_, places_,
                [&](int r) { return kind_ == scatterv ? uneven(number_, root_, r, count_) : count_; });
        in_ = room(me == root_ ? end(counts_, places_) : 0), out_ = room(counts_[at(me)]);
        if (me == root_)
          for (int r = 0; r < n; ++r) fill(in_, places_[at(r)], counts_[at(r)], me, r);
        void* const to = in_placed() ? MPI_IN_PLACE : out_.data();
        if (kind_ == scatter)
          MPI_Iscatter(in_.data(), count_, type, to, count_, type, root_, comm_.comm, request);
        else
          MPI_Iscatterv(in_.data(), counts_.data(), places_.data(), type, to, counts_[at(me)], type, root_, comm_.comm,
                        request);
        break;
      }
      case allgather:
      case allgatherv:
        lay_out(counts_, places_, [&](int r) { return kind_ == allgatherv ? uneven(number_, r, 0, count_) : count_; });
        in_ = room(counts_[at(me)]), out_ = room(end(counts_, places_));
        fill(in_placed() ? out_ : in_, in_placed() ? places_[at(me)] : 0, counts_[at(me)], me, 0);
        if (!in_placed()) in = in_.data();
        if (kind_ == allgather)
          MPI_Iallgather(in, count_, type, out_.data(), count_, type, comm_.comm, request);
        else
          MPI_Iallgatherv(in, counts_[at(me)], type, out_.data(), counts_.data(), places_.data(), type, comm_.comm,
                          request);
        break;
      default:
        in_place_ = false;
        lay_out(out_counts_, out_places_,
                [&](int r) { return kind_ == alltoall ? count_ : uneven(number_, me, r, count_); });
        lay_out(counts_, places_, [&](int r) { return kind_ == alltoall ? count_ : uneven(number_, r, me, count_); });
        in_ = room(end(out_counts_, out_places_)), out_ = room(end(counts_, places_));
        for (int r = 0; r < n; ++r) fill(in_, out_places_[at(r)], out_counts_[at(r)], me, r);
        if (kind_ == alltoall)
          MPI_Ialltoall(in_.data(), count_, type, out_.data(), count_, type, comm_.comm, request);
        else if (kind_ == alltoallv)
          MPI_Ialltoallv(in_.data(), out_counts_.data(), out_places_.data(), type, out_.data(), counts_.data(),
                         places_.data(), type, comm_.comm, request);
        else {
          // Places are in bytes.
          byte_places_ = places_, out_byte_places_ = out_places_;
          for (int& place : byte_places_) place *= static_cast<int>(sizeof(int)) * stride_;
          for (int& place : out_byte_places_) place *= static_cast<int>(sizeof(int)) * stride_;
          MPI_Ialltoallw(in_.data(), out_counts_.data(), out_byte_places_.data(), types_.data(), out_.data(),
                         counts_.data(), byte_places_.data(), types_.data(), comm_.comm, request);
        }
    }
    // A type may be freed while it is in use.
    if (type_ != MPI_DATATYPE_NULL && number_ % 2 == 0) MPI_Type_free(&type_);
  }

  void check() const {
    const int n = comm_.ranks, me = comm_.rank;
    std::vector<int> expected = room_like(out_);
    const auto sums = [&](int place, int first, int count, int below) {
      for (int i = 0; i < count; ++i) {
        int sum = 0;
        for (int r = 0; r < below; ++r) sum += value(number_, r, 0, first + i);
        put(expected, place + i, sum);
      }
    };
    switch (kind_) {
      case barrier: return;
      case bcast: fill(expected, 0, count_, root_, 0); break;
      case reduce:
        if (me == root_) sums(0, 0, count_, n);
        break;
      case allreduce: sums(0, 0, count_, n); break;
      case scan: sums(0, 0, count_, me + 1); break;
      case exscan:
        if (me == 0) return;
        sums(0, 0, count_, me);
        break;
      case reduce_scatter:
      case reduce_scatter_block:
        sums(0, places_[at(me)], counts_[at(me)], n);
        if (in_placed()) {  // what lies behind is anybody's
          if (!std::equal(expected.begin(), expected.begin() + counts_[at(me)] * stride_, out_.begin()))
            give_up(name() + ": wrong");
          return;
        }
        break;
      case gather:
      case gatherv:
        if (me != root_) return;
        for (int r = 0; r < n; ++r) fill(expected, places_[at(r)], counts_[at(r)], r, root_);
        break;
      case scatter:
      case scatterv:
        if (in_placed()) return;
        fill(expected, 0, counts_[at(me)], root_, me);
        break;
      case allgather:
      case allgatherv:
        for (int r = 0; r < n; ++r) fill(expected, places_[at(r)], counts_[at(r)], r, 0);
        break;
      default:
        for (int r = 0; r < n; ++r) fill(expected, places_[at(r)], counts_[at(r)], r, me);
    }
    for (std::size_t i = 0; i < out_.size(); ++i)
      if (out_[i] != expected[i])
        give_up(name() + ": element " + std::to_string(i) + " is " + std::to_string(out_[i]) + ", not " +
                std::to_string(expected[i]));
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  bool in_placed() const { return in_place_; }
  std::vector<int> room(int elements) const { return std::vector<int>(at(elements * stride_ + 1), untouched); }
  static std::vector<int> room_like(const std::vector<int>& other) { return std::vector<int>(other.size(), untouched); }
  void put(std::vector<int>& where, int place, int what) const { where[at(place * stride_)] = what; }
  void fill(std::vector<int>& where, int place, int count, int rank, int peer) const {
    for (int i = 0; i < count; ++i) put(where, place + i, value(number_, rank, peer, i));
  }
  template <class Count>
  void lay_out(std::vector<int>& counts, std::vector<int>& places, const Count& count) const {
    int place = 0;
    for (int r = 0; r < comm_.ranks; ++r) {
      counts[at(r)] = count(r);
      places[at(r)] = place;
      place += counts[at(r)] + (kind_ == gather || kind_ == scatter || kind_ == allgather || kind_ == alltoall ? 0 : 1);
    }
  }
  static int end(const std::vector<int>& counts, const std::vector<int>& places) {
    return counts.back() + places.back();
  }

  Comm comm_;
  Kind kind_;
  std::uint64_t number_;
  int count_, root_;
  bool in_place_;
  int stride_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::vector<int> in_, out_, counts_, places_, out_counts_, out_places_, byte_places_, out_byte_places_;
  std::vector<MPI_Datatype> types_;
};

// Requests under way, and what is to be checked when they have completed.
struct Open {
  std::vector<MPI_Request> requests;
  std::vector<std::unique_ptr<Call>> calls;  // null: a message, or nothing

  void add(MPI_Request request, std::unique_ptr<Call> call) {
    requests.push_back(request);
    calls.push_back(std::move(call));
  }
  void ended(int index, const MPI_Status&) {  // that of a collective says nothing, and with Open MPI 4 anything
    Call* const call = calls[static_cast<std::size_t>(index)].get();
    if (!call) return;
    if (requests[static_cast<std::size_t>(index)] != MPI_REQUEST_NULL) give_up(call->name() + ": request not null");
    call->check();
    calls[static_cast<std::size_t>(index)].reset();
  }
};

void end_all(Open& open, std::mt19937_64& own, MPI_Request inactive) {
  const std::size_t total = open.requests.size();
  // One that is never active, in the middle.
  const std::size_t place = total / 2;
  open.requests.insert(open.requests.begin() + static_cast<std::ptrdiff_t>(place), inactive);
  open.calls.insert(open.calls.begin() + static_cast<std::ptrdiff_t>(place), nullptr);
  const int count = static_cast<int>(open.requests.size());
  std::vector<MPI_Status> statuses(open.requests.size());
  std::vector<int> indices(open.requests.size());
  const auto is_left = [&] {
    for (std::size_t i = 0; i < open.requests.size(); ++i)
      if (i != place && open.requests[i] != MPI_REQUEST_NULL) return true;
    return false;
  };
  while (is_left()) {
    int flag = 0, index = 0, some = 0;
    const int pick = static_cast<int>(own() % open.requests.size());
    MPI_Request& one = open.requests[static_cast<std::size_t>(pick)];
    MPI_Status status;
    switch (own() % 11) {
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
        for (std::size_t i = 0; i < open.calls.size(); ++i)
          if (open.calls[i]) open.calls[i]->check(), open.calls[i].reset();
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
    for (int i = 0; i < count; ++i) {
      const Comm& comm = comms[same() % comms.size()];
      const auto kind = static_cast<Kind>(same() % kinds);
      int size = sizes[same() % std::size(sizes)];
      if (count > 20) size = std::min(size, 1024);
      const std::uint64_t root = same();
      const bool in_place = same() % 3 == 0, strided = same() % 4 == 0 && !plain;
      ++number;
      auto call = std::make_unique<Call>(
          comm, kind, number, size, static_cast<int>(root % static_cast<std::uint64_t>(comm.ranks)), in_place, strided);
      MPI_Request request;
      call->begin(&request);
      if (own() % 3 == 0) {
        int flag = 0;
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        if (flag) call->check(), call.reset();
      }
      open.add(request, std::move(call));
      const std::uint64_t between = same() % 8;
      if (between == 0) MPI_Barrier(comms[same() % comms.size()].comm);
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
    end_all(open, own, inactive);
    if (talks && from.back() != (world_rank + 1) % ranks) give_up("a message is wrong");
  }
  MPI_Request_free(&inactive);
  MPI_Comm_free(&comms[1].comm);
  MPI_Comm_free(&comms[2].comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) std::printf("done\n");
  MPI_Finalize();
  return 0;
}
