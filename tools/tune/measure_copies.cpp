#include "tools/tune/measure_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <random>

#include "kernel/copy/copy.h"

namespace millrace::tools {
namespace {

using kernel::CopyTuning;

constexpr std::size_t no_limit = ~std::size_t{0};
constexpr int turns = 21;
constexpr double turn_ns = 500e3;
// Less than this is noise on a machine that others use too.
constexpr double least_gain = 1.05;

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

using Work = std::function<void()>;

// The kernels read the tuning in use; measuring changes only this one.
CopyTuning in_use;

double once_ns(const CopyTuning& tuning, const Work& work, long repetitions) {
  in_use = tuning;
  const double start = now_ns();
  for (long i = 0; i < repetitions; ++i) work();
  return (now_ns() - start) / static_cast<double>(repetitions);
}

// For each candidate the lower quartile of its times: what else the machine does only lengthens them.
std::vector<double> times_of(const std::vector<CopyTuning>& candidates, const Work& work) {
  std::vector<std::vector<double>> times(candidates.size());
  once_ns(candidates[0], work, 1);
  const long repetitions = std::max(1l, static_cast<long>(turn_ns / std::max(1.0, once_ns(candidates[0], work, 2))));
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::size_t which = turn % 2 ? candidates.size() - 1 - i : i;
      times[which].push_back(once_ns(candidates[which], work, repetitions));
    }
  std::vector<double> quartiles;
  for (std::vector<double>& own : times) {
    std::nth_element(own.begin(), own.begin() + turns / 4, own.end());
    quartiles.push_back(own[turns / 4]);
  }
  return quartiles;
}

std::string text_of(std::size_t value) { return value == no_limit ? "null" : std::to_string(value); }
std::string text_of(bool value) { return value ? "true" : "false"; }

// The times of the shapes count alike, whatever their size: candidates are compared by the mean ratio to the standard.
// How far the whole is. First it is only counted: shapes, times candidates.
struct Session {
  std::vector<CopyChoice>& choices;
  const std::function<void(std::size_t done, std::size_t all)>& progress;
  bool only_counts = true;
  std::size_t all = 0, done = 0;
};

template <class Value>
void choose(CopyTuning& tuning, const char* name, Value CopyTuning::*field, const std::vector<Value>& values,
            const std::vector<Work>& shapes, Session& session) {
  std::vector<CopyTuning> candidates{tuning};
  for (const Value value : values)
    if (value != tuning.*field) {
      candidates.push_back(tuning);
      candidates.back().*field = value;
    }
  if (session.only_counts) {
    session.all += shapes.size() * candidates.size();
    return;
  }
  std::vector<double> gains(candidates.size(), 0);
  for (const Work& shape : shapes) {
    const std::vector<double> times = times_of(candidates, shape);
    session.done += candidates.size();
    session.progress(session.done, session.all);
    for (std::size_t i = 0; i < times.size(); ++i) gains[i] += times[0] / times[i] / static_cast<double>(shapes.size());
  }
  const auto best = static_cast<std::size_t>(std::max_element(gains.begin(), gains.end()) - gains.begin());
  const std::size_t kept = gains[best] >= least_gain ? best : 0;
  session.choices.push_back({name, text_of(tuning.*field), text_of(candidates[kept].*field), gains[kept]});
  tuning = candidates[kept];
}

struct Memory {
  explicit Memory(std::size_t bytes) : spread(bytes, 1), packed(bytes, 2), sent(std::size_t{64} << 10) {}
  std::vector<char> spread, packed, sent;

