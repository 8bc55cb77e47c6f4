#include "plan/over_nodes.h"

#include <gtest/gtest.h>

namespace millrace::plan {
namespace {

using collective::Kind;

TEST(OverNodes, WhatEveryHostWasSlowerAtIsOurs) {
  const NodesShape shape{4, 2, true};
  for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce})
    EXPECT_FALSE(host_crosses_faster(shape, kind)) << collective::kind_name(kind);
  for (const Kind kind :
       {Kind::gather, Kind::scatter, Kind::allgather, Kind::alltoall, Kind::scan, Kind::exscan, Kind::reduce_scatter})
    EXPECT_TRUE(host_crosses_faster(shape, kind)) << collective::kind_name(kind);
}

TEST(OverNodes, ARankAloneOnItsNodeHasNobodyToShareAStepWith) {
  for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce, Kind::allgather})
    EXPECT_TRUE(host_crosses_faster({3, 3, true}, kind)) << collective::kind_name(kind);
  EXPECT_FALSE(host_crosses_faster({3, 2, false}, Kind::allreduce));
}

}  // namespace
}  // namespace millrace::plan
