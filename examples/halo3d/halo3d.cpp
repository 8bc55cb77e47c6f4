// A seven-point stencil in a periodic box, whose six faces travel as subarrays by persistent requests.
//
//   halo3d [--size N] [--iterations N] [--grid XxYxZ] [--check]
//
// Each rank has N x N x N doubles. --check: every rank computes the whole box alone and compares.
#include "../common.h"

namespace {

// Cells 1 ... size of each dimension are this box's own, 0 and size + 1 are copies of its neighbours' cells.
struct Box {
  int sizes[3];
  std::vector<double> cells =
      std::vector<double>(static_cast<std::size_t>(sizes[0] + 2) * static_cast<std::size_t>(sizes[1] + 2) *
                          static_cast<std::size_t>(sizes[2] + 2));

  double* at(int x, int y, int z) {
    return cells.data() + (static_cast<long>(x) * (sizes[1] + 2) + y) * (sizes[2] + 2) + z;
  }
};

void fill(Box& box, const int* first) {
  for (int x = 1; x <= box.sizes[0]; ++x)
    for (int y = 1; y <= box.sizes[1]; ++y)
      for (int z = 1; z <= box.sizes[2]; ++z) {
        const long place = (first[0] + x) * 7919L + (first[1] + y) * 104729L + (first[2] + z) * 1299709L;
        *box.at(x, y, z) = static_cast<double>(place % 1009) / 1009;
      }
}

void update(Box& from, Box& to) {
  const long plane = from.at(1, 0, 0) - from.at(0, 0, 0), line = from.at(0, 1, 0) - from.at(0, 0, 0);
  for (int x = 1; x <= from.sizes[0]; ++x)
    for (int y = 1; y <= from.sizes[1]; ++y) {
      const double* in = from.at(x, y, 0);
      double* out = to.at(x, y, 0);
      for (int z = 1; z <= from.sizes[2]; ++z)
        out[z] =
            0.4 * in[z] + 0.1 * (in[z - 1] + in[z + 1] + in[z - line] + in[z + line] + in[z - plane] + in[z + plane]);
    }
}

// Twelve persistent requests of one box: a send and a receive for each face.
class Halo {
 public:
  Halo(Box& box, MPI_Comm grid) {
    for (int dim = 0; dim < 3; ++dim) {
      int below, above;
      MPI_Cart_shift(grid, dim, 1, &below, &above);
      const int last = box.sizes[dim];
      add(box, dim, last + 1, 1, above, below, grid);  // what the neighbour above has first is our copy above
      add(box, dim, 0, last, below, above, grid);
    }
  }

  ~Halo() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
  }

  void exchange() {
    MPI_Startall(12, requests_);
    MPI_Waitall(12, requests_, MPI_STATUSES_IGNORE);
  }

 private:
  MPI_Datatype face(const Box& box, int dim, int place) {
    int sizes[3], parts[3], starts[3];
    for (int i = 0; i < 3; ++i) {
      sizes[i] = box.sizes[i] + 2;
      parts[i] = i == dim ? 1 : box.sizes[i];
      starts[i] = i == dim ? place : 1;
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  }

  // Received into plane `into` of dimension `dim` from `source`; sent from plane `from` to `target`.
  void add(Box& box, int dim, int into, int from, int source, int target, MPI_Comm grid) {
    types_[count_] = face(box, dim, into);
    types_[count_ + 1] = face(box, dim, from);
    const int tag = count_ / 2;
    MPI_Recv_init(box.cells.data(), 1, types_[count_], source, tag, grid, &requests_[count_]);
    MPI_Send_init(box.cells.data(), 1, types_[count_ + 1], target, tag, grid, &requests_[count_ + 1]);
    count_ += 2;
  }

  int count_ = 0;
  MPI_Datatype types_[12];
  MPI_Request requests_[12];
};

// One rank's periodic box: the copies are made by hand.
void wrap(Box& box) {
  const int* n = box.sizes;
  for (int x = 1; x <= n[0]; ++x)
    for (int y = 1; y <= n[1]; ++y) *box.at(x, y, 0) = *box.at(x, y, n[2]), *box.at(x, y, n[2] + 1) = *box.at(x, y, 1);
  for (int x = 1; x <= n[0]; ++x)
    for (int z = 1; z <= n[2]; ++z) *box.at(x, 0, z) = *box.at(x, n[1], z), *box.at(x, n[1] + 1, z) = *box.at(x, 1, z);
  for (int y = 1; y <= n[1]; ++y)
    for (int z = 1; z <= n[2]; ++z) *box.at(0, y, z) = *box.at(n[0], y, z), *box.at(n[0] + 1, y, z) = *box.at(1, y, z);
}

long differences(Box& mine, const int* dims, const int* first, long iterations) {
  Box whole{{mine.sizes[0] * dims[0], mine.sizes[1] * dims[1], mine.sizes[2] * dims[2]}};
  Box next = whole;
  const int origin[3] = {0, 0, 0};
  fill(whole, origin);
  for (long i = 0; i < iterations; ++i) {
    wrap(whole);
    update(whole, next);
    whole.cells.swap(next.cells);
  }
  long wrong = 0;
  for (int x = 1; x <= mine.sizes[0]; ++x)
    for (int y = 1; y <= mine.sizes[1]; ++y)
      for (int z = 1; z <= mine.sizes[2]; ++z)
        wrong += *mine.at(x, y, z) != *whole.at(first[0] + x, first[1] + y, first[2] + z);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Options options(argc, argv);
  const int size = static_cast<int>(options.number("--size", 64));
  const long iterations = options.number("--iterations", 100);
  const bool check = options.flag("--check");
  int ranks, rank, dims[3] = {0, 0, 0}, at[3];
  std::sscanf(options.text("--grid", "0x0x0"), "%dx%dx%d", &dims[0], &dims[1], &dims[2]);
  options.done();
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, dims);
  MPI_Comm grid;
  const int periodic[3] = {1, 1, 1};
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 3, at);
  const int first[3] = {at[0] * size, at[1] * size, at[2] * size};

  Box even{{size, size, size}}, odd{{size, size, size}};  // the iterations go from one to the other and back
  fill(even, first);
  example::Times times;
  {
    Halo halos[2] = {{even, grid}, {odd, grid}};
    times = example::timed_iterations(iterations, grid, [&](long i) {
      halos[i % 2].exchange();
      i % 2 ? update(odd, even) : update(even, odd);
    });
  }
  Box& last = iterations % 2 ? odd : even;
  double sum = 0;
  for (int x = 1; x <= size; ++x)
    for (int y = 1; y <= size; ++y)
      for (int z = 1; z <= size; ++z) sum += *last.at(x, y, z);
  const long wrong = check ? differences(last, dims, first, iterations) : -1;
  const int code = example::finish("halo3d", "persistent", times, sum, wrong, grid);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return code;
}
