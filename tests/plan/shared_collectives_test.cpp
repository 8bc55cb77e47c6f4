// Where the host is faster than shared memory of ours: the edges of what was measured.
#include "plan/shared_collectives.h"

#include <gtest/gtest.h>

#include "plan/hosts/hosts.h"

namespace millrace::plan {
namespace {

using collective::Kind;
using namespace hosts;

bool bcast_is_hosts(const HostFacts& host, std::int64_t bytes, std::uint32_t ranks, bool crowded, bool reads_memory) {
  return host_shares_faster(host, Kind::bcast, static_cast<std::size_t>(bytes), ranks, crowded, reads_memory);
}

TEST(SharedCollectives, OfHostsThatWereNotMeasuredAreOurs) {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{100}, 256 * kib, 64 * mib})
    for (const bool crowded : {false, true}) {
      EXPECT_FALSE(bcast_is_hosts(unknown, bytes, 2, crowded, false));
      for (const Kind kind : {Kind::gather, Kind::scatter, Kind::alltoall, Kind::neighbor})
        EXPECT_FALSE(host_exchanges_faster(unknown, kind, bytes, 3, crowded));
    }
}

TEST(SharedCollectives, OneCopyBeatsTwoWhereWeMayNotDoTheSame) {
  for (const HostFacts* host : {&openmpi_4, &openmpi_5, &mpich_4}) {
    EXPECT_FALSE(bcast_is_hosts(*host, 128 * kib - 1, 2, false, false));
    EXPECT_TRUE(bcast_is_hosts(*host, 128 * kib, 2, false, false));
    EXPECT_TRUE(bcast_is_hosts(*host, mib - 1, 2, false, false));
    EXPECT_FALSE(bcast_is_hosts(*host, mib, 2, false, false));
    EXPECT_FALSE(bcast_is_hosts(*host, 256 * kib, 2, false, true));
    EXPECT_FALSE(bcast_is_hosts(*host, 256 * kib, 3, false, false));
    EXPECT_FALSE(bcast_is_hosts(*host, 256 * kib, 2, true, false));
  }
  EXPECT_FALSE(bcast_is_hosts(mpich_5, 256 * kib, 2, false, false));
}

TEST(SharedCollectives, OfIntelMpi) {
  for (const bool reads_memory : {false, true}) {
    EXPECT_FALSE(bcast_is_hosts(intel, 64 * kib - 1, 2, false, reads_memory));
    EXPECT_TRUE(bcast_is_hosts(intel, 64 * kib, 2, false, reads_memory));
    EXPECT_FALSE(bcast_is_hosts(intel, mib, 2, false, reads_memory));
  }
  EXPECT_FALSE(bcast_is_hosts(intel, 16 * mib - 1, 8, true, true));
  EXPECT_TRUE(bcast_is_hosts(intel, 16 * mib, 8, true, true));
  EXPECT_TRUE(host_shares_faster(intel, Kind::allreduce, 2 * 1024 * 1024, 5, true, true));
  EXPECT_FALSE(host_shares_faster(intel, Kind::allreduce, 2 * 1024 * 1024, 4, true, true));
  EXPECT_FALSE(host_shares_faster(intel, Kind::allreduce, 2 * 1024 * 1024, 5, false, true));
}

TEST(SharedCollectives, MessagesThatOnlyTheRootWaitsForAreTheHostsWhereBlocksDiffer) {
  for (const Kind kind : {Kind::gather, Kind::scatter}) {
    for (const HostFacts* host : {&openmpi_4, &openmpi_5, &intel})
      EXPECT_TRUE(host_exchanges_faster(*host, kind, -1, 3, false));
    for (const HostFacts* host : measured) EXPECT_FALSE(host_exchanges_faster(*host, kind, 8, 3, false)) << host->name;
  }
  EXPECT_TRUE(host_exchanges_faster(mpich_4, Kind::gather, -1, 3, false));
  EXPECT_FALSE(host_exchanges_faster(mpich_4, Kind::scatter, -1, 3, false));
}

TEST(SharedCollectives, LargeBlocksOfOneRootAreOurs) {
  for (const HostFacts* host : measured)
    for (const Kind kind : {Kind::gather, Kind::scatter})
      for (const bool crowded : {false, true})
        for (const std::uint64_t bytes : {std::uint64_t{4096}, std::uint64_t{256 * kib}, std::uint64_t{2 * mib}})
          EXPECT_FALSE(host_exchanges_faster(*host, kind, bytes, 3, crowded)) << host->name << ' ' << bytes;
}

TEST(SharedCollectives, LargeGathersOfTwoAreIntels) {
  EXPECT_FALSE(host_exchanges_faster(intel, Kind::gather, mib - 1, 2, false));
  EXPECT_TRUE(host_exchanges_faster(intel, Kind::gather, mib, 2, false));
  EXPECT_FALSE(host_exchanges_faster(intel, Kind::gather, mib, 2, true));
  EXPECT_FALSE(host_exchanges_faster(intel, Kind::scatter, mib, 2, false));
  EXPECT_FALSE(host_exchanges_faster(mpich_5, Kind::gather, mib, 2, false));
}

TEST(SharedCollectives, ReductionsInParts) {
  for (const HostFacts* host : measured)
    for (const bool crowded : {false, true})
      for (const std::size_t bytes : {8, 1024})
        for (const Kind kind : {Kind::exscan, Kind::scan, Kind::reduce_scatter})
          EXPECT_FALSE(host_shares_faster(*host, kind, bytes, 4, crowded, true)) << host->name << ' ' << bytes;
}

