// Layouts against hand-written loops and memcpy, in one process, in turns: GB/s of packed bytes, and what a call costs
// besides copying. layout_speed [TURNS]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hand.h"
#include "kernel/copy/copy.h"
#include "layout/layout.h"
#include "layout/notation.h"

namespace {

using namespace millrace;
using namespace millrace::bench;
using Work = std::function<void()>;

constexpr double turn_ns = 100'000;

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double one_turn_ns(const Work& work, long repeats) {
  const double start = now_ns();
  for (long i = 0; i < repeats; ++i) work();
  return (now_ns() - start) / static_cast<double>(repeats);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The median time of each, in turns.
std::vector<double> compare_ns(const std::vector<Work>& works, int turns) {
  std::vector<std::vector<double>> times(works.size());
  std::vector<long> repeats;
  for (const Work& work : works) {
    work();
    repeats.push_back(std::max(1L, static_cast<long>(turn_ns / (one_turn_ns(work, 1) + 1))));
  }
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < works.size(); ++i) times[i].push_back(one_turn_ns(works[i], repeats[i]));
  std::vector<double> medians;
  for (const auto& each : times) medians.push_back(median(each));
  return medians;
}

struct Subject {
  std::string name, notation;
  std::size_t packed_bytes, elements;  // the layout's count for so many bytes, or the hand loop's if `is_one`
  const Hand* hand;
  bool is_one = false;  // the list is one element of the type
};

std::shared_ptr<const layout::Layout> compiled(const std::string& notation) {
  const layout::Parsed parsed = layout::parse_notation(notation);
  std::shared_ptr<const layout::Layout> result;
  if (!parsed.description || layout::compile(*parsed.description, result) != Status::ok) {
    std::fprintf(stderr, "%.200s: %s\n", notation.c_str(), parsed.complaint.c_str());
    std::exit(1);
  }
  return result;
}

void measure(const Subject& subject, int turns) {
  const auto layout = compiled(subject.notation);
  const auto count = static_cast<std::int64_t>(subject.is_one ? 1 : subject.elements);
  const std::size_t bytes = static_cast<std::size_t>(layout->size_bytes() * count);
  std::vector<char> memory(static_cast<std::size_t>(layout->touched_bytes(count)) + 8192, 1), packed(bytes + 64, 2);
  std::vector<char> other(bytes + 64, 3);
  char *const m = memory.data(), *const p = packed.data();
  const auto ns =
      compare_ns({[&] { layout->pack(m, count, p); }, [&] { subject.hand->pack(m, p, subject.elements); },
                  [&] { layout->unpack(p, m, count); }, [&] { subject.hand->unpack(m, p, subject.elements); },
                  [&] { std::memcpy(other.data(), p, bytes); }},
                 turns);
  const auto rate = [&](double time) { return static_cast<double>(bytes) / time; };
  std::printf("| %s | %zu | %.1f | %.1f | %.2f | %.1f | %.1f | %.2f | %.1f |\n", subject.name.c_str(), bytes,
              rate(ns[0]), rate(ns[1]), ns[1] / ns[0], rate(ns[2]), rate(ns[3]), ns[3] / ns[2], rate(ns[4]));
}

std::string list_text(const std::vector<std::size_t>& values) {
  std::string text = "[";
  for (const std::size_t value : values) {
    if (text.size() > 1) text += ',';
    text += std::to_string(value);
  }
  text += ']';
  return text;
}

void table(std::size_t packed_bytes, int turns) {
  std::printf("\n%zu KiB packed, GB/s:\n\n", packed_bytes / 1024);
  std::printf(
      "| layout | bytes | pack | by hand | ratio | unpack | by hand | ratio | memcpy "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  const auto strided = [&](const char* name, const char* notation, std::size_t block, const Hand& hand) {
    measure({name, notation, packed_bytes, packed_bytes / block, &hand}, turns);
  };
  strided("vector(2,3,int)", "resized(0, 12, contiguous(2, int))", 8, hand_vector_2_3_int);
  strided("vector(1,2,int)", "resized(0, 8, int)", 4, hand_vector_1_2_int);
  strided("vector(4,8,double)", "resized(0, 64, contiguous(4, double))", 32, hand_vector_4_8_double);
  if (packed_bytes <= 1 << 19) strided("column of 1000", "resized(0, 8000, double)", 8, hand_column);
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(packed_bytes) / 8));
  const std::string n = std::to_string(side);
  hand_side = side;
  std::string transposed = "contiguous(" + n;
  transposed += ", resized(0, 8, vector(" + n + ", 1, " + n;
  transposed += ", double)))";
  measure({"transposed doubles", transposed, packed_bytes, side, &hand_transposed, true}, turns);
  strided("struct", "struct([1, 1, 3], [0, 8, 16], [int, double, char])", 15, hand_struct);
  strided("tiles of 8 x 16 x 2 floats", "resized(0, 2048, hvector(8, 1, 256, vector(16, 2, 4, float)))", 1024,
          hand_tile);
  std::mt19937_64 random(5);
  std::vector<std::size_t> at, lengths;
  for (std::size_t total = 0, place = 0; total < packed_bytes; total += 8 * lengths.back()) {
    at.push_back(place += random() % 8 + 1);
    place += lengths.emplace_back(1 + random() % 25);
  }
  list_displacements = at.data();
  list_lengths = lengths.data();
  measure({"hindexed, 1 to 25 doubles", "indexed(" + list_text(lengths) + "," + list_text(at) + ", double)",
           packed_bytes, at.size(), &hand_indexed, true},
          turns);
  at.resize(packed_bytes / 8);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = 2 * i;
  std::shuffle(at.begin(), at.end(), random);
  list_displacements = at.data();
  measure({"random doubles", "indexed_block(1, " + list_text(at) + ", double)", packed_bytes, at.size(), &hand_random,
           true},
          turns);
}

// What a call costs besides copying: the same few bytes through the layout and straight through the kernel.
void calls(int turns) {
  std::printf(
      "\nOne call, ns:\n\n| layout | through Layout::pack | the kernel itself | a segment |\n|---|---|---|---|\n");
  std::vector<char> memory(4096, 1), packed(4096, 2);
  for (const std::size_t blocks : {2u, 8u, 64u}) {
    const auto layout = compiled("vector(" + std::to_string(blocks) + ", 1, 2, int)");
    const auto ns = compare_ns(
        {[&] { layout->pack(memory.data(), 1, packed.data()); },
         [&] { kernel::pack_strided(packed.data(), memory.data(), 4, 8, blocks); },
         [&] { layout->pack_segment(memory.data(), 1, 2, static_cast<std::int64_t>(4 * blocks - 4), packed.data()); }},
        turns);
    std::printf("| vector(%zu,1,2,int) | %.1f | %.1f | %.1f |\n", blocks, ns[0], ns[1], ns[2]);
  }
}

}  // namespace

int main(int count, char** words) {
  const int turns = count > 1 ? std::atoi(words[1]) : 51;
  if (turns < 1 || count > 2) {
    std::fprintf(stderr, "layout_speed: takes the number of turns, 51 if not given, and nothing else\n");
    return 2;
  }
  calls(turns);
  for (const std::size_t bytes : {std::size_t{8} << 10, std::size_t{512} << 10, std::size_t{16} << 20})
    table(bytes, bytes > 1 << 20 ? std::max(1, turns / 3) : turns);
}
