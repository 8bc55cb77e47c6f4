// Which algorithm does what, what settings change of it, and how it is said.
#include "collective/selection.h"

#include <gtest/gtest.h>

#include "collective/algorithms.h"
#include "plan/collective.h"

namespace millrace::plan {
namespace {

using namespace millrace::collective;

Selection selected(const CollectiveSettings& settings) {
  std::string complaint;
  const Selection selection = select_collectives(settings, complaint);
  EXPECT_EQ(complaint, "");
  return selection;
}

constexpr std::uint32_t slot_bytes = 64 << 10;

Algorithm chosen(const Selection& selection, Kind kind, std::size_t bytes, std::uint32_t ranks, bool in_order = false,
                 bool crowded = false) {
  return choose(selection, kind, {bytes, ranks, 4096, in_order, crowded, slot_bytes}).algorithm;
}

TEST(Selection, OfTheTable) {
  const Selection selection = selected({});
  EXPECT_EQ(chosen(selection, Kind::barrier, 0, 1), Algorithm::alone);
  EXPECT_EQ(chosen(selection, Kind::barrier, 0, 2), Algorithm::pair);
  EXPECT_EQ(chosen(selection, Kind::barrier, 0, 8), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::barrier, 0, 31), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::barrier, 0, 32), Algorithm::mesh);
  EXPECT_EQ(chosen(selection, Kind::barrier, 0, 32, false, true), Algorithm::tree);
  EXPECT_EQ(chosen(selection, Kind::bcast, 0, 4), Algorithm::alone);
  EXPECT_EQ(chosen(selection, Kind::bcast, 4096, 4), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::bcast, 4097, 4), Algorithm::chunks);
  EXPECT_EQ(chosen(selection, Kind::bcast, 65535, 2), Algorithm::chunks);
  EXPECT_EQ(chosen(selection, Kind::bcast, 65536, 2), Algorithm::single_copy);
  EXPECT_EQ(chosen(selection, Kind::bcast, 1 << 20, 2), Algorithm::single_copy);
  EXPECT_EQ(chosen(selection, Kind::bcast, 65536, 3), Algorithm::chunks);
  EXPECT_EQ(chosen(selection, Kind::alltoall, 0, 3), Algorithm::mail);
  EXPECT_EQ(chosen(selection, Kind::alltoall, 8, 2), Algorithm::pair);
  EXPECT_EQ(chosen(selection, Kind::allgather, 65536, 2), Algorithm::pair);
  EXPECT_EQ(chosen(selection, Kind::allgather, 4 << 20, 2), Algorithm::pair);
  EXPECT_EQ(chosen(selection, Kind::allgather, (4 << 20) + 1, 2), Algorithm::mail);
  EXPECT_EQ(chosen(selection, Kind::allgather, 65536, 2, false, true), Algorithm::pair);
  EXPECT_EQ(chosen(selection, Kind::allgather, 65537, 2, false, true), Algorithm::mail);
  EXPECT_EQ(chosen(selection, Kind::alltoall, 1024, 4), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::alltoall, 1025, 4), Algorithm::mail);
  EXPECT_EQ(chosen(selection, Kind::allgather, 8, 4), Algorithm::mail);
  EXPECT_EQ(chosen(selection, Kind::reduce, 1 << 20, 2), Algorithm::chunks);
  EXPECT_EQ(chosen(selection, Kind::reduce, 1 << 20, 3), Algorithm::slices);
  EXPECT_EQ(chosen(selection, Kind::allreduce, 8, 31), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::allreduce, 1 << 20, 3), Algorithm::slices);
  EXPECT_EQ(chosen(selection, Kind::allreduce, 1 << 20, 2), Algorithm::pair);
  EXPECT_EQ(chosen(selection, Kind::allreduce, 131071, 2, true), Algorithm::pair);
  EXPECT_EQ(chosen(selection, Kind::allreduce, 131072, 2, true), Algorithm::slices);
  EXPECT_EQ(chosen(selection, Kind::allreduce, 131072, 2, true, true), Algorithm::pair);
  EXPECT_EQ(chosen(selected({false, "", "allreduce=pair"}), Kind::allreduce, 131072, 2, true), Algorithm::pair);
}

