// A star stencil on a plane of floats, whose halos travel as MPI_Type_vector.
//
//   stencil [--size N] [--total] [--radius 1|2|3] [--iterations N] [--grid ROWSxCOLUMNS] [--neighbor] [--check]
//
// Each rank of the process grid has N x N cells (with --total: all ranks together). Halos go by MPI_Isend and
// MPI_Irecv, or with --neighbor by one MPI_Neighbor_alltoallw. --check: every rank computes the whole plane alone and
// compares.
#include "../common.h"

namespace {

// A part of the plane with `radius` cells more on each side; outside of the plane they stay zero.
struct Tile {
  long rows, columns, radius, pitch = columns + 2 * radius;
  std::vector<float> cells = std::vector<float>(static_cast<std::size_t>((rows + 2 * radius) * pitch));

  float* at(long row, long column) { return cells.data() + (row + radius) * pitch + column + radius; }
};

template <long radius>
void update(Tile& from, Tile& to) {
  const float centre = 0.5f,
              arm = 0.125f / radius;  // together 1: the sum of the plane stays what it was, but for its edge
  const long pitch = from.pitch;
  for (long row = 0; row < from.rows; ++row) {
    const float* in = from.at(row, 0);
    float* out = to.at(row, 0);
    for (long i = 0; i < from.columns; ++i) {
      float sum = centre * in[i];
      for (long k = 1; k <= radius; ++k) sum += arm * (in[i - k] + in[i + k] + in[i - k * pitch] + in[i + k * pitch]);
      out[i] = sum;
    }
  }
}

void update(Tile& from, Tile& to) {
  if (from.radius == 1) update<1>(from, to);
  if (from.radius == 2) update<2>(from, to);
  if (from.radius == 3) update<3>(from, to);
}

void fill(Tile& tile, long first_row, long first_column) {
  for (long row = 0; row < tile.rows; ++row)
    for (long column = 0; column < tile.columns; ++column) {
      const long place = (first_row + row) * 7919 + (first_column + column) * 104729;
      *tile.at(row, column) = static_cast<float>(place % 1009) / 1009;
    }
}

// The sides up, down, left, right: the order in which MPI names the neighbours of a Cartesian communicator.
class Halo {
 public:
  Halo(Tile& tile, MPI_Comm grid) : grid_(grid) {
    const int radius = static_cast<int>(tile.radius), pitch = static_cast<int>(tile.pitch);
    MPI_Type_vector(radius, static_cast<int>(tile.columns), pitch, MPI_FLOAT, &types_[0]);
    MPI_Type_vector(static_cast<int>(tile.rows), radius, pitch, MPI_FLOAT, &types_[2]);
    MPI_Type_commit(&types_[0]);
    MPI_Type_commit(&types_[2]);
    types_[1] = types_[0];
    types_[3] = types_[2];
    const auto bytes_to = [&](long row, long column) {
      return static_cast<MPI_Aint>((tile.at(row, column) - tile.cells.data()) * static_cast<long>(sizeof(float)));
    };
    const long rows = tile.rows, columns = tile.columns, r = tile.radius;
    const MPI_Aint inner[] = {bytes_to(0, 0), bytes_to(rows - r, 0), bytes_to(0, 0), bytes_to(0, columns - r)};
    const MPI_Aint outer[] = {bytes_to(-r, 0), bytes_to(rows, 0), bytes_to(0, -r), bytes_to(0, columns)};
    std::copy_n(inner, 4, send_at_bytes_);
    std::copy_n(outer, 4, receive_at_bytes_);
    MPI_Cart_shift(grid, 0, 1, &peers_[0], &peers_[1]);
    MPI_Cart_shift(grid, 1, 1, &peers_[2], &peers_[3]);
  }

  ~Halo() {
    MPI_Type_free(&types_[0]);
    MPI_Type_free(&types_[2]);
  }

  void messages(Tile& tile) const {
    char* const base = reinterpret_cast<char*>(tile.cells.data());
    MPI_Request requests[8];
    for (int side = 0; side < 4; ++side)
      MPI_Irecv(base + receive_at_bytes_[side], 1, types_[side], peers_[side], side ^ 1, grid_, &requests[side]);
    for (int side = 0; side < 4; ++side)
      MPI_Isend(base + send_at_bytes_[side], 1, types_[side], peers_[side], side, grid_, &requests[4 + side]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  }

  void collective(Tile& tile) const {
    const int once[] = {1, 1, 1, 1};
    MPI_Neighbor_alltoallw(tile.cells.data(), once, send_at_bytes_, types_, tile.cells.data(), once, receive_at_bytes_,
                           types_, grid_);
  }

 private:
  MPI_Comm grid_;
  MPI_Datatype types_[4];
  MPI_Aint send_at_bytes_[4], receive_at_bytes_[4];
  int peers_[4];
};

// The cells of this rank that differ from what one rank alone computes.
long differences(Tile& mine, long total_rows, long total_columns, long first_row, long first_column, long iterations) {
  Tile whole{total_rows, total_columns, mine.radius}, next{total_rows, total_columns, mine.radius};
  fill(whole, 0, 0);
  for (long i = 0; i < iterations; ++i) {
    update(whole, next);
    whole.cells.swap(next.cells);
  }
  long wrong = 0;
  for (long row = 0; row < mine.rows; ++row)
    for (long column = 0; column < mine.columns; ++column)
      wrong += *mine.at(row, column) != *whole.at(first_row + row, first_column + column);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Options options(argc, argv);
  long size = options.number("--size", 1000);
  const bool total = options.flag("--total"), neighbor = options.flag("--neighbor"), check = options.flag("--check");
  const long radius = options.number("--radius", 1), iterations = options.number("--iterations", 100);
  int ranks, dims[2] = {0, 0}, at[2];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::sscanf(options.text("--grid", "0x0"), "%dx%d", &dims[0], &dims[1]);
  options.done();
  MPI_Dims_create(ranks, 2, dims);

  MPI_Comm grid;
  const int open_ends[2] = {0, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open_ends, 0, &grid);
  int rank;
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, at);
  const long rows = total ? size : size * dims[0], columns = total ? size : size * dims[1];
  const long first_row = rows * at[0] / dims[0], first_column = columns * at[1] / dims[1];
  Tile cells{rows * (at[0] + 1) / dims[0] - first_row, columns * (at[1] + 1) / dims[1] - first_column, radius};
  Tile next{cells.rows, cells.columns, radius};
  fill(cells, first_row, first_column);

  example::Times times;
  {
    const Halo halo(cells, grid);
    times = example::timed_iterations(iterations, grid, [&](long) {
      neighbor ? halo.collective(cells) : halo.messages(cells);
      update(cells, next);
      cells.cells.swap(next.cells);
    });
  }
  double sum = 0;
  for (long row = 0; row < cells.rows; ++row)
    for (long column = 0; column < cells.columns; ++column) sum += static_cast<double>(*cells.at(row, column));
  const long wrong = check ? differences(cells, rows, columns, first_row, first_column, iterations) : -1;
  const int code = example::finish("stencil", neighbor ? "neighbor" : "isend", times, sum, wrong, grid);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return code;
}
