// copy_speed [--isa=UNIT] [--turns=N] [--cold] [--kernels] [--stream-from=N] [--bytes=N,...] [--grid=BLOCK:STRIDE,...]
//            [NAME_PREFIX...]
//
// Packing and unpacking in process: Millrace's choice (and with --kernels every kernel by itself), the hand-written
// loop compiled for this machine, memcpy of the packed bytes. GB/s of packed bytes; the contenders take turns, medians.
// --cold: every line of both buffers is flushed before each timed call. --grid: blocks of BLOCK bytes every STRIDE
// bytes instead of the layouts with names, and no hand-written loop.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "hand.h"
#include "kernel/copy/tuning.h"
#include "kernel/copy/units.h"

namespace millrace::kernel::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string isa = "auto";
  int turns = 31;
  bool cold = false, kernels = false;
  CopyTuning tuning = default_copy_tuning();
  std::vector<std::size_t> sizes_bytes{8 << 10, 512 << 10, 16 << 20};
  std::vector<std::size_t> grid{};  // block, stride, block, stride, ...
  std::vector<std::string> prefixes;
};

struct Contender {
  std::string name;
  std::function<void()> run;
  std::vector<double> times_ns{};
  std::size_t calls = 1;
};

constexpr const char* pack_names[copy_kernel_count] = {"blocks", "wide", "permute", "gather", ""};
constexpr const char* unpack_names[copy_kernel_count] = {"blocks", "wide", "masked", "scatter", "twice"};