TEST(Selection, Forced) {
  const Selection trees = selected({false, "kary:3,socket", "barrier=tree,bcast=tree,reduce=tree,allreduce=tree"});
  for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce})
    EXPECT_EQ(chosen(trees, kind, kind == Kind::barrier ? 0 : 64, 4), Algorithm::tree);
  EXPECT_EQ(trees.tree.arity, 3u);
  EXPECT_EQ(trees.tree.levels, 1u);
  // What is not commutative never goes along a tree.
  EXPECT_EQ(chosen(trees, Kind::allreduce, 64, 4, true), Algorithm::cells);
  const Selection chain = selected({false, "", "reduce=chain,allreduce=chain"});
  EXPECT_EQ(chosen(chain, Kind::reduce, 1, 2), Algorithm::chain);
  EXPECT_EQ(chosen(chain, Kind::allreduce, 1 << 20, 9, true), Algorithm::chain);
  const Selection large = selected({false, "", "bcast=chunks,reduce=slices,allreduce=slices"});
  EXPECT_EQ(chosen(large, Kind::bcast, 1, 2), Algorithm::chunks);
  EXPECT_EQ(chosen(large, Kind::reduce, 1, 2), Algorithm::slices);
  EXPECT_EQ(chosen(large, Kind::allreduce, 1, 2), Algorithm::slices);
}

// Whoever can be asked for is taken then, with many ranks and few, and only where it suits: two ranks for what is for
// two, what fits a cell for those that use cells.
TEST(Selection, WhatIsForcedIsTaken) {
  for (const AlgorithmEntry& entry : algorithms()) {
    EXPECT_EQ(entry.force == nullptr, entry.algorithm == Algorithm::alone || entry.algorithm == Algorithm::mail);
    if (!entry.force) continue;
    const std::string word = std::string(kind_name(entry.kind)) + '=' + entry.name;
    CollectiveSettings settings;
    settings.force = word;
    const Selection selection = selected(settings);
    const bool of_two = entry.algorithm == Algorithm::pair || entry.run.scan == exscan_single_copy;
    const std::uint32_t ranks = of_two ? 2 : 4;
    const bool small = entry.algorithm == Algorithm::tree || entry.algorithm == Algorithm::cells;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{1} << 30}) {
      if (small && bytes > (entry.run.blocks ? 4096 / ranks : 4096)) continue;
      // A cell holds what several ranks have; and of blocks of a Reduce_scatter nothing is said here.
      const bool gathers = entry.algorithm == Algorithm::gathered || entry.algorithm == Algorithm::mesh;
      if (gathers && (bytes > 512 || entry.run.reduce_scatter)) continue;
      if (entry.run.blocks && entry.algorithm == Algorithm::chunks && bytes > slot_bytes / (ranks - 1)) continue;
      for (const bool crowded : {false, true})
        EXPECT_EQ(chosen(selection, entry.kind, bytes, ranks, false, crowded), entry.algorithm) << word << ' ' << bytes;
    }
  }
}

TEST(Selection, EveryKindHasAnAlgorithmForEveryCall) {
  for (int kind = 1; kind <= static_cast<int>(Kind::neighbor); ++kind) {
    const AlgorithmEntry* last = nullptr;
    for (const AlgorithmEntry& entry : algorithms())
      if (entry.kind == static_cast<Kind>(kind)) last = &entry;
    ASSERT_NE(last, nullptr) << kind;
    EXPECT_TRUE(last->takes(standard_selection(), {std::size_t{1} << 40, 1000, 1, true, true}))
        << kind_name(last->kind);
  }
}

