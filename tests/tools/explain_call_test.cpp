#include "tools/explain_call.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/hosts/hosts.h"

namespace millrace::tools {
namespace {

constexpr const char* no_settings[] = {nullptr};

TEST(ExplainCall, NamesTheAlgorithm) {
  EXPECT_NE(explain_call("allreduce", 8, 2, false, no_settings).text.find("pair"), std::string::npos);
  EXPECT_NE(explain_call("MPI_Allreduce", 8, 5, false, no_settings).text.find("cells"), std::string::npos);
  EXPECT_NE(explain_call("reduce", 1 << 16, 8, false, no_settings).text.find("slices"), std::string::npos);
  EXPECT_NE(explain_call("reduce", 1 << 20, 8, false, no_settings).text.find("chain"), std::string::npos);
  EXPECT_NE(explain_call("alltoall", 1 << 20, 8, false, no_settings).text.find("alltoall_mail"), std::string::npos);
  EXPECT_NE(explain_call("alltoall", 8, 700, false, no_settings).text.find("host MPI"), std::string::npos);
  EXPECT_NE(explain_call("BCAST", 1 << 20, 8, false, no_settings).text.find("chunks"), std::string::npos);
  EXPECT_NE(explain_call("MPI_Scan", 8, 2, false, no_settings).text.find("scan_cells"), std::string::npos);
  EXPECT_NE(explain_call("exscan", 1 << 20, 4, false, no_settings).text.find("exscan_chain"), std::string::npos);
  EXPECT_NE(explain_call("reduce_scatter", 1 << 20, 4, false, no_settings).text.find("reduce_scatter_slices"),
            std::string::npos);
  EXPECT_NE(explain_call("reduce", 1 << 20, 8, true, no_settings).text.find("chain"), std::string::npos);
}

TEST(ExplainCall, FollowsTheSettings) {
  const char* const settings[] = {"MILLRACE_ALGORITHM=allreduce=slices", nullptr};
  EXPECT_NE(explain_call("allreduce", 8, 5, false, settings).text.find("slices"), std::string::npos);
  EXPECT_NE(explain_call("bcast", 100000, 2, false, no_settings).text.find("bcast_single_copy"), std::string::npos);
  const char* const two_copies[] = {"MILLRACE_SINGLE_COPY=never", nullptr};
  EXPECT_NE(explain_call("bcast", 100000, 2, false, two_copies).text.find("bcast_chunks"), std::string::npos);
  const char* const wrong[] = {"MILLRACE_TREE=oak", nullptr};
  EXPECT_NE(explain_call("allreduce", 8, 5, false, wrong).text.find("oak"), std::string::npos);
}

TEST(ExplainCall, ListsTheAlgorithmsInsteadOfAWrongOne) {
  const auto complaint = [](const char* setting) {
    const char* const settings[] = {setting, nullptr};
    const std::string text = explain_call("allreduce", 8, 5, false, settings).text;
    return std::string(text.begin(), std::ranges::find(text, '\n'));
  };
  EXPECT_EQ(complaint("MILLRACE_ALGORITHM=allreduce=foo"),
            "MILLRACE_ALGORITHM: 'allreduce=foo' is not one of allreduce=pair|tree|mesh|cells|chain|slices: ignored");
  EXPECT_NE(complaint("MILLRACE_ALGORITHM=iscan=foo").find("is not one of barrier, bcast, "), std::string::npos);
}

TEST(ExplainCall, SaysWhoseItIsOnAHost) {
  const auto on = [](const char* product, const char* call, std::uint64_t bytes, bool crowded,
                     std::uint32_t ranks = 2) {
    const std::string products[] = {product};
    return explain_call(call, bytes, ranks, crowded, no_settings, products).text;
  };
  const auto is_hosts = [](const std::string& text) { return text.find("left to the host") != std::string::npos; };
  EXPECT_NE(on("Open MPI 4.1.4", "bcast", 8, false).find("on Open MPI 4.1.4: done so\n"), std::string::npos);
  // The facts of each host stand in src/plan/hosts: both sides of what one of them says.
  const std::int64_t from = plan::hosts::intel.crowded_bcast_from;
  ASSERT_LT(from, plan::any_size);
  EXPECT_TRUE(is_hosts(on("Intel MPI 2021.18.1", "bcast", static_cast<std::uint64_t>(from), true, 8)));
  EXPECT_FALSE(is_hosts(on("Intel MPI 2021.18.1", "bcast", static_cast<std::uint64_t>(from - 1), true, 8)));
  EXPECT_FALSE(is_hosts(on("Intel MPI 2021.18.1", "bcast", static_cast<std::uint64_t>(from), false, 8)));
  EXPECT_FALSE(is_hosts(on("MPICH 4.0.2", "bcast", static_cast<std::uint64_t>(from), true, 8)));
  // Without one: all.
  const std::string all = explain_call("bcast", 8, 2, false, no_settings).text;
  for (const plan::HostFacts* const facts : plan::hosts::measured)
    EXPECT_NE(all.find(std::string("on ") + facts->name + ": "), std::string::npos) << all;
  const char* const never[] = {"MILLRACE_COLLECTIVES=never", nullptr};
  EXPECT_NE(explain_call("bcast", 8, 2, false, never).text.find("left to every host"), std::string::npos);
}

TEST(ExplainCall, SaysWhatGoesOverTheWire) {
  const auto over = [](const char* call, std::uint64_t bytes, std::uint32_t ranks, std::uint32_t nodes,
                       const char* const* environment = no_settings) {
    return explain_call(call, bytes, ranks, false, environment, {}, nodes).text;
  };
  const std::string text = over("allreduce", 1 << 20, 1280, 32);
  EXPECT_NE(text.find("over 32 nodes of 40 ranks: nodes_allreduce\n"), std::string::npos) << text;
  EXPECT_NE(text.find("2. between nodes, 40 calls of the host at a time among 32 ranks: allreduce"), std::string::npos);
  EXPECT_NE(text.find("the same by the host alone"), std::string::npos);
  // Of two nodes, each byte once each way.
  const std::string two = over("allreduce", 1 << 20, 4, 2);
  EXPECT_NE(two.find("        1048576 bytes out        1048576 bytes in\n"), std::string::npos) << two;
  EXPECT_NE(two.find("on Open MPI 4: done so\n"), std::string::npos);
  EXPECT_NE(over("gather", 8, 4, 2).find("left to the host, which was measured"), std::string::npos);
  EXPECT_NE(over("neighbor", 8, 3, 2).find(": the host MPI\n  because "), std::string::npos);
  const char* const never[] = {"MILLRACE_NODES=never", nullptr};
  EXPECT_NE(over("allreduce", 8, 4, 2, never).find("left to every host: MILLRACE_NODES=never\n"), std::string::npos);
  const char* const ordered[] = {"MILLRACE_ORDER=rank", nullptr};
  EXPECT_NE(
      over("allreduce", 8, 4, 2, ordered).find("between nodes, 1 call of the host at a time among 2 ranks: allgat"),
      std::string::npos);
  EXPECT_EQ(over("bcast", 8, 4, 2, ordered), over("bcast", 8, 4, 2));
}

TEST(ExplainCall, SaysWhatItDoesNotKnow) {
  EXPECT_FALSE(explain_call("iscan", 8, 2, false, no_settings).is_understood);
  EXPECT_NE(explain_call("iscan", 8, 2, false, no_settings).text.find("iscan"), std::string::npos);
}

}  // namespace
}  // namespace millrace::tools