void flush(const char* data, std::size_t bytes) {
#if defined(__x86_64__)
  for (std::size_t i = 0; i < bytes; i += 64) _mm_clflush(data + i);
  _mm_mfence();
#else
  (void)data;
  (void)bytes;
#endif
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Memory {
  char* data;
  std::size_t bytes;
  explicit Memory(std::size_t size) : data(nullptr), bytes((size + 8191) / 4096 * 4096) {
    data = static_cast<char*>(std::aligned_alloc(4096, bytes));
    std::memset(data, 1, bytes);
  }
  ~Memory() { std::free(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

// One layout at one size.
struct Case {
  std::string name;
  std::size_t packed_bytes, touched_bytes;
  Memory *blocks, *packed;
  std::vector<Contender> pack{}, unpack{};
};

void compete(const Options& options, const Case& the_case, std::vector<Contender>& contenders) {
  const int turns = options.cold ? std::max(5, options.turns / (the_case.packed_bytes > (1 << 20) ? 4 : 1))
                                 : (the_case.packed_bytes > (1 << 20) ? std::max(7, options.turns / 3) : options.turns);
  for (int turn = -3; turn < turns; ++turn)
    for (Contender& contender : contenders) {
      if (options.cold) {
        flush(the_case.blocks->data, the_case.touched_bytes);
        flush(the_case.packed->data, the_case.packed_bytes);
      }
      const auto start = Clock::now();
      for (std::size_t call = 0; call < contender.calls; ++call) contender.run();
      const std::chrono::duration<double, std::nano> spent = Clock::now() - start;
      const double each_ns = spent.count() / static_cast<double>(contender.calls);
      if (turn >= 0) contender.times_ns.push_back(each_ns);
      if (turn < 0 && !options.cold) contender.calls = static_cast<std::size_t>(60e3 / std::max(each_ns, 10.0)) + 1;
    }
}

void show(const Options& options, const Case& the_case, const char* direction, std::vector<Contender> contenders) {
  const double bytes = static_cast<double>(the_case.packed_bytes);
  contenders.push_back({"memcpy", [&] {
                          std::memcpy(the_case.packed->data, the_case.blocks->data, the_case.packed_bytes);
                          asm volatile("" : : "r"(the_case.packed->data) : "memory");
                        }});
  compete(options, the_case, contenders);
  std::printf("%-22s %-6s %9zu %-4s", the_case.name.c_str(), direction, the_case.packed_bytes,
              options.cold ? "cold" : "hot");
  for (const Contender& contender : contenders)
    std::printf("  %s %.1f", contender.name.c_str(), bytes / median(contender.times_ns));
  std::printf("\n");
  std::fflush(stdout);
}

using Hand = void (*)(void*, const void*, std::size_t);

struct Strided {
  std::string_view name;
  std::size_t block_bytes;
  std::ptrdiff_t stride_bytes;
  Hand pack, unpack;
  bool by_hand = true;
};

constexpr Strided strided_cases[] = {
    {"vector(2,3,int)", 8, 12, hand_pack_vector_2_3_int, hand_unpack_vector_2_3_int},
    {"vector(1,2,int)", 4, 8, hand_pack_vector_1_2_int, hand_unpack_vector_1_2_int},
    {"vector(4,8,double)", 32, 64, hand_pack_vector_4_8_double, hand_unpack_vector_4_8_double},
    {"vector(3,5,char)", 3, 5, hand_pack_vector_3_5_char, hand_unpack_vector_3_5_char},
    {"vector(1,2,double)", 8, 16, nullptr, nullptr},
    {"vector(1,4,double)", 8, 32, nullptr, nullptr},
    {"vector(3,4,double)", 24, 32, nullptr, nullptr},
    {"vector(6,8,double)", 48, 64, nullptr, nullptr},
    {"vector(1,8,double)", 8, 64, nullptr, nullptr},
    {"vector(1,16,double)", 8, 128, nullptr, nullptr},
    {"vector(1,32,double)", 8, 256, nullptr, nullptr},
    {"vector(4,16,double)", 32, 128, nullptr, nullptr},
    {"vector(16,32,double)", 128, 256, nullptr, nullptr},
    {"vector(64,128,double)", 512, 1024, nullptr, nullptr},
    {"column", 8, 8000, nullptr, nullptr},
};

bool wanted(const Options& options, std::string_view name) {
  if (options.prefixes.empty()) return true;
  return std::any_of(options.prefixes.begin(), options.prefixes.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}

void strided(const Options& options, const CopySet& set, const Strided& shape, std::size_t bytes) {
  const std::size_t block = shape.block_bytes, count = bytes / block;
  const std::size_t touched = count * static_cast<std::size_t>(shape.stride_bytes);
  if (touched > (options.cold ? std::size_t{1} << 27 : std::size_t{1} << 30)) return;
  Memory blocks(touched), packed(bytes + 4096);
  Case the_case{std::string(shape.name), count * block, touched, &blocks, &packed};
  char *b = blocks.data, *p = packed.data;
  const std::ptrdiff_t stride = shape.stride_bytes;
  the_case.pack.push_back({"millrace", [=] { pack_strided(p, b, block, stride, count); }});
  the_case.unpack.push_back({"millrace", [=] { unpack_strided(b, p, block, stride, count); }});
  if (shape.pack) {
    the_case.pack.push_back({"hand", [=] { shape.pack(p, b, count); }});
    the_case.unpack.push_back({"hand", [=] { shape.unpack(b, p, count); }});
  } else if (shape.by_hand) {
    the_case.pack.push_back({"hand", [=] { hand_pack_doubles(p, b, count, block / 8, stride / 8); }});
    the_case.unpack.push_back({"hand", [=] { hand_unpack_doubles(b, p, count, block / 8, stride / 8); }});
  }
  for (std::size_t kernel = 0; options.kernels && kernel < copy_kernel_count; ++kernel) {
    if (const PackStrided pack = set.pack_strided[kernel])
      the_case.pack.push_back({pack_names[kernel], [=] { pack(p, b, block, stride, count); }});
    if (const UnpackStrided unpack = set.unpack_strided[kernel])
      the_case.unpack.push_back({unpack_names[kernel], [=] { unpack(b, p, block, stride, count); }});
  }
  show(options, the_case, "pack", the_case.pack);
  show(options, the_case, "unpack", the_case.unpack);
}

void particles(const Options& options, const CopySet& set, std::size_t bytes) {
  static constexpr Piece pieces[] = {{0, 4}, {8, 8}, {16, 3}};
  Pattern pattern;
  prepare_pattern(pattern, pieces, 3, sizeof(Particle));
  const std::size_t count = bytes / 15;
  Memory blocks(count * sizeof(Particle)), packed(count * 15 + 64);
  Case the_case{"struct{int,double,c3}", count * 15, count * sizeof(Particle), &blocks, &packed};
  char *b = blocks.data, *p = packed.data;
  the_case.pack.push_back({"millrace", [&] { pack_pattern(p, b, pattern, count); }});
  the_case.unpack.push_back({"millrace", [&] { unpack_pattern(b, p, pattern, count); }});
  the_case.pack.push_back({"hand", [=] { hand_pack_particles(p, b, count); }});
  the_case.unpack.push_back({"hand", [=] { hand_unpack_particles(b, p, count); }});
  for (std::size_t kernel = 0; options.kernels && kernel < copy_kernel_count; ++kernel) {
    if (const PackPattern pack = set.pack_pattern[kernel])
      the_case.pack.push_back({pack_names[kernel], [=, &pattern] { pack(p, b, pattern, count); }});
    if (const UnpackPattern unpack = set.unpack_pattern[kernel])
      the_case.unpack.push_back({unpack_names[kernel], [=, &pattern] { unpack(b, p, pattern, count); }});
  }
  show(options, the_case, "pack", the_case.pack);
  show(options, the_case, "unpack", the_case.unpack);
}

void pieces_of_1_to_25_doubles(const Options& options, std::size_t bytes) {
  std::mt19937 random(1);
  std::vector<Piece> pieces;
  std::size_t total = 0;
  std::ptrdiff_t at = 0;
  while (total < bytes) {
    const std::size_t length = 8 * (1 + random() % 25);
    pieces.push_back({at, length});
    total += length;
    at += static_cast<std::ptrdiff_t>(length + 8 * (1 + random() % 10));
  }
  Memory blocks(static_cast<std::size_t>(at)), packed(total);
  Case the_case{"hindexed(1..25,double)", total, static_cast<std::size_t>(at), &blocks, &packed};
  char *b = blocks.data, *p = packed.data;
  the_case.pack.push_back({"millrace", [&, p, b] { pack_pieces(p, b, pieces.data(), pieces.size()); }});
  the_case.unpack.push_back({"millrace", [&, p, b] { unpack_pieces(b, p, pieces.data(), pieces.size()); }});
  the_case.pack.push_back({"hand", [&, p, b] { hand_pack_pieces(p, b, pieces.data(), pieces.size()); }});
  the_case.unpack.push_back({"hand", [&, p, b] { hand_unpack_pieces(b, p, pieces.data(), pieces.size()); }});
  show(options, the_case, "pack", the_case.pack);
  show(options, the_case, "unpack", the_case.unpack);
}

void random_doubles(const Options& options, const CopySet& set, std::size_t bytes) {
  const std::size_t count = bytes / 8;
  std::vector<std::ptrdiff_t> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = static_cast<std::ptrdiff_t>(i * 16);
  std::shuffle(places.begin(), places.end(), std::mt19937(1));
  Memory blocks(count * 16), packed(bytes);
  Case the_case{"indexed_block(1,random)", bytes, count * 16, &blocks, &packed};
  char *b = blocks.data, *p = packed.data;
  const std::ptrdiff_t* const list = places.data();
  the_case.pack.push_back({"millrace", [=] { pack_indexed(p, b, list, 8, count); }});
  the_case.unpack.push_back({"millrace", [=] { unpack_indexed(b, p, list, 8, count); }});
  the_case.pack.push_back({"hand", [=] { hand_pack_listed_double(p, b, list, count); }});
  the_case.unpack.push_back({"hand", [=] { hand_unpack_listed_double(b, p, list, count); }});
  for (std::size_t kernel = 0; options.kernels && kernel < copy_kernel_count; ++kernel) {
    if (const PackIndexed pack = set.pack_indexed[kernel])
      the_case.pack.push_back({pack_names[kernel], [=] { pack(p, b, list, 8, count); }});
    if (const UnpackIndexed unpack = set.unpack_indexed[kernel])
      the_case.unpack.push_back({unpack_names[kernel], [=] { unpack(b, p, list, 8, count); }});
  }
  show(options, the_case, "pack", the_case.pack);
  show(options, the_case, "unpack", the_case.unpack);
}

// Eight columns of a matrix with rows of 1000 doubles, one column after the other.
void columns(const Options& options, std::size_t bytes) {
  const std::size_t rows = bytes / 64;
  Memory blocks(rows * 8000), packed(bytes);
  Case the_case{"8 columns", rows * 64, rows * 8000, &blocks, &packed};
  char *b = blocks.data, *p = packed.data;
  const Nest2 nest{8, 8000, rows, 8};
  the_case.pack.push_back({"millrace", [=] { pack_nest2(p, b, nest, 8); }});
  the_case.unpack.push_back({"millrace", [=] { unpack_nest2(b, p, nest, 8); }});
  the_case.pack.push_back({"hand", [=] {
                             for (std::size_t c = 0; c < 8; ++c)
                               hand_pack_doubles(p + c * rows * 8, b + c * 8, rows, 1, 1000);
                           }});
  the_case.unpack.push_back({"hand", [=] {
                               for (std::size_t c = 0; c < 8; ++c)
                                 hand_unpack_doubles(b + c * 8, p + c * rows * 8, rows, 1, 1000);
                             }});
  show(options, the_case, "pack", the_case.pack);
  show(options, the_case, "unpack", the_case.unpack);
}

std::vector<std::size_t> numbers(const std::string& text) {
  std::vector<std::size_t> values;
  for (const char* at = text.c_str(); *at;) {
    char* end;
    values.push_back(std::strtoul(at, &end, 0));
    at = *end == ',' || *end == ':' ? end + 1 : end;
    if (end == at && *at) break;
  }
  return values;
}

void run(const Options& options) {
  const IsaChoice choice = use_isa(options.isa);
  if (*choice.complaint) std::fprintf(stderr, "%s\n", choice.complaint);
  use_copy_tuning(options.tuning);
  const CopySet& set = copies_of(*choice.unit);
  std::printf("# %s, GB/s of packed bytes\n", set.isa);
  for (const std::size_t bytes : options.sizes_bytes) {
    for (std::size_t i = 0; i + 1 < options.grid.size(); i += 2) {
      const std::size_t block = options.grid[i], stride = options.grid[i + 1];
      const std::string name = std::to_string(block) + " bytes every " + std::to_string(stride);
      strided(options, set, {name, block, static_cast<std::ptrdiff_t>(stride), nullptr, nullptr, false}, bytes);
    }
    if (!options.grid.empty()) continue;
    for (const Strided& shape : strided_cases)
      if (wanted(options, shape.name)) strided(options, set, shape, bytes);
    if (wanted(options, "8 columns") && bytes <= (1 << 20)) columns(options, bytes);
    if (wanted(options, "struct")) particles(options, set, bytes);
    if (wanted(options, "hindexed")) pieces_of_1_to_25_doubles(options, bytes);
    if (wanted(options, "indexed_block")) random_doubles(options, set, bytes);
  }
}

}  // namespace
}  // namespace millrace::kernel::bench

int main(int count, char** words) {
  millrace::kernel::bench::Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word.starts_with("--isa="))
      options.isa = word.substr(6);
    else if (word.starts_with("--turns="))
      options.turns = std::atoi(word.c_str() + 8);
    else if (word.starts_with("--bytes="))
      options.sizes_bytes = millrace::kernel::bench::numbers(word.substr(8));
    else if (word.starts_with("--grid="))
      options.grid = millrace::kernel::bench::numbers(word.substr(7));
    else if (word.starts_with("--stream-from="))
      options.tuning.stream_from_bytes = std::strtoul(word.c_str() + 14, nullptr, 0);
    else if (word == "--cold")
      options.cold = true;
    else if (word == "--kernels")
      options.kernels = true;
    else if (word.starts_with("-")) {
      std::fprintf(stderr,
                   "copy_speed: no option %s; there are --isa=NAME --turns=N --bytes=N,... --grid=N,... "
                   "--stream-from=N --cold --kernels, and prefixes of names\n",
                   word.c_str());
      return 2;
    } else
      options.prefixes.push_back(word);
  }
  millrace::kernel::bench::run(options);
}