TEST(Selection, OfRanksThatShareCores) {
  const Selection selection = selected({});
  for (const Kind kind : {Kind::reduce, Kind::allreduce}) {
    EXPECT_EQ(chosen(selection, kind, 1 << 20, 8, false, true), Algorithm::chain);
    EXPECT_EQ(chosen(selection, kind, 64, 8, false, true), Algorithm::cells);
  }
  EXPECT_EQ(chosen(selection, Kind::reduce, 1 << 20, 4, false, true), Algorithm::chunks);
  EXPECT_EQ(chosen(selection, Kind::reduce, 1 << 20, 4, false, false), Algorithm::chain);
  EXPECT_EQ(chosen(selection, Kind::allreduce, 4096, 4, false, true), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::scatter, 512, 16, false, true), Algorithm::mail);
  const Selection slices = selected({false, "", "allreduce=slices"});
  EXPECT_EQ(chosen(slices, Kind::allreduce, 1 << 20, 8, false, true), Algorithm::slices);
}

TEST(Selection, OfRanksWithACoreEach) {
  const Selection selection = selected({});
  for (const bool in_order : {false, true}) {
    EXPECT_EQ(chosen(selection, Kind::reduce, 131071, 16, in_order), Algorithm::slices);
    EXPECT_EQ(chosen(selection, Kind::reduce, 131072, 16, in_order), Algorithm::chain);
    EXPECT_EQ(chosen(selection, Kind::allreduce, (1 << 20) - 1, 16, in_order), Algorithm::slices);
    EXPECT_EQ(chosen(selection, Kind::allreduce, 1 << 20, 16, in_order), Algorithm::chain);
  }
  for (const auto& [ranks, most_bytes] :
       {std::pair<std::uint32_t, std::size_t>{3, 4096}, {4, 512}, {16, 512}, {17, 481}, {31, 264}}) {
    EXPECT_EQ(chosen(selection, Kind::allreduce, most_bytes, ranks), Algorithm::cells) << ranks;
    EXPECT_EQ(chosen(selection, Kind::allreduce, most_bytes + 1, ranks), Algorithm::slices) << ranks;
  }
  for (const auto& [ranks, most_bytes] :
       {std::pair<std::uint32_t, std::size_t>{3, 4096}, {8, 4096}, {16, 2560}, {31, 1321}}) {
    EXPECT_EQ(chosen(selection, Kind::reduce, most_bytes, ranks), Algorithm::cells) << ranks;
    EXPECT_EQ(chosen(selection, Kind::reduce, most_bytes + 1, ranks), Algorithm::slices) << ranks;
  }
  EXPECT_EQ(chosen(selection, Kind::reduce, 4096, 16, false, true), Algorithm::cells);
  EXPECT_EQ(chosen(selected({false, "", "reduce=cells"}), Kind::reduce, 4096, 128), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::scatter, 273, 16), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::scatter, 274, 16), Algorithm::mail);
  for (const Kind kind : {Kind::gather, Kind::scatter}) {
    EXPECT_EQ(chosen(selection, kind, 4097, 2), Algorithm::chunks);
    EXPECT_EQ(chosen(selection, kind, 32768, 3), Algorithm::chunks);
    EXPECT_EQ(chosen(selection, kind, 32769, 2), Algorithm::mail);
    EXPECT_EQ(chosen(selection, kind, 32768, 4), kind == Kind::gather ? Algorithm::chunks : Algorithm::mail);
  }
  // In the background nobody waits for the rank before him.
  EXPECT_EQ(choose(selection, Kind::reduce, {1 << 20, 16, 4096, false, false, 0, true}).algorithm, Algorithm::slices);
  EXPECT_EQ(choose(selection, Kind::reduce, {1 << 20, 16, 4096, false, true, 0, true}).algorithm, Algorithm::chain);
  const Selection cells = selected({false, "", "allreduce=cells"});
  EXPECT_EQ(chosen(cells, Kind::allreduce, 4096, 64), Algorithm::cells);
}

