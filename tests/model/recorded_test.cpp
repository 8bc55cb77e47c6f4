// Trees, groups and collectives on real machines that are not here, some of them of unequal parts (machines.txt).
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "collective/tree.h"
#include "model/machine.h"
#include "model/simulation.h"
#include "plan/collective.h"
#include "shared_memory/processors.h"

namespace millrace::model {
namespace {

using collective::Kind;
using collective::TreeKind;
using collective::TreeNode;
using shared_memory::Place;

struct Known {
  std::string name, text;
  std::uint32_t packages = 0, caches = 0, cores = 0, threads = 0;
};

std::vector<Known> known_machines() {
  std::vector<Known> all;
  std::ifstream file(MILLRACE_MACHINES);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    Known known;
    std::istringstream parts(line);
    std::string counts;
    std::getline(parts, known.name, '|');
    std::getline(parts, known.text, '|');
    std::getline(parts, counts, '|');
    const auto trim = [](std::string& text) {
      text.erase(0, text.find_first_not_of(' '));
      text.erase(text.find_last_not_of(' ') + 1);
    };
    trim(known.name), trim(known.text);
    std::istringstream(counts) >> known.packages >> known.caches >> known.cores >> known.threads;
    all.push_back(known);
  }
  return all;
}

class RealMachine : public testing::TestWithParam<Known> {
 protected:
  void SetUp() override { ASSERT_EQ(read_machine(GetParam().text, machine), ""); }
  Machine machine;
};

TEST_P(RealMachine, HasItsParts) {
  EXPECT_EQ(machine.packages, GetParam().packages);
  EXPECT_EQ(machine.caches, GetParam().caches);
  EXPECT_EQ(machine.core_count(), GetParam().cores);
  EXPECT_EQ(machine.threads(), GetParam().threads);
  EXPECT_EQ(machine_text(machine), GetParam().text);
  std::set<std::uint32_t> packages, caches;
  for (const Core& core : machine.cores) packages.insert(core.place.at[0]), caches.insert(core.place.at[1]);
  EXPECT_EQ(packages.size(), GetParam().packages);
  EXPECT_EQ(caches.size(), GetParam().caches);
}

// Ranks in the order of cores, and going round: core 0, core 0 + stride, ...
std::vector<Place> seated(const Machine& machine, std::uint32_t stride) {
  std::vector<Place> places;
  for (std::uint32_t first = 0; first < stride; ++first)
    for (std::uint32_t core = first; core < machine.core_count(); core += stride) places.push_back(machine.place(core));
  return places;
}

// Who is reached from rank 0, with at most `most_children` each; crossings[level]: edges that leave a part.
void walk(const std::vector<TreeNode>& nodes, const std::vector<std::uint32_t>& children,
          const std::vector<Place>& places, std::uint32_t most_children, std::uint32_t (&crossings)[2]) {
  std::vector<std::uint32_t> reached{0};
  std::set<std::uint32_t> once{0};
  for (std::size_t at = 0; at < reached.size(); ++at) {
    const TreeNode& node = nodes[reached[at]];
    EXPECT_LE(node.child_count, most_children);
    for (std::uint32_t index = 0; index < node.child_count; ++index) {
      const std::uint32_t child = children[node.first_child + index];
      ASSERT_TRUE(once.insert(child).second) << child << " is reached twice";
      EXPECT_EQ(nodes[child].parent, reached[at]);
      reached.push_back(child);
      for (std::size_t level = 0; level < 2; ++level)
        crossings[level] += places[child].at[level] != places[reached[at]].at[level];
    }
  }
  EXPECT_EQ(reached.size(), places.size());
}

TEST_P(RealMachine, TreesEnterEachPartOnce) {
  for (const std::uint32_t stride : {1u, 7u})
    for (const TreeKind kind : {TreeKind::kary, TreeKind::knomial, TreeKind::flat})
      for (std::uint32_t levels = 0; levels <= 2; ++levels) {
        const std::vector<Place> places = seated(machine, stride);
        const auto count = static_cast<std::uint32_t>(places.size());
        std::vector<TreeNode> nodes(count);
        std::vector<std::uint32_t> children(count), scratch(4 * count);
        collective::build_tree(places, {.kind = kind, .arity = 3, .levels = levels}, nodes, children, scratch);
        std::uint32_t crossings[2] = {};
        walk(nodes, children, places, kind == TreeKind::kary ? 3 * (levels + 1) : count, crossings);
        if (levels >= 1) {
          EXPECT_EQ(crossings[0], machine.packages - 1) << "levels " << levels << " stride " << stride;
        }
        if (levels == 2) {
          EXPECT_EQ(crossings[1], machine.caches - 1) << "stride " << stride;
        }
      }
}

// A rank for each thread has a processor of its own, one more has not; nor have two ranks that are bound to one thread.
TEST_P(RealMachine, WhoSharesCoresIsKnown) {
  std::vector<shared_memory::Processors> ranks;
  std::uint32_t processor = 0;
  for (const Core& core : machine.cores) {
    shared_memory::Processors mask;
    for (std::uint32_t thread = 0; thread < core.threads; ++thread, ++processor)
      mask.mask[processor / 64] |= std::uint64_t{1} << (processor % 64);
    for (std::uint32_t thread = 0; thread < core.threads; ++thread) ranks.push_back(mask);
  }
  ASSERT_EQ(ranks.size(), GetParam().threads);
  EXPECT_TRUE(shared_memory::one_each(ranks));
  ranks.push_back(ranks[ranks.size() / 2]);
  EXPECT_FALSE(shared_memory::one_each(ranks));
}

TEST_P(RealMachine, CollectivesAreRightAlongItsTrees) {
  for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::allreduce})
    for (const char* const tree : {"knomial:4,cache", "kary:3,socket"}) {
      Question question;
      question.machine = machine;
      question.kind = kind;
      question.bytes = 64;
      question.ranks = machine.core_count();
      std::string complaint;
      question.selection =
          plan::select_collectives({.tree = tree, .force = "barrier=tree,bcast=tree,allreduce=tree"}, complaint);
      ASSERT_EQ(complaint, "");
      const Answer answer = simulate(question);
      EXPECT_TRUE(answer.is_right) << answer.failure;
      EXPECT_STREQ(answer.algorithm, "tree");
    }
}

INSTANTIATE_TEST_SUITE_P(All, RealMachine, testing::ValuesIn(known_machines()), [](const auto& each) {
  std::string name;
  for (const char letter : each.param.name)
    if (std::isalnum(static_cast<unsigned char>(letter))) name += letter;
  return name;
});

TEST(RealMachines, AreSome) { EXPECT_GE(known_machines().size(), 10u); }

}  // namespace
}  // namespace millrace::model
