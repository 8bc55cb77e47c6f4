// MPI_Reduce_local of one host, three ways in turns within one process that runs under Millrace: MPI_ (our kernel),
// PMPI_ (the host's code) and a plain loop compiled for this machine; memcpy of as many bytes as a limit.
// Prints: kernel bytes mode ours_ns host_ns plain_ns memcpy_ns ratio_low ratio ratio_high (host / ours by turn).
#include <mpi.h>
#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Plain = void (*)(const void*, void*, std::size_t);

template <class T, class Combine>
void loop(const void* in, void* inout, std::size_t elements) {
  const T* a = static_cast<const T*>(in);
  T* b = static_cast<T*>(inout);
  for (std::size_t i = 0; i < elements; ++i) b[i] = Combine()(a[i], b[i]);
}

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Product {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a * b);
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct BitAnd {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct LogicalAnd {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a && b);
  }
};
template <class V>
struct Pair {
  V value;
  int index;
};
struct MaximumPlace {
  template <class P>
  P operator()(P a, P b) const {
    return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
  }
};

struct Case {
  std::string name;
  MPI_Op op;
  MPI_Datatype type;
  std::size_t element_bytes;
  Plain plain;
};

template <class T>
void integers(std::vector<Case>& cases, const std::string& type_name, MPI_Datatype type) {
  cases.push_back({"sum_" + type_name, MPI_SUM, type, sizeof(T), loop<T, Sum>});
  cases.push_back({"prod_" + type_name, MPI_PROD, type, sizeof(T), loop<T, Product>});
  cases.push_back({"max_" + type_name, MPI_MAX, type, sizeof(T), loop<T, Maximum>});
  cases.push_back({"band_" + type_name, MPI_BAND, type, sizeof(T), loop<T, BitAnd>});
  cases.push_back({"land_" + type_name, MPI_LAND, type, sizeof(T), loop<T, LogicalAnd>});
  cases.push_back({"lxor_" + type_name, MPI_LXOR, type, sizeof(T), nullptr});
}

template <class T>
void reals(std::vector<Case>& cases, const std::string& type_name, MPI_Datatype type) {
  cases.push_back({"sum_" + type_name, MPI_SUM, type, sizeof(T), loop<T, Sum>});
  cases.push_back({"prod_" + type_name, MPI_PROD, type, sizeof(T), loop<T, Product>});
  cases.push_back({"max_" + type_name, MPI_MAX, type, sizeof(T), loop<T, Maximum>});
  cases.push_back({"min_" + type_name, MPI_MIN, type, sizeof(T), nullptr});
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  integers<std::int8_t>(cases, "i8", MPI_INT8_T);
  integers<std::uint8_t>(cases, "u8", MPI_UINT8_T);
  integers<std::int16_t>(cases, "i16", MPI_INT16_T);
  integers<std::int32_t>(cases, "i32", MPI_INT);
  integers<std::uint32_t>(cases, "u32", MPI_UNSIGNED);
  integers<std::int64_t>(cases, "i64", MPI_LONG);
  integers<std::uint64_t>(cases, "u64", MPI_UNSIGNED_LONG);
  reals<float>(cases, "f32", MPI_FLOAT);
  reals<double>(cases, "f64", MPI_DOUBLE);
  reals<long double>(cases, "f80", MPI_LONG_DOUBLE);
  cases.push_back({"land_bool8", MPI_LAND, MPI_C_BOOL, 1, loop<bool, LogicalAnd>});
  cases.push_back({"lor_bool8", MPI_LOR, MPI_C_BOOL, 1, nullptr});
  cases.push_back({"sum_c32", MPI_SUM, MPI_C_FLOAT_COMPLEX, 8, loop<std::complex<float>, Sum>});
  cases.push_back({"prod_c32", MPI_PROD, MPI_C_FLOAT_COMPLEX, 8, nullptr});
  cases.push_back({"sum_c64", MPI_SUM, MPI_C_DOUBLE_COMPLEX, 16, loop<std::complex<double>, Sum>});
  cases.push_back({"prod_c64", MPI_PROD, MPI_C_DOUBLE_COMPLEX, 16, nullptr});
  cases.push_back({"maxloc_i32_i32", MPI_MAXLOC, MPI_2INT, 8, loop<Pair<int>, MaximumPlace>});
  cases.push_back({"maxloc_f32_i32", MPI_MAXLOC, MPI_FLOAT_INT, 8, loop<Pair<float>, MaximumPlace>});
  cases.push_back({"maxloc_f64_i32", MPI_MAXLOC, MPI_DOUBLE_INT, 16, loop<Pair<double>, MaximumPlace>});
  cases.push_back({"minloc_i64_i32", MPI_MINLOC, MPI_LONG_INT, 16, nullptr});
  return cases;
}

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void evict(const char* buffer, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 64) _mm_clflush(buffer + i);
  _mm_mfence();
}

