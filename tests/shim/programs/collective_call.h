// One collective call with its data, blocking, nonblocking or persistent, which knows what is to come out of it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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
    "barrier",   "bcast",      "reduce",   "allreduce", "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan",     "gather",   "gatherv",   "scatter",        "scatterv",
    "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};

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
        shape_(number),
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

  // Blocking, nonblocking, or as a persistent one, which is to be started.
  enum class How { blocking, nonblocking, persistent };

  void begin(How how, MPI_Request* request) {
    make_type();
    lay_out_buffers();
    fill_in();
    if (how == How::blocking)
      do_blocking();
    else if (how == How::nonblocking)
      do_nonblocking(request);
    else
      prepare(request);
    // A type may be freed while it is in use.
    if (type_ != MPI_DATATYPE_NULL && number_ % 2 == 0) MPI_Type_free(&type_);
  }

  // Before a persistent one is started: other data.
  void renew(std::uint64_t number) {
    number_ = number;
    std::fill(out_.begin(), out_.end(), untouched);
    fill_in();
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
        if (in_place_) {  // what lies behind is anybody's
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
        if (in_place_) return;
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
  void make_type() {
    used_type_ = MPI_INT;
    if (stride_ == 1) return;
    // An int with a gap behind it.
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type_);
    MPI_Type_commit(&type_);
    used_type_ = type_;
  }

  void lay_out_buffers() {
    const int n = comm_.ranks, me = comm_.rank;
    const std::uint64_t shape = shape_;
    counts_.resize(at(n)), places_ = counts_, out_counts_ = counts_, out_places_ = counts_;
    types_.assign(at(n), used_type_);
    const bool has_root =
        kind_ == reduce || kind_ == gather || kind_ == gatherv || kind_ == scatter || kind_ == scatterv;
    if ((has_root && me != root_) || kind_ >= alltoall || kind_ == bcast || kind_ == barrier) in_place_ = false;
    switch (kind_) {
      case barrier: break;
      case bcast: out_ = room(count_); break;
      case reduce:
      case allreduce:
      case scan:
      case exscan: in_ = room(count_), out_ = room(count_); break;
      case reduce_scatter:
      case reduce_scatter_block: {
        int all = 0;
        for (int r = 0; r < n; ++r) {
          counts_[at(r)] = kind_ == reduce_scatter ? uneven(shape, r, 0, count_) : count_;
          places_[at(r)] = all;
          all += counts_[at(r)];
        }
        in_ = room(all), out_ = room(in_place_ ? all : counts_[at(me)]);
        break;
      }
      case gather:
      case gatherv:
        lay_out(counts_, places_, [&](int r) { return kind_ == gatherv ? uneven(shape, r, root_, count_) : count_; });
        in_ = room(counts_[at(me)]), out_ = room(me == root_ ? end(counts_, places_) : 0);
        break;
      case scatter:
      case scatterv:
        lay_out(counts_, places_, [&](int r) { return kind_ == scatterv ? uneven(shape, root_, r, count_) : count_; });
        in_ = room(me == root_ ? end(counts_, places_) : 0), out_ = room(counts_[at(me)]);
        break;
      case allgather:
      case allgatherv:
        lay_out(counts_, places_, [&](int r) { return kind_ == allgatherv ? uneven(shape, r, 0, count_) : count_; });
        in_ = room(counts_[at(me)]), out_ = room(end(counts_, places_));
        break;
      default:
        lay_out(out_counts_, out_places_,
                [&](int r) { return kind_ == alltoall ? count_ : uneven(shape, me, r, count_); });
        lay_out(counts_, places_, [&](int r) { return kind_ == alltoall ? count_ : uneven(shape, r, me, count_); });
        in_ = room(end(out_counts_, out_places_)), out_ = room(end(counts_, places_));
        // Places are in bytes.
        byte_places_ = places_, out_byte_places_ = out_places_;
        for (int& place : byte_places_) place *= static_cast<int>(sizeof(int)) * stride_;
        for (int& place : out_byte_places_) place *= static_cast<int>(sizeof(int)) * stride_;
    }
  }

  void fill_in() {
    const int n = comm_.ranks, me = comm_.rank;
    std::vector<int>& from = in_place_ && kind_ != scatter && kind_ != scatterv ? out_ : in_;
    switch (kind_) {
      case barrier: break;
      case bcast:
        if (me == root_) fill(out_, 0, count_, root_, 0);
        break;
      case reduce:
      case allreduce:
      case scan:
      case exscan: fill(from, 0, count_, me, 0); break;
      case reduce_scatter:
      case reduce_scatter_block: fill(from, 0, end(counts_, places_), me, 0); break;
      case gather:
      case gatherv:
      case allgather:
      case allgatherv:
        fill(from, in_place_ ? places_[at(me)] : 0, counts_[at(me)], me,
             kind_ == gather || kind_ == gatherv ? root_ : 0);
        break;
      case scatter:
      case scatterv:
        for (int r = 0; r < n && me == root_; ++r) fill(in_, places_[at(r)], counts_[at(r)], me, r);
        break;
      default:
        for (int r = 0; r < n; ++r) fill(in_, out_places_[at(r)], out_counts_[at(r)], me, r);
    }
  }

  const void* from() const { return in_place_ ? MPI_IN_PLACE : in_.data(); }
  void* to() { return in_place_ ? MPI_IN_PLACE : out_.data(); }  // of scatters
  int own() const { return counts_[at(comm_.rank)]; }

  void do_blocking() {
    switch (kind_) {
      case barrier: MPI_Barrier(comm_.comm); break;
      case bcast: MPI_Bcast(out_.data(), count_, used_type_, root_, comm_.comm); break;
      case reduce:
        MPI_Reduce(from(), comm_.rank == root_ ? out_.data() : nullptr, count_, MPI_INT, MPI_SUM, root_, comm_.comm);
        break;
      case allreduce: MPI_Allreduce(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm); break;
      case reduce_scatter: MPI_Reduce_scatter(from(), out_.data(), counts_.data(), MPI_INT, MPI_SUM, comm_.comm); break;
      case reduce_scatter_block:
        MPI_Reduce_scatter_block(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm);
        break;
      case scan: MPI_Scan(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm); break;
      case exscan: MPI_Exscan(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm); break;
      case gather: MPI_Gather(from(), count_, used_type_, out_.data(), count_, used_type_, root_, comm_.comm); break;
      case gatherv:
        MPI_Gatherv(from(), own(), used_type_, out_.data(), counts_.data(), places_.data(), used_type_, root_,
                    comm_.comm);
        break;
      case scatter: MPI_Scatter(in_.data(), count_, used_type_, to(), count_, used_type_, root_, comm_.comm); break;
      case scatterv:
        MPI_Scatterv(in_.data(), counts_.data(), places_.data(), used_type_, to(), own(), used_type_, root_,
                     comm_.comm);
        break;
      case allgather: MPI_Allgather(from(), count_, used_type_, out_.data(), count_, used_type_, comm_.comm); break;
      case allgatherv:
        MPI_Allgatherv(from(), own(), used_type_, out_.data(), counts_.data(), places_.data(), used_type_, comm_.comm);
        break;
      case alltoall: MPI_Alltoall(in_.data(), count_, used_type_, out_.data(), count_, used_type_, comm_.comm); break;
      case alltoallv:
        MPI_Alltoallv(in_.data(), out_counts_.data(), out_places_.data(), used_type_, out_.data(), counts_.data(),
                      places_.data(), used_type_, comm_.comm);
        break;
      case alltoallw:
        MPI_Alltoallw(in_.data(), out_counts_.data(), out_byte_places_.data(), types_.data(), out_.data(),
                      counts_.data(), byte_places_.data(), types_.data(), comm_.comm);
        break;
      default: break;
    }
  }
  void do_nonblocking(MPI_Request* request) {
    switch (kind_) {
      case barrier: MPI_Ibarrier(comm_.comm, request); break;
      case bcast: MPI_Ibcast(out_.data(), count_, used_type_, root_, comm_.comm, request); break;
      case reduce:
        MPI_Ireduce(from(), comm_.rank == root_ ? out_.data() : nullptr, count_, MPI_INT, MPI_SUM, root_, comm_.comm,
                    request);
        break;
      case allreduce: MPI_Iallreduce(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, request); break;
      case reduce_scatter:
        MPI_Ireduce_scatter(from(), out_.data(), counts_.data(), MPI_INT, MPI_SUM, comm_.comm, request);
        break;
      case reduce_scatter_block:
        MPI_Ireduce_scatter_block(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, request);
        break;
      case scan: MPI_Iscan(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, request); break;
      case exscan: MPI_Iexscan(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, request); break;
      case gather:
        MPI_Igather(from(), count_, used_type_, out_.data(), count_, used_type_, root_, comm_.comm, request);
        break;
      case gatherv:
        MPI_Igatherv(from(), own(), used_type_, out_.data(), counts_.data(), places_.data(), used_type_, root_,
                     comm_.comm, request);
        break;
      case scatter:
        MPI_Iscatter(in_.data(), count_, used_type_, to(), count_, used_type_, root_, comm_.comm, request);
        break;
      case scatterv:
        MPI_Iscatterv(in_.data(), counts_.data(), places_.data(), used_type_, to(), own(), used_type_, root_,
                      comm_.comm, request);
        break;
      case allgather:
        MPI_Iallgather(from(), count_, used_type_, out_.data(), count_, used_type_, comm_.comm, request);
        break;
      case allgatherv:
        MPI_Iallgatherv(from(), own(), used_type_, out_.data(), counts_.data(), places_.data(), used_type_, comm_.comm,
                        request);
        break;
      case alltoall:
        MPI_Ialltoall(in_.data(), count_, used_type_, out_.data(), count_, used_type_, comm_.comm, request);
        break;
      case alltoallv:
        MPI_Ialltoallv(in_.data(), out_counts_.data(), out_places_.data(), used_type_, out_.data(), counts_.data(),
                       places_.data(), used_type_, comm_.comm, request);
        break;
      case alltoallw:
        MPI_Ialltoallw(in_.data(), out_counts_.data(), out_byte_places_.data(), types_.data(), out_.data(),
                       counts_.data(), byte_places_.data(), types_.data(), comm_.comm, request);
        break;
      default: break;
    }
  }
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
  void prepare(MPI_Request* request) {
    switch (kind_) {
      case barrier: MPI_Barrier_init(comm_.comm, MPI_INFO_NULL, request); break;
      case bcast: MPI_Bcast_init(out_.data(), count_, used_type_, root_, comm_.comm, MPI_INFO_NULL, request); break;
      case reduce:
        MPI_Reduce_init(from(), comm_.rank == root_ ? out_.data() : nullptr, count_, MPI_INT, MPI_SUM, root_,
                        comm_.comm, MPI_INFO_NULL, request);
        break;
      case allreduce:
        MPI_Allreduce_init(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, MPI_INFO_NULL, request);
        break;
      case reduce_scatter:
        MPI_Reduce_scatter_init(from(), out_.data(), counts_.data(), MPI_INT, MPI_SUM, comm_.comm, MPI_INFO_NULL,
                                request);
        break;
      case reduce_scatter_block:
        MPI_Reduce_scatter_block_init(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, MPI_INFO_NULL,
                                      request);
        break;
      case scan:
        MPI_Scan_init(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, MPI_INFO_NULL, request);
        break;
      case exscan:
        MPI_Exscan_init(from(), out_.data(), count_, MPI_INT, MPI_SUM, comm_.comm, MPI_INFO_NULL, request);
        break;
      case gather:
        MPI_Gather_init(from(), count_, used_type_, out_.data(), count_, used_type_, root_, comm_.comm, MPI_INFO_NULL,
                        request);
        break;
      case gatherv:
        MPI_Gatherv_init(from(), own(), used_type_, out_.data(), counts_.data(), places_.data(), used_type_, root_,
                         comm_.comm, MPI_INFO_NULL, request);
        break;
      case scatter:
        MPI_Scatter_init(in_.data(), count_, used_type_, to(), count_, used_type_, root_, comm_.comm, MPI_INFO_NULL,
                         request);
        break;
      case scatterv:
        MPI_Scatterv_init(in_.data(), counts_.data(), places_.data(), used_type_, to(), own(), used_type_, root_,
                          comm_.comm, MPI_INFO_NULL, request);
        break;
      case allgather:
        MPI_Allgather_init(from(), count_, used_type_, out_.data(), count_, used_type_, comm_.comm, MPI_INFO_NULL,
                           request);
        break;
      case allgatherv:
        MPI_Allgatherv_init(from(), own(), used_type_, out_.data(), counts_.data(), places_.data(), used_type_,
                            comm_.comm, MPI_INFO_NULL, request);
        break;
      case alltoall:
        MPI_Alltoall_init(in_.data(), count_, used_type_, out_.data(), count_, used_type_, comm_.comm, MPI_INFO_NULL,
                          request);
        break;
      case alltoallv:
        MPI_Alltoallv_init(in_.data(), out_counts_.data(), out_places_.data(), used_type_, out_.data(), counts_.data(),
                           places_.data(), used_type_, comm_.comm, MPI_INFO_NULL, request);
        break;
      case alltoallw:
        MPI_Alltoallw_init(in_.data(), out_counts_.data(), out_byte_places_.data(), types_.data(), out_.data(),
                           counts_.data(), byte_places_.data(), types_.data(), comm_.comm, MPI_INFO_NULL, request);
        break;
      default: break;
    }
  }
#else
  void prepare(MPI_Request* /*request*/) { give_up("this MPI has no persistent collectives"); }
#endif

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
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
  std::uint64_t number_, shape_;  // of its data, and of its blocks
  int count_, root_;
  bool in_place_;
  int stride_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL, used_type_ = MPI_INT;
  std::vector<int> in_, out_, counts_, places_, out_counts_, out_places_, byte_places_, out_byte_places_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace
