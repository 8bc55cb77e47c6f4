// Collective calls of few shapes, over and over, with other data and buffers each time: what is remembered of a call
// (shim/shared/remembered_calls.h) must hold for the next one, or be given up in time. In between come calls of the
// same words that mean something else: on a communicator or with a datatype that has taken the place of one that was
// freed, in place, with other roots.
//
// Usage: repeated_calls SEED CALLS [overlaps]. Prints "done" on rank 0.
//   overlaps   also calls that the standard forbids and Millrace does all the same, and errors
#include <array>
#include <cstring>
#include <random>

#include "collective_call.h"

namespace {

// Communicators of the same ranks, some in another order, all but the world made anew now and then.
class Communicators {
 public:
  static constexpr int number = 4;
  Communicators() {
    for (int i = 0; i < number; ++i) make(i);
  }
  ~Communicators() {
    for (int i = 1; i < number; ++i) MPI_Comm_free(&comms_[at(i)].comm);
  }
  const Comm& operator[](int i) const { return comms_[at(i)]; }
  void make_again(int i) {
    MPI_Comm_free(&comms_[at(i)].comm);
    make(i);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void make(int i) {
    Comm& comm = comms_[at(i)];
    if (i == 0)
      comm.comm = MPI_COMM_WORLD;
    else if (i == 1)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm.comm);
    else
      MPI_Comm_split(MPI_COMM_WORLD, i == 2 ? 0 : world_rank % 2, -world_rank, &comm.comm);
    MPI_Comm_rank(comm.comm, &comm.rank);
    MPI_Comm_size(comm.comm, &comm.ranks);
  }
  std::array<Comm, number> comms_{};
};

struct Shape {
  Kind kind;
  int comm, count, root;
  bool in_place, strided;
};

void do_call(const Communicators& comms, const Shape& shape, std::uint64_t number) {
  const Comm& comm = comms[shape.comm];
  const int root = shape.root % comm.ranks;
  // MPICH 4.0.2 by itself faults in a large MPI_Reduce in place at a root that is not rank 0.
  const bool in_place = shape.in_place && (shape.kind != reduce || root == 0);
  Call call(comm, shape.kind, number, shape.count, root, in_place, shape.strided);
  MPI_Request none = MPI_REQUEST_NULL;
  call.begin(Call::How::blocking, &none);
  call.check();
}

void random_calls(unsigned seed, int calls) {
  Communicators comms;
  std::mt19937 draw(seed);
  const auto below = [&](int limit) { return static_cast<int>(draw() % static_cast<unsigned>(limit)); };
  // Sizes of every way there is, and some beyond what is remembered.
  const std::array counts{1, 2, 16, 17, 100, 1000, 2100, 8192, 20000};
  std::vector<Shape> shapes(20);
  for (Shape& shape : shapes)
    shape = {static_cast<Kind>(below(kinds)),
             below(Communicators::number),
             counts[static_cast<std::size_t>(below(9))],
             below(8),
             below(4) == 0,
             below(6) == 0};
  std::size_t last = 0;
  for (int number = 1; number <= calls; ++number) {
    if (below(10) < 4) last = static_cast<std::size_t>(below(static_cast<int>(shapes.size())));
    do_call(comms, shapes[last], static_cast<std::uint64_t>(number));
    if (below(50) == 0) comms.make_again(1 + below(Communicators::number - 1));
    // The same words but for one, so that it is not the hash alone that tells them apart.
    if (below(20) == 0) ++shapes[last].root;
    if (below(20) == 0) shapes[last].in_place = !shapes[last].in_place;
  }
}

// A type that takes the handle of another one, of other size.
void other_types(int calls) {
  Comm world{MPI_COMM_WORLD, 0, 0};
  MPI_Comm_rank(world.comm, &world.rank);
  MPI_Comm_size(world.comm, &world.ranks);
  for (int i = 0; i < calls; ++i) {
    const int length = 1 + i % 3;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(length, MPI_INT, &type);
    MPI_Type_commit(&type);
    std::vector<int> all(static_cast<std::size_t>(world.ranks) * 3, -1), own(3, world.rank * 10 + i);
    MPI_Allgather(own.data(), 1, type, all.data(), 1, type, world.comm);
    std::array<int, 3> sent{-1, -1, -1};
    if (world.rank == 0) sent = {i, i + 1, i + 2};
    MPI_Bcast(sent.data(), 1, type, 0, world.comm);
    for (int j = 0; j < length; ++j) {
      if (sent[static_cast<std::size_t>(j)] != i + j) give_up("Bcast of a type in another's place: wrong");
      for (int r = 0; r < world.ranks; ++r)
        if (all[static_cast<std::size_t>(r * length + j)] != r * 10 + i)
          give_up("Allgather of a type in another's place: wrong");
    }
    if (world.rank != 0 && length < 3 && sent[2] != -1) give_up("Bcast of a type in another's place: too much");
    MPI_Type_free(&type);
  }
}

// MPI_Reduce_scatter by an array at one place, which says something else now and then; and by another one, with
// elements of another type.
void other_counts(unsigned seed, int calls) {
  std::mt19937 draw(seed);
  const auto below = [&](int limit) { return static_cast<int>(draw() % static_cast<unsigned>(limit)); };
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<std::vector<int>, 2> arrays;
  for (auto& counts : arrays) counts.assign(static_cast<std::size_t>(ranks), 3);
  const auto check = [&]<class Element>(MPI_Datatype type, std::vector<int>& counts, int number) {
    if (below(6) == 0) {
      const int most = std::array{2, 20, 300}[static_cast<std::size_t>(below(3))], all = 1 + below(most);
      const bool alike = below(2) == 0;  // or one rank gets what another had, so that they are as many in all
      for (int& count : counts) count = alike ? all : below(most);
      if (below(4) == 0) std::swap(counts.front(), counts.back());
    }
    int elements = 0, begin = 0;
    for (int r = 0; r < ranks; ++r) begin += r < world_rank ? counts[static_cast<std::size_t>(r)] : 0;
    for (const int count : counts) elements += count;
    const int own = counts[static_cast<std::size_t>(world_rank)];
    std::vector<Element> in(static_cast<std::size_t>(elements) + 1);
    std::vector<Element> out(static_cast<std::size_t>(own) + 1, Element{-7});
    const auto of = [&](int r, int j) {
      return static_cast<Element>(value(static_cast<std::uint64_t>(number), r, 0, j));
    };
    for (int j = 0; j < elements; ++j) in[static_cast<std::size_t>(j)] = of(world_rank, j);
#if MPI_VERSION >= 4
    static std::vector<MPI_Count> wide(counts.size());  // at one place, too
    wide.assign(counts.begin(), counts.end());
    if (number / 30 % 2 == 1)
      MPI_Reduce_scatter_c(in.data(), out.data(), wide.data(), type, MPI_MAX, MPI_COMM_WORLD);
    else
#endif
      MPI_Reduce_scatter(in.data(), out.data(), counts.data(), type, MPI_MAX, MPI_COMM_WORLD);
    for (int j = 0; j < own; ++j) {
      Element most = of(0, begin + j);
      for (int r = 1; r < ranks; ++r) most = std::max(most, of(r, begin + j));
      if (out[static_cast<std::size_t>(j)] != most) give_up("Reduce_scatter by counts that changed: wrong");
    }
    if (out.back() != Element{-7}) give_up("Reduce_scatter by counts that changed: too much");
  };
  for (int number = 0; number < calls; ++number) {
    if (below(4) != 0)
      check.operator()<int>(MPI_INT, arrays[0], number);
    else
      check.operator()<double>(MPI_DOUBLE, arrays[1], number);
  }
}

// Blocks of neighbours on a line, whose ends get nothing, at one place and then another.
void neighbors(int calls) {
  Comm line{MPI_COMM_NULL, 0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &line.ranks);
  const int open = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &line.ranks, &open, 0, &line.comm);
  MPI_Comm_rank(line.comm, &line.rank);
  constexpr int places = 3, most = 300;
  std::vector<int> in(places * 2 * most), out(in.size());
  for (int i = 0; i < calls; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const int n = std::array{2, 2, 16, most}[static_cast<std::size_t>(i / 100 % 4)];
    int* const from = in.data() + i % places * 2 * most;
    int* const to = out.data() + i / 2 % places * 2 * most;
    const bool gathers = i / 40 % 2 == 1;
    std::fill_n(to, 2 * n, -7);
    for (int j = 0; j < 2 * n; ++j) from[j] = value(number, line.rank, 0, j);
    if (gathers)
      MPI_Neighbor_allgather(from, n, MPI_INT, to, n, MPI_INT, line.comm);
    else
      MPI_Neighbor_alltoall(from, n, MPI_INT, to, n, MPI_INT, line.comm);
    for (int j = 0; j < 2 * n; ++j) {
      const int peer = j < n ? line.rank - 1 : line.rank + 1;
      const int sent = value(number, peer, 0, gathers || j >= n ? j % n : n + j);
      if (to[j] != (peer < 0 || peer == line.ranks ? -7 : sent)) give_up("blocks of neighbours: wrong");
    }
  }
  MPI_Comm_free(&line.comm);
}

// Buffers that overlap once the same words were taken with others: a Reduce whose root reads its own elements where it
// writes, and an Alltoall that writes before it has read all.
void overlaps(int calls) {
  constexpr int count = 600, block = 12000;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < calls; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const bool overlap = i > 60 && i % 5 == 4;  // before, the host may do them
    std::vector<int> buffer(3 * count);
    const int shift = overlap ? 1 + i % 7 : count + i % 3;
    const bool is_behind = i % 2 == 0;
    int* const in = buffer.data() + (is_behind ? 0 : shift);
    int* const out = buffer.data() + (is_behind ? shift : 0);
    for (int j = 0; j < count; ++j) in[j] = value(number, world_rank, 0, j);
    MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int j = 0; j < count && world_rank == 0; ++j) {
      int sum = 0;
      for (int r = 0; r < ranks; ++r) sum += value(number, r, 0, j);
      if (out[j] != sum) give_up("Reduce of buffers that overlap: wrong");
    }

    std::vector<int> blocks(static_cast<std::size_t>(2 * ranks * block));
    const int apart = overlap ? block / 2 : ranks * block;
    int* const from = blocks.data() + (is_behind ? 0 : apart);
    int* const to = blocks.data() + (is_behind ? apart : 0);
    for (int r = 0; r < ranks; ++r)
      for (int j = 0; j < block; ++j) from[r * block + j] = value(number, world_rank, r, j);
    MPI_Alltoall(from, block, MPI_INT, to, block, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r)
      for (int j = 0; j < block; ++j)
        if (to[r * block + j] != value(number, r, world_rank, j)) give_up("Alltoall of blocks that overlap: wrong");
  }
}