// Small values with about half of the pairs tied; no NaN, no overflow that matters.
void fill(const Case& what, std::vector<char>& buffer, std::size_t bytes, unsigned seed) {
  std::memset(buffer.data(), 0, bytes);
  std::uint32_t state = seed;
  for (std::size_t i = 0; i < bytes; i += what.element_bytes) {
    state = state * 1664525u + 1013904223u;
    const int value = static_cast<int>(state >> 30) & 1;
    char* element = buffer.data() + i;
    const float real = static_cast<float>(value) + 1;
    const double wide = real;
    if (what.name.find("_f32") != std::string::npos || what.name.find("_c32") != std::string::npos)
      std::memcpy(element, &real, sizeof real);
    else if (what.name.find("_f64") != std::string::npos || what.name.find("_c64") != std::string::npos)
      std::memcpy(element, &wide, sizeof wide);
    else if (what.name.find("_f80") != std::string::npos) {
      const long double widest = wide;
      std::memcpy(element, &widest, 10);
    } else
      element[0] = static_cast<char>(value);
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const Case& what, std::size_t bytes, bool cold, int turns, std::vector<char>& in,
             std::vector<char>& inout) {
  const int count = static_cast<int>(bytes / what.element_bytes);
  fill(what, in, bytes, 1);
  const auto run = [&](int way, int calls) {
    fill(what, inout, std::min(bytes, std::size_t{1} << 20), 2);
    if (cold) evict(in.data(), bytes), evict(inout.data(), bytes);
    const double start = now_ns();
    for (int i = 0; i < calls; ++i) {
      if (way == 0) MPI_Reduce_local(in.data(), inout.data(), count, what.type, what.op);
      if (way == 1) PMPI_Reduce_local(in.data(), inout.data(), count, what.type, what.op);
      if (way == 2) what.plain(in.data(), inout.data(), static_cast<std::size_t>(count));
      if (way == 3) std::memcpy(inout.data(), in.data(), bytes);
    }
    return (now_ns() - start) / calls;
  };
  const double estimate = run(0, 1);
  const int calls = cold ? 1 : std::clamp(static_cast<int>(300e3 / std::max(estimate, 10.0)), 1, 4000);
  std::vector<double> times[4];
  std::vector<double> ratios;
  for (int turn = 0; turn < turns; ++turn) {
    const int first = turn % 2;
    double both[2];
    both[first] = run(first, calls);
    both[1 - first] = run(1 - first, calls);
    times[0].push_back(both[0]);
    times[1].push_back(both[1]);
    ratios.push_back(both[1] / both[0]);
    times[2].push_back(what.plain ? run(2, calls) : 0);
    times[3].push_back(run(3, calls));
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("%s %zu %s %.1f %.1f %.1f %.1f %.3f %.3f %.3f\n", what.name.c_str(), bytes, cold ? "cold" : "hot",
              median(times[0]), median(times[1]), median(times[2]), median(times[3]), ratios[ratios.size() / 4],
              ratios[ratios.size() / 2], ratios[3 * ratios.size() / 4]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = argc > 1 ? std::atoi(argv[1]) : 9;
  const std::size_t largest = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::size_t{64} << 20;
  std::vector<char> in(largest), inout(largest);
  for (const Case& what : all_cases())
    for (const std::size_t bytes : {std::size_t{1} << 10, std::size_t{16} << 10, std::size_t{256} << 10,
                                    std::size_t{4} << 20, std::size_t{64} << 20})
      for (const bool cold : {false, true})
        if (bytes <= largest)
          measure(what, bytes, cold, bytes > (std::size_t{1} << 20) ? std::min(turns, 5) : turns, in, inout);
  MPI_Finalize();
  return 0;
}
