// A two-dimensional Fourier transform of N x N complex numbers whose transposes are one MPI_Alltoall each, without a
// line of packing: the datatypes say where the elements come from and where they go (Hoefler and Gottlieb, "Parallel
// zero-copy algorithms for fast Fourier transform and conjugate gradient using MPI datatypes", EuroMPI 2010).
//
//   fft2d [--size N] [--iterations N] [--check]
//
// N must be a multiple of the number of ranks. An iteration is a transform and its inverse. FFTW does the rows.
// --check compares with FFTW's own transform of the whole plane, a plane wave with its one peak, and the inverse.
#include <fftw3.h>

#include <cmath>
#include <complex>

#include "../common.h"

namespace {

using Complex = std::complex<double>;

Complex element(long row, long column) {
  const long place = row * 7919 + column * 104729;
  return {static_cast<double>(place % 1009) / 1009, static_cast<double>(place % 997) / 997};
}

fftw_complex* raw(Complex* numbers) { return reinterpret_cast<fftw_complex*>(numbers); }

// Every rank has `rows` = size / ranks rows. In a transpose rank p sends to rank q the block of its rows in the columns
// that become q's rows; q lays down each row of that block as a column:
//
//     p:  . . a b . .        q:  . . . a c .
//         . . c d . .            . . . b d .
class Plane {
 public:
  explicit Plane(long size) : size_(size) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rows_ = size / ranks;
    here_.resize(static_cast<std::size_t>(rows_ * size));
    there_.resize(here_.size());
    const int rows = static_cast<int>(rows_), n = static_cast<int>(size);
    const MPI_Aint one_bytes = sizeof(Complex), block_bytes = rows * one_bytes;
    MPI_Datatype block, column, next_column, columns;
    MPI_Type_vector(rows, rows, n, MPI_C_DOUBLE_COMPLEX, &block);
    MPI_Type_create_resized(block, 0, block_bytes, &send_);
    MPI_Type_vector(rows, 1, n, MPI_C_DOUBLE_COMPLEX, &column);
    MPI_Type_create_resized(column, 0, one_bytes, &next_column);
    MPI_Type_contiguous(rows, next_column, &columns);
    MPI_Type_create_resized(columns, 0, block_bytes, &receive_);
    for (MPI_Datatype* type : {&block, &column, &next_column, &columns}) MPI_Type_free(type);
    MPI_Type_commit(&send_);
    MPI_Type_commit(&receive_);
    forward_ = rows_plan(FFTW_FORWARD);
    backward_ = rows_plan(FFTW_BACKWARD);
  }

  ~Plane() {
    fftw_destroy_plan(forward_);
    fftw_destroy_plan(backward_);
    MPI_Type_free(&send_);
    MPI_Type_free(&receive_);
  }

  Complex& at(long row, long column) { return here_[static_cast<std::size_t>(row * size_ + column)]; }
  [[nodiscard]] long rows() const { return rows_; }

  void transform() { both_directions(forward_); }

  void inverse() {
    both_directions(backward_);
    for (Complex& number : here_) number /= static_cast<double>(size_ * size_);
  }

 private:
  fftw_plan rows_plan(int sign) {
    const int n = static_cast<int>(size_);
    return fftw_plan_many_dft(1, &n, static_cast<int>(rows_), raw(here_.data()), nullptr, 1, n, raw(here_.data()),
                              nullptr, 1, n, sign, FFTW_ESTIMATE | FFTW_UNALIGNED);
  }

  void both_directions(fftw_plan plan) {
    for (int direction = 0; direction < 2; ++direction) {
      fftw_execute_dft(plan, raw(here_.data()), raw(here_.data()));
      MPI_Alltoall(here_.data(), 1, send_, there_.data(), 1, receive_, MPI_COMM_WORLD);
      here_.swap(there_);
    }
  }

  long size_, rows_;
  std::vector<Complex> here_, there_;
  MPI_Datatype send_, receive_;
  fftw_plan forward_, backward_;
};

// What is further from right than rounding explains.
class Differences {
 public:
  explicit Differences(long size) : allowed_(1e-12 * static_cast<double>(size * size)) {}
  void compare(Complex found, Complex expected) { wrong_ += !(std::abs(found - expected) < allowed_); }
  [[nodiscard]] long count() const { return wrong_; }

 private:
  double allowed_;
  long wrong_ = 0;
};

// `plane` holds element() of each place. Afterwards it holds its transform.
long compare_with_serial(Plane& plane, long size, long first_row) {
  Differences differences(size);
  std::vector<Complex> whole(static_cast<std::size_t>(size * size));
  const int n = static_cast<int>(size);
  fftw_plan plan = fftw_plan_dft_2d(n, n, raw(whole.data()), raw(whole.data()), FFTW_FORWARD, FFTW_ESTIMATE);

  const double turn = 2 * std::acos(-1.0) / static_cast<double>(size);
  const long wave_row = 3 % size, wave_column = 5 % size;
  for (long row = 0; row < plane.rows(); ++row)
    for (long column = 0; column < size; ++column)
      plane.at(row, column) =
          std::polar(1.0, turn * static_cast<double>((wave_row * (first_row + row) + wave_column * column) % size));
  plane.transform();
  for (long row = 0; row < plane.rows(); ++row)
    for (long column = 0; column < size; ++column) {
      const bool peak = first_row + row == wave_row && column == wave_column;
      differences.compare(plane.at(row, column), peak ? static_cast<double>(size * size) : 0.0);
    }

  for (long row = 0; row < size; ++row)
    for (long column = 0; column < size; ++column)
      whole[static_cast<std::size_t>(row * size + column)] = element(row, column);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  for (long row = 0; row < plane.rows(); ++row)
    for (long column = 0; column < size; ++column) plane.at(row, column) = element(first_row + row, column);
  plane.transform();
  for (long row = 0; row < plane.rows(); ++row)
    for (long column = 0; column < size; ++column)
      differences.compare(plane.at(row, column), whole[static_cast<std::size_t>((first_row + row) * size + column)]);
  return differences.count();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Options options(argc, argv);
  const long size = options.number("--size", 512), iterations = options.number("--iterations", 20);
  const bool check = options.flag("--check");
  options.done();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (size % ranks) {
    if (rank == 0) std::fprintf(stderr, "fft2d: %ld is no multiple of the %d ranks\n", size, ranks);
    MPI_Finalize();
    return 2;
  }
  int code = 0;
  {
    Plane plane(size);
    const long first_row = rank * plane.rows();
    for (long row = 0; row < plane.rows(); ++row)
      for (long column = 0; column < size; ++column) plane.at(row, column) = element(first_row + row, column);
    const example::Times times = example::timed_iterations(iterations, MPI_COMM_WORLD, [&](long) {
      plane.transform();
      plane.inverse();
    });
    double sum = 0;
    Differences inverse(1);
    for (long row = 0; row < plane.rows(); ++row)
      for (long column = 0; column < size; ++column) {
        sum += plane.at(row, column).real() - plane.at(row, column).imag();
        inverse.compare(plane.at(row, column), element(first_row + row, column));
      }
    const long wrong = check ? inverse.count() + compare_with_serial(plane, size, first_row) : -1;
    code = example::finish("fft2d", "alltoall", times, sum, wrong, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