TEST(Selection, OfFewBytesAmongManyRanks) {
  const Selection selection = selected({});
  for (const bool in_order : {false, true}) {
    EXPECT_EQ(chosen(selection, Kind::reduce, 64, 32, in_order), Algorithm::gathered);
    EXPECT_EQ(chosen(selection, Kind::reduce, 65, 32, in_order), Algorithm::mesh);
    EXPECT_EQ(chosen(selection, Kind::reduce, 16, 128, in_order), Algorithm::gathered);
    EXPECT_EQ(chosen(selection, Kind::reduce, 17, 128, in_order), Algorithm::mesh);
    EXPECT_EQ(chosen(selection, Kind::reduce, 1025, 128, in_order), Algorithm::slices);
    EXPECT_EQ(chosen(selection, Kind::allreduce, 8, 32, in_order), Algorithm::mesh);
    EXPECT_EQ(chosen(selection, Kind::allreduce, 2049, 128, in_order), Algorithm::slices);
    for (const Kind kind : {Kind::reduce, Kind::allreduce}) {
      EXPECT_EQ(chosen(selection, kind, 32, 31, in_order), Algorithm::cells);
      EXPECT_EQ(chosen(selection, kind, 8, 32, in_order, true), Algorithm::cells);
      EXPECT_EQ(choose(selection, kind, {8, 32, 4096, in_order, false, 0, true}).algorithm, Algorithm::cells);
      // A member of a team gathers a column of all its rows in one cell.
      EXPECT_EQ(choose(selection, kind, {1024, 128, 1024, in_order}).algorithm, Algorithm::mesh);
      const Question large{.bytes = 1024, .ranks = 128, .cell_bytes = 1024, .in_order = in_order, .element_bytes = 256};
      EXPECT_EQ(choose(selection, kind, large).algorithm, Algorithm::slices);
    }
  }
  // To ask for one says nothing of the other.
  EXPECT_EQ(chosen(selected({false, "", "reduce=gathered"}), Kind::allreduce, 8, 32, false, true), Algorithm::cells);
  for (const auto& [ranks, width] : {std::pair<std::uint32_t, std::uint32_t>{3, 2}, {4, 2}, {32, 6}, {128, 12}})
    EXPECT_EQ(gathered_width(ranks), width) << ranks;
}

// Among many ranks a root that reads all cells is slow, and integers are the same in any order.
TEST(Selection, OfIntegersAmongManyRanks) {
  const Selection selection = selected({});
  const auto algorithm_of = [&](Kind kind, std::size_t bytes, std::uint32_t ranks, Question question = {}) {
    question.bytes = bytes;
    question.ranks = ranks;
    question.cell_bytes = 4096;
    question.any_order = true;
    return choose(selection, kind, question).algorithm;
  };
  EXPECT_EQ(algorithm_of(Kind::reduce, 8, 15), Algorithm::cells);
  EXPECT_EQ(algorithm_of(Kind::reduce, 8, 16), Algorithm::tree);
  EXPECT_EQ(algorithm_of(Kind::reduce, 4096, 128), Algorithm::tree);
  EXPECT_EQ(algorithm_of(Kind::reduce, 4097, 128), Algorithm::slices);
  EXPECT_EQ(algorithm_of(Kind::reduce, 8, 16, {.in_order = true}), Algorithm::cells);
  EXPECT_EQ(algorithm_of(Kind::reduce, 8, 16, {.crowded = true}), Algorithm::cells);
  EXPECT_EQ(algorithm_of(Kind::reduce, 8, 16, {.in_background = true}), Algorithm::cells);
  EXPECT_EQ(algorithm_of(Kind::allreduce, 128, 64), Algorithm::mesh);
  for (const char* const forced : {"reduce=cells", "reduce=slices", "reduce=chain", "reduce=chunks"}) {
    const Selection other = selected({false, "", forced});
    const Question question{.bytes = 8, .ranks = 128, .cell_bytes = 4096, .any_order = true};
    EXPECT_NE(choose(other, Kind::reduce, question).algorithm, Algorithm::tree) << forced;
  }
  for (const char* const forced : {"allreduce=cells", "allreduce=slices", "allreduce=chain"}) {
    const Selection other = selected({false, "", forced});
    const Question question{.bytes = 8, .ranks = 128, .cell_bytes = 4096, .any_order = true};
    EXPECT_NE(choose(other, Kind::allreduce, question).algorithm, Algorithm::tree) << forced;
  }
}