TEST(SharedCollectives, MessagesToAllAndToNeighbours) {
  for (const HostFacts* host : measured) {
    const bool is_openmpi = host->vendor == Vendor::openmpi;
    EXPECT_FALSE(host_exchanges_faster(*host, Kind::alltoall, 8, 3, false));
    EXPECT_FALSE(host_exchanges_faster(*host, Kind::alltoall, 8, 3, true));
    EXPECT_FALSE(host_exchanges_faster(*host, Kind::alltoall, -1, 3, true));
    EXPECT_EQ(host_exchanges_faster(*host, Kind::neighbor, -1, 3, true), is_openmpi);
    EXPECT_FALSE(host_exchanges_faster(*host, Kind::neighbor, -1, 3, false));
  }
}

TEST(SharedCollectives, NonblockingOnesOfHostsThatWereNotMeasuredAreOurs) {
  for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::gather, Kind::scatter, Kind::allgather, Kind::alltoall})
    for (const std::uint64_t bytes : {0u, 8u, 1u << 17, 1u << 30})
      for (const bool crowded : {false, true}) {
        EXPECT_FALSE(host_begins_faster(unknown, kind, bytes, crowded));
        EXPECT_FALSE(host_begins_faster(mpich_4, kind, bytes, crowded));
      }
}

TEST(SharedCollectives, LargeNonblockingOnesOfIntelMpi) {
  const std::uint64_t edge = 128 * kib, large = 512 * kib;
  EXPECT_FALSE(host_begins_faster(intel, Kind::bcast, large - 1, false));
  EXPECT_TRUE(host_begins_faster(intel, Kind::bcast, large, false));
  EXPECT_FALSE(host_begins_faster(intel, Kind::bcast, large, true));
  EXPECT_TRUE(host_begins_faster(intel, Kind::scatter, 16 * kib, false));
  EXPECT_FALSE(host_begins_faster(intel, Kind::scatter, 8 * kib, false));
  for (const Kind kind : {Kind::gather, Kind::alltoall}) {
    EXPECT_FALSE(host_begins_faster(intel, kind, edge - 1, false));
    EXPECT_TRUE(host_begins_faster(intel, kind, edge, false));
    EXPECT_EQ(host_begins_faster(intel, kind, edge, true), kind == Kind::alltoall);
    EXPECT_FALSE(host_begins_faster(intel, kind, -1, false)) << "blocks differ: never";
  }
  EXPECT_TRUE(host_begins_faster(intel, Kind::allgather, edge, false));
  EXPECT_FALSE(host_begins_faster(intel, Kind::allgather, 1024 * kib, false));
  EXPECT_FALSE(host_begins_faster(intel, Kind::allreduce, large, false));
}

TEST(SharedCollectives, SmallStartsOfPersistentOnes) {
  for (const Kind kind : {Kind::bcast, Kind::allgather, Kind::alltoall}) {
    EXPECT_TRUE(host_starts_faster(openmpi_5, kind, 511, false));
    EXPECT_FALSE(host_starts_faster(openmpi_5, kind, 512, false));
    EXPECT_FALSE(host_begins_faster(openmpi_5, kind, 8, false)) << "where nothing is prepared";
    EXPECT_EQ(host_starts_faster(mpich_4, kind, 8, false), kind != Kind::allgather);
    EXPECT_FALSE(host_starts_faster(mpich_4, kind, 8, true));
    EXPECT_FALSE(host_starts_faster(mpich_5, kind, 8, false));
  }
  EXPECT_FALSE(host_starts_faster(openmpi_5, Kind::allreduce, 8, false));
  EXPECT_TRUE(host_starts_faster(mpich_4, Kind::allreduce, 127, false));
  EXPECT_FALSE(host_starts_faster(mpich_4, Kind::allreduce, 128, false));
  EXPECT_FALSE(host_starts_faster(mpich_4, Kind::allreduce, 8, true));
  EXPECT_FALSE(host_starts_faster(mpich_4, Kind::reduce, 8, false));
  EXPECT_FALSE(host_starts_faster(openmpi_5, Kind::bcast, -1, false));
  EXPECT_FALSE(host_starts_faster(openmpi_5, Kind::allgather, 8, true));
}

TEST(SharedCollectives, StartsThatHostsGetWrongAreOurs) {
  for (const Kind kind : {Kind::gather, Kind::allgather}) {
    EXPECT_TRUE(host_begins_faster(intel, kind, 512 << 10, false)) << "where nothing is prepared";
    EXPECT_EQ(host_starts_faster(intel, kind, 512 << 10, false), kind == Kind::allgather) << "larger ones are right";
    EXPECT_FALSE(host_starts_faster(intel, kind, 255 << 10, false));
    EXPECT_FALSE(host_starts_faster(mpich_4, kind, 8, false));
  }
  EXPECT_TRUE(host_starts_faster(intel, Kind::alltoall, 512 << 10, false));
}

TEST(SharedCollectives, NonblockingOnesOfNeighboursOfIntelMpi) {
  EXPECT_TRUE(host_begins_faster(intel, Kind::neighbor, -1, false));
  EXPECT_TRUE(host_starts_faster(intel, Kind::neighbor, -1, false));
  EXPECT_FALSE(host_begins_faster(intel, Kind::neighbor, -1, true));
  EXPECT_FALSE(host_begins_faster(openmpi_4, Kind::neighbor, -1, false));
}

}  // namespace
}  // namespace millrace::plan