  Work pack(std::size_t block, std::ptrdiff_t stride, std::size_t count) {
    return [=, this] { kernel::pack_strided(packed.data(), spread.data(), block, stride, count); };
  }
  // And then read once, as a host does that sends what was packed: non-temporal stores only pay together with that.
  Work pack_and_send(std::size_t block, std::ptrdiff_t stride, std::size_t count) {
    return [=, this] {
      kernel::pack_strided(packed.data(), spread.data(), block, stride, count);
      for (std::size_t at = 0; at + sent.size() <= block * count; at += sent.size())
        std::memcpy(sent.data(), packed.data() + at, sent.size());
    };
  }
  Work unpack(std::size_t block, std::ptrdiff_t stride, std::size_t count) {
    return [=, this] { kernel::unpack_strided(spread.data(), packed.data(), block, stride, count); };
  }
};

// `count` places of 8 bytes out of twice as many, in random order.
std::vector<std::ptrdiff_t> random_places(std::size_t count) {
  std::vector<std::ptrdiff_t> places(2 * count);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::ptrdiff_t>(8 * i);
  std::shuffle(places.begin(), places.end(), std::minstd_rand(1));
  return {places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

CopyTuning measure_copies(std::vector<CopyChoice>& choices,
                          const std::function<void(std::size_t done, std::size_t all)>& progress) {
  CopyTuning tuning = kernel::default_copy_tuning();
  in_use = tuning;
  kernel::use_copy_tuning(in_use);
  Memory memory(std::size_t{48} << 20);
  const std::vector<std::ptrdiff_t> few = random_places(1000), many = random_places(60000);
  const auto pack_list = [&memory](const std::vector<std::ptrdiff_t>& places) -> Work {
    return [&] { kernel::pack_indexed(memory.packed.data(), memory.spread.data(), places.data(), 8, places.size()); };
  };
  const auto unpack_list = [&memory](const std::vector<std::ptrdiff_t>& places) -> Work {
    return [&] { kernel::unpack_indexed(memory.spread.data(), memory.packed.data(), places.data(), 8, places.size()); };
  };
  Session session{choices, progress};
  for (const bool only_counts : {true, false}) {
    session.only_counts = only_counts;
    choose(tuning, "gather_lists", &CopyTuning::gather_lists, {false, true}, {pack_list(few), pack_list(many)},
           session);
    choose(tuning, "scatter_lists", &CopyTuning::scatter_lists, {false, true}, {unpack_list(few), unpack_list(many)},
           session);
    choose<std::size_t>(tuning, "permute_from_bytes", &CopyTuning::permute_from_bytes, {128, 256, 384, 768, 1536},
                        {memory.pack(4, 8, 40), memory.pack(8, 12, 40), memory.pack(4, 8, 100), memory.pack(8, 12, 120),
                         memory.pack(4, 8, 500), memory.pack(8, 12, 250)},
                        session);
    choose<std::size_t>(tuning, "fixed_permute_from_bytes", &CopyTuning::fixed_permute_from_bytes, {64, 128, 192, 384},
                        {memory.pack(4, 8, 24), memory.pack(8, 12, 12), memory.pack(4, 8, 40), memory.pack(8, 12, 20)},
                        session);
    choose<std::size_t>(tuning, "permute_pack_to_block_bytes", &CopyTuning::permute_pack_to_block_bytes, {0, 8, 16, 32},
                        {memory.pack(16, 24, 500), memory.pack(24, 32, 400), memory.pack(32, 48, 300)}, session);
    choose<std::size_t>(tuning, "masked_from_moves_a_vector", &CopyTuning::masked_from_moves_a_vector, {0, 2, 3, 5},
                        {memory.unpack(8, 12, 1000), memory.unpack(16, 24, 500), memory.unpack(8, 24, 1000)}, session);
    choose<std::size_t>(tuning, "short_masked_from_moves", &CopyTuning::short_masked_from_moves, {0, 3, 5},
                        {memory.unpack(4, 8, 2000), memory.unpack(8, 12, 1000), memory.unpack(8, 16, 1000)}, session);
    choose<std::size_t>(tuning, "masked_to_touched_bytes", &CopyTuning::masked_to_touched_bytes,
                        {std::size_t{32} << 10, std::size_t{1} << 20, no_limit},
                        {memory.unpack(8, 12, 60000), memory.unpack(8, 12, 2000000)}, session);
    choose<std::size_t>(tuning, "stream_from_bytes", &CopyTuning::stream_from_bytes,
                        {std::size_t{1} << 20, std::size_t{8} << 20, no_limit},
                        {memory.pack_and_send(8, 12, 200000), memory.pack_and_send(8, 12, 2000000)}, session);
  }
  kernel::use_copy_tuning(kernel::default_copy_tuning());
  return tuning;
}

std::string choice_in_words(const CopyChoice& choice) {
  const bool is_on = choice.best == "true", is_unlimited = choice.best == "null";
  const auto words = [&]() -> std::string {
    if (choice.name == "gather_lists")
      return fmt::format("lists of blocks are packed {} gather instructions", is_on ? "by" : "without");
    if (choice.name == "scatter_lists")
      return fmt::format("lists of blocks are unpacked {} scatter instructions", is_on ? "by" : "without");
    if (choice.name == "permute_from_bytes")
      return fmt::format("blocks are packed by shuffles from {} bytes on", choice.best);
    if (choice.name == "fixed_permute_from_bytes")
      return fmt::format("blocks of common sizes are packed by shuffles from {} bytes on", choice.best);
    if (choice.name == "permute_pack_to_block_bytes")
      return choice.best == "0" ? "blocks are never packed by shuffles"
                                : fmt::format("shuffles pack blocks of up to {} bytes", choice.best);
    if (choice.name == "masked_from_moves_a_vector")
      return choice.best == "0" ? "blocks are never unpacked by masked stores"
                                : fmt::format("masked stores unpack where they replace {} moves or more", choice.best);
    if (choice.name == "short_masked_from_moves")
      return choice.best == "0"
                 ? "blocks are never unpacked by short masked stores"
                 : fmt::format("short masked stores unpack where they replace {} moves or more", choice.best);
    if (choice.name == "masked_to_touched_bytes")
      return is_unlimited ? "masked stores are used for data of any size"
                          : fmt::format("masked stores are used for data of up to {} bytes", choice.best);
    if (choice.name == "stream_from_bytes")
      return is_unlimited ? "stores never go past the caches"
                          : fmt::format("stores go past the caches from {} bytes on", choice.best);
    return choice.name + " is " + choice.best;
  }();
  if (choice.best == choice.standard) return words + ", as without a table";
  return fmt::format("{}: {:.2f} times as fast as without a table", words, choice.gain);
}

}  // namespace millrace::tools