TEST(Selection, WhatIsTheSameInAnyOrder) {
  for (std::size_t index = 0; index < kernel::kernel_count; ++index) {
    const auto op = static_cast<kernel::Op>(index / kernel::type_count);
    const auto type = static_cast<kernel::Type>(index % kernel::type_count);
    const kernel::TypeClass kind = kernel::type_class(type);
    const bool is_whole = kind == kernel::TypeClass::integer || kind == kernel::TypeClass::logical;
    EXPECT_EQ(kernel_reducer(op, type).any_order, is_whole && kernel::op_applies(op, type)) << index;
  }
}

TEST(Selection, ChunksOfABcast) {
  const Selection selection = selected({});
  EXPECT_EQ(bcast_chunk_bytes(selection, 2, (512 << 10) - 1), 32u << 10);
  EXPECT_EQ(bcast_chunk_bytes(selection, 2, 512 << 10), 64u << 10);
  EXPECT_EQ(bcast_chunk_bytes(selection, 3, 16 << 20), 32u << 10);
}

// Short enough that the last rank is not idle long, long enough that flags do not count.
TEST(Selection, ChunksOfAChain) {
  const Selection selection = selected({});
  EXPECT_EQ(chain_chunk_bytes(selection, {.bytes = 1 << 20, .ranks = 8, .crowded = true}), 64u << 10);
  EXPECT_EQ(chain_chunk_bytes(selection, {.bytes = 1 << 20, .ranks = 2}), 64u << 10);
  EXPECT_EQ(chain_chunk_bytes(selection, {.bytes = 1 << 20, .ranks = 16}), 16u << 10);
  EXPECT_EQ(chain_chunk_bytes(selection, {.bytes = 16 << 20, .ranks = 16}), 64u << 10);
  EXPECT_EQ(chain_chunk_bytes(selection, {.bytes = 1 << 20, .ranks = 128}), 4u << 10);
  EXPECT_EQ(chain_chunk_bytes(selection, {.bytes = 8, .ranks = 1000}), 4u << 10);
}

TEST(Selection, TreesForEachWay) {
  const Selection both = selected({false, "kary:3,socket", ""});
  EXPECT_EQ(both.gather_tree.arity, 3u);
  EXPECT_EQ(both.gather_tree.levels, 1u);
  const Selection two = selected({false, "kary:2,cache/flat,leaders-last", ""});
  EXPECT_EQ(two.tree.kind, TreeKind::kary);
  EXPECT_EQ(two.tree.levels, 2u);
  EXPECT_EQ(two.gather_tree.kind, TreeKind::flat);
  EXPECT_FALSE(two.gather_tree.leaders_first);
}

TEST(Selection, OfSingleCopies) {
  CollectiveSettings settings;
  settings.force = "bcast=single_copy";
  EXPECT_EQ(chosen(selected(settings), Kind::bcast, 8, 5), Algorithm::single_copy);
  EXPECT_EQ(chosen(selected(settings), Kind::bcast, std::size_t{1} << 33, 5), Algorithm::single_copy);
  settings.single_copy = false;
  EXPECT_EQ(chosen(selected(settings), Kind::bcast, 8, 5), Algorithm::chunks);
  settings = {};
  settings.force = "bcast=chunks";
  EXPECT_EQ(chosen(selected(settings), Kind::bcast, 100000, 2), Algorithm::chunks);
}

TEST(Selection, RankOrderForbidsTreesInReductions) {
  const Selection selection = selected({true, "", "reduce=tree,allreduce=tree,bcast=tree"});
  EXPECT_EQ(chosen(selection, Kind::reduce, 64, 100), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::allreduce, 64, 100), Algorithm::cells);
  EXPECT_EQ(chosen(selection, Kind::bcast, 64, 100), Algorithm::tree);
}

