#include "plan/over_nodes.h"

#include <gtest/gtest.h>

#include "plan/hosts/hosts.h"

namespace millrace::plan {
namespace {

using collective::Kind;

constexpr NodesShape two_of_two{4, 2, true}, three_of_two{6, 3, true};

TEST(OverNodes, WhatEveryHostWasSlowerAtIsOurs) {
  for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce})
    for (const std::int64_t bytes : {std::int64_t{8}, 2 * mib})
      EXPECT_FALSE(host_crosses_faster(hosts::unknown, two_of_two, kind, bytes)) << collective::kind_name(kind);
  for (const Kind kind :
       {Kind::gather, Kind::scatter, Kind::allgather, Kind::alltoall, Kind::scan, Kind::exscan, Kind::reduce_scatter})
    EXPECT_TRUE(host_crosses_faster(hosts::unknown, two_of_two, kind, 64 * kib)) << collective::kind_name(kind);
}

TEST(OverNodes, MoreWhereItWasMeasured) {
  EXPECT_FALSE(host_crosses_faster(hosts::openmpi_5, two_of_two, Kind::allgather, 32 * kib));
  EXPECT_TRUE(host_crosses_faster(hosts::openmpi_5, two_of_two, Kind::allgather, 2 * kib));
  EXPECT_FALSE(host_crosses_faster(hosts::openmpi_4, two_of_two, Kind::alltoall, 8));
  EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, two_of_two, Kind::alltoall, 32 * kib));
  EXPECT_FALSE(host_crosses_faster(hosts::openmpi_5, two_of_two, Kind::reduce_scatter, 1 * mib));
  EXPECT_FALSE(host_crosses_faster(hosts::mpich_5, two_of_two, Kind::reduce_scatter, 1 * mib));
  EXPECT_TRUE(host_crosses_faster(hosts::mpich_5, two_of_two, Kind::reduce_scatter, 256 * kib));
  EXPECT_FALSE(host_crosses_faster(hosts::openmpi_4, two_of_two, Kind::reduce_scatter, 48 * kib));
  EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, three_of_two, Kind::reduce_scatter, 48 * kib));
  EXPECT_FALSE(host_crosses_faster(hosts::openmpi_4, three_of_two, Kind::reduce_scatter, 192 * kib));
  EXPECT_FALSE(host_crosses_faster(hosts::intel, three_of_two, Kind::reduce_scatter, 1));
  EXPECT_FALSE(host_crosses_faster(hosts::mpich_5, two_of_two, Kind::scan, 8));
  EXPECT_TRUE(host_crosses_faster(hosts::openmpi_5, two_of_two, Kind::scan, 8));
  EXPECT_FALSE(host_crosses_faster(hosts::intel, two_of_two, Kind::exscan, 8));
  EXPECT_FALSE(host_crosses_faster(hosts::mpich_4, two_of_two, Kind::exscan, 256 * kib));
  EXPECT_TRUE(host_crosses_faster(hosts::mpich_4, two_of_two, Kind::exscan, 1 * mib));
  EXPECT_TRUE(host_crosses_faster(hosts::mpich_5, two_of_two, Kind::exscan, 8));
}

// The blocks of a node travel together.
TEST(OverNodes, GatherAndScatterByWhatANodeSends) {
  constexpr NodesShape two_of_four{8, 2, true}, two_of_eight{16, 2, true}, two_and_one{3, 2, false};
  for (const Kind kind : {Kind::gather, Kind::scatter}) {
    EXPECT_FALSE(host_crosses_faster(hosts::openmpi_4, two_of_two, kind, 512)) << collective::kind_name(kind);
    EXPECT_FALSE(host_crosses_faster(hosts::openmpi_4, two_of_two, kind, 8 * kib)) << collective::kind_name(kind);
    EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, two_of_two, kind, 8)) << collective::kind_name(kind);
    EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, two_of_two, kind, 16 * kib)) << collective::kind_name(kind);
    // Four times as much is 2 KiB more than a word holds.
    EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, two_of_four, kind, any_size / 2 + 513))
        << collective::kind_name(kind);
    EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, two_of_eight, kind, 8 * kib)) << collective::kind_name(kind);
    EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, two_and_one, kind, 4 * kib)) << collective::kind_name(kind);
    EXPECT_TRUE(host_crosses_faster(hosts::mpich_5, two_of_two, kind, 512)) << collective::kind_name(kind);
  }
}

TEST(OverNodes, WhatIsUnusualIsTheHosts) {
  constexpr NodesShape two_and_one{3, 2, false}, rows{4, 2, true, false};
  EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, two_and_one, Kind::alltoall, 8));
  EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, rows, Kind::allreduce, 8));
  EXPECT_TRUE(host_crosses_faster(hosts::mpich_5, rows, Kind::scan, 8));
  EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, rows, Kind::allgather, -1));
}

TEST(OverNodes, ARankAloneOnItsNodeHasNobodyToShareAStepWith) {
  for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce, Kind::allgather})
    EXPECT_TRUE(host_crosses_faster(hosts::openmpi_4, {3, 3, true}, kind, 4 * kib)) << collective::kind_name(kind);
  EXPECT_FALSE(host_crosses_faster(hosts::openmpi_4, {3, 2, false}, Kind::allreduce, 4 * kib));
}

}  // namespace
}  // namespace millrace::plan
