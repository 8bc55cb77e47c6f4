#include "matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <random>

#include "collective/algorithms.h"
#include "plan/collective.h"

namespace millrace::collective::test {
namespace {

constexpr std::uint32_t rank_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
constexpr Waiting waitings[] = {Waiting::automatic, Waiting::spin, Waiting::yield, Waiting::sleep};

struct Force {
  const char *algorithms, *tree;
};
constexpr Force forces[] = {
    {"", ""},
    {"barrier=cells,bcast=cells,reduce=cells,allreduce=cells,reduce_scatter=cells,scan=cells,exscan=cells", ""},
    {"bcast=chunks,reduce=chunks,allreduce=slices,reduce_scatter=slices,scan=chain,exscan=chain", ""},
    {"barrier=pair,reduce=slices,allreduce=pair", ""},
    {"bcast=single_copy,reduce=chain,allreduce=chain,exscan=single_copy", ""},
    {"barrier=tree,bcast=tree,reduce=tree,allreduce=tree", "knomial:4,small-first/kary:3"},
    {"barrier=tree,bcast=tree,reduce=tree,allreduce=tree", "kary:2,socket"},
    {"barrier=tree,bcast=tree,reduce=tree,allreduce=tree", "knomial:2,cache,leaders-last"},
    {"barrier=tree,bcast=tree,reduce=tree,allreduce=tree", "flat"},
    {"reduce=gathered,scan=gathered,exscan=gathered", ""},
    {"barrier=mesh,reduce=mesh,allreduce=mesh,reduce_scatter=mesh", ""},
};

bool reduces(Kind kind) { return kind != Kind::barrier && kind != Kind::bcast; }

CallCase make_call(Kind kind, const Operation& operation, std::size_t bytes, bool in_place, std::uint64_t& number,
                   std::uint32_t ranks) {
  CallCase call;
  call.kind = kind;
  call.operation = reduces(kind) ? &operation : nullptr;
  // Where the bytes are no whole number of elements, one less or one more, so that both sides of a limit occur.
  const std::size_t each = operation.element_bytes;
  call.elements = reduces(kind) ? (bytes + (number % 2 == 0 ? each - 1 : 0)) / each : bytes;
  call.root = has_root(kind) ? static_cast<std::uint32_t>(number / 2 % ranks) : 0;
  call.in_place = in_place && kind != Kind::reduce_scatter;
  call.number = ++number;
  // Blocks that are alike half of the time.
  if (kind == Kind::reduce_scatter && number % 4 < 2) call.elements -= call.elements % ranks;
  return call;
}

}  // namespace

std::string MatrixGroup::name() const {
  std::string text = fmt::format("{}_{}_{}_{}_{}_{}", ranks, shared_memory::waiting_name(waiting),
                                 small ? "small" : "usual", threads ? "threads" : "processes", forced, tree);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return text;
}

std::vector<MatrixGroup> matrix_groups(bool fully) {
  std::vector<MatrixGroup> all;
  unsigned index = 0;
  for (const std::uint32_t ranks : rank_counts)
    for (const Waiting waiting : waitings)
      for (const bool small : {true, false})
        for (const Force& force : forces) {
          // Ranks as threads once in a while; a process that has many threads cannot be killed by the test's timeout.
          all.push_back({ranks, waiting, small, index++ % 7 == 3, force.algorithms, force.tree});
        }
  if (fully) return all;
  // Steps of a prime through the product: neighbours differ in every axis.
  std::vector<MatrixGroup> sample;
  for (std::size_t at = 0; at < all.size(); at += 13) sample.push_back(all[at]);
  return sample;
}

RankSetup matrix_setup(const MatrixGroup& group) {
  RankSetup setup = ranks(group.ranks);
  if (group.small) {
    setup.shape.slot_bytes = 4096;
    setup.shape.cell_bytes = 512;
    setup.shape.calls_ahead = 2;
  }
  setup.waiting = group.waiting;
  setup.threads = group.threads;
  setup.timeout_seconds = 200;
  std::string complaint;
  setup.selection = plan::select_collectives({false, group.tree, group.forced}, complaint);
  // As short as among many ranks that have a core each, which is not what they have here.
  if (group.waiting == Waiting::spin) setup.selection.chain_chunk_bytes = least_chain_chunk_bytes;
  if (!complaint.empty()) setup.shape.ranks = 0;  // the matrix itself is wrong: nothing can start
  return setup;
}

std::vector<std::size_t> matrix_bytes(const GroupShape& shape, bool large) {
  const std::size_t cell = shape.cell_bytes, chunk = std::min<std::size_t>(shape.slot_bytes, 32 << 10),
                    ring = chunk * shape.slots, all_cells = cell * shape.calls_ahead;
  std::vector<std::size_t> all{0, 1, 3, 8, 56, 57, 64, 111, 112, 113, 4095, 4096, 4097, (1 << 20) + 3, 40 << 20};
  for (const std::size_t limit : {cell, chunk, 2 * chunk, ring, all_cells})
    for (const std::size_t bytes : {limit - 1, limit, limit + 1}) all.push_back(bytes);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto border = std::upper_bound(all.begin(), all.end(), std::size_t{70000});
  return large ? std::vector(border, all.end()) : std::vector(all.begin(), border);
}

std::vector<CallCase> matrix_calls(const MatrixGroup& group, bool fully) {
  const RankSetup setup = matrix_setup(group);
  const std::string text = group.name();
  std::seed_seq seed(text.begin(), text.end());
  std::mt19937 random(seed);
  std::uint64_t number = random();
  std::vector<CallCase> all;
  const auto add = [&](Kind kind, const Operation& operation, std::size_t bytes, bool in_place) {
    const CallCase call = make_call(kind, operation, bytes, in_place, number, group.ranks);
    // Along a tree what depends on the order has another result than the left fold.
    const bool ordered = call.operation && !call.operation->any_order && algorithm_of(setup, call) == Algorithm::tree;
    if (!ordered) all.push_back(call);
  };
  const auto any_operation = [&]() -> const Operation& { return operations()[random() % operations().size()]; };
  for (const Kind kind : called_kinds) {
    for (const std::size_t bytes : matrix_bytes(setup.shape, false)) {
      if (!reduces(kind)) {
        for (int root = 0; root < (fully ? 4 : 2); ++root) add(kind, operations()[0], bytes, false);
        continue;
      }
      for (const Operation& operation : operations())
        for (const bool in_place : {false, true})
          if (fully || random() % 4 == 0) add(kind, operation, bytes, in_place);
    }
    if (kind == Kind::barrier) continue;
    for (const std::size_t bytes : matrix_bytes(setup.shape, true)) {
      // Of the largest ones few: they are the same code going round the ring more often.
      if (bytes > (2u << 20) && random() % (fully ? 4 : 12) != 0) continue;
      add(kind, any_operation(), bytes, random() % 2 == 0);
    }
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

Algorithm algorithm_of(const RankSetup& setup, const CallCase& call) {
  const std::size_t each = call.operation ? call.operation->element_bytes : 1;
  const std::size_t bytes = call.elements * each;
  Question question{
      .bytes = call.kind == Kind::barrier ? 0 : bytes,
      .ranks = setup.shape.ranks,
      .cell_bytes = setup.shape.cell_bytes,
      .in_order = call.operation && (!call.operation->reducer.commutative || call.operation->reducer.user),
      .element_bytes = each};
  if (call.kind == Kind::reduce_scatter) {
    const std::vector<std::size_t> counts = block_counts(call, setup.shape.ranks);
    if (std::ranges::count(counts, counts[0]) == static_cast<std::ptrdiff_t>(counts.size()))
      question.block_bytes = counts[0] * each;
  }
  return choose(setup.selection, call.kind, question).algorithm;
}

}  // namespace millrace::collective::test