TEST(Selection, ComplainsOfWhatItCannotRead) {
  std::string complaint;
  for (const char* tree : {"oak", "kary", "kary:1", "kary:x", "flat:2", "knomial:4,moon", "flat/oak", "oak/flat"}) {
    select_collectives({false, tree, ""}, complaint);
    EXPECT_NE(complaint.find(tree), std::string::npos) << tree;
  }
  for (const char* forced : {"barrier", "barrier=slices", "scan=tree", "bcast=pair"}) {
    select_collectives({false, "", forced}, complaint);
    EXPECT_NE(complaint.find(forced), std::string::npos) << forced;
  }
}

TEST(Selection, ExplainsItself) {
  GroupShape shape;
  shape.ranks = 4;
  const std::string text = explain_collective(selected({}), shape, Kind::allreduce, 100000, false);
  EXPECT_NE(text.find("allreduce_slices"), std::string::npos) << text;
  EXPECT_NE(text.find("4 chunks of 32768 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("left fold"), std::string::npos) << text;
}

// With one, a call after one in which every rank heard from every other would wait for what nobody says.
TEST(Shapes, OfRingsThatAreTooShort) {
  GroupShape shape;
  shape.ranks = 2;
  EXPECT_TRUE(valid(shape));
  shape.calls_ahead = 1;
  EXPECT_FALSE(valid(shape));
}

// Small groups have larger cells, and then messages of 8 KiB go through them.
TEST(Shapes, OfSmallGroupsHaveLargeCells) {
  const Selection selection = selected({});
  for (const std::uint32_t ranks : {2u, 3u, 8u, 9u, 16u}) {
    const GroupShape shape = shape_for(ranks, std::size_t{64} << 20);
    const std::size_t cell = ranks <= 8 ? 8192 : 4096;
    EXPECT_EQ(shape.cell_bytes, cell) << ranks;
    for (const Kind kind : {Kind::bcast, Kind::gather, Kind::scan, Kind::exscan, Kind::reduce_scatter}) {
      const auto algorithm_of = [&](std::size_t bytes) {
        return choose(selection, kind, {bytes, ranks, shape.cell_bytes, false, false, shape.slot_bytes}).algorithm;
      };
      EXPECT_EQ(algorithm_of(cell), Algorithm::cells) << ranks;
      EXPECT_NE(algorithm_of(cell + 1), Algorithm::cells) << ranks;
    }
  }
}

// Rather than cells of 512 bytes, of which one would not hold what several ranks have.
TEST(Shapes, OfManyRanksHaveFewerAndLargerCells) {
  const GroupShape shape = shape_for(192, std::size_t{64} << 20);
  EXPECT_EQ(shape.calls_ahead, 32u);
  EXPECT_EQ(shape.cell_bytes, 1024u);
  EXPECT_EQ(shape_for(160, std::size_t{64} << 20).calls_ahead, 64u);
  const Question question{.bytes = 512, .ranks = 192, .cell_bytes = shape.cell_bytes, .element_bytes = 8};
  EXPECT_EQ(choose(selected({}), Kind::allreduce, question).algorithm, Algorithm::mesh);
}

TEST(Shapes, FitTheMemoryThatThereIs) {
  for (const std::uint32_t ranks : {1u, 2u, 16u, 128u, 1024u}) {
    for (const std::size_t most : {std::size_t{1} << 20, std::size_t{64} << 20, std::size_t{1} << 31}) {
      const GroupShape shape = shape_for(ranks, most);
      if (shape.ranks == 0) continue;
      EXPECT_TRUE(valid(shape));
      EXPECT_LE(segment_bytes(shape), most);
    }
    EXPECT_EQ(shape_for(ranks, std::size_t{1} << 31).ranks, ranks);
    EXPECT_EQ(shape_for(ranks, 1000).ranks, 0u);
  }
}

}  // namespace
}  // namespace millrace::plan