// What a rank hears that expects `expected` ints where the root sends `sent`, and how many it got.
struct Heard {
  int error_class, ints;
  bool is(const Heard& other) const { return error_class == other.error_class && ints == other.ints; }
};
Heard bcast_of_others(int sent, int expected) {
  std::array<int, 8> data{};
  data.fill(world_rank == 0 ? 5 : -1);
  const int error = MPI_Bcast(data.data(), world_rank == 0 ? sent : expected, MPI_INT, 0, MPI_COMM_WORLD);
  int error_class = 0;
  MPI_Error_class(error, &error_class);
  if (world_rank == 0) return {error_class, expected};
  return {error_class, static_cast<int>(std::count(data.begin(), data.end(), 5))};
}

// A rank hears the same of a call that fails, whether it was looked at or remembered.
void errors(int calls) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (const auto& [sent, expected] : {std::array{3, 5}, std::array{5, 3}}) {
    const Heard first = bcast_of_others(sent, expected);
    for (int i = 0; i < calls; ++i)
      if (const Heard heard = bcast_of_others(expected, expected); heard.error_class != 0 || heard.ints != expected)
        give_up("Bcast after one that failed: wrong");
    if (!bcast_of_others(sent, expected).is(first)) give_up("Bcast of fewer or more: not as before");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const auto seed = static_cast<unsigned>(std::atoi(argv[1]));
  const int calls = std::atoi(argv[2]);
  random_calls(seed, calls);
  other_types(calls / 20);
  other_counts(seed, calls);
  neighbors(calls);
  if (argc > 3 && std::strcmp(argv[3], "overlaps") == 0) {
    overlaps(200);
    errors(30);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) std::puts("done");
  MPI_Finalize();
}
