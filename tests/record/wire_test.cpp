#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "random_record.h"
#include "record/rank_record.h"

namespace millrace::record {
namespace {

void expect_equal(const RankRecord& left, const RankRecord& right) {
  EXPECT_EQ(left.identity.rank, right.identity.rank);
  EXPECT_EQ(left.identity.ranks, right.identity.ranks);
  EXPECT_EQ(left.identity.host, right.identity.host);
  EXPECT_EQ(left.identity.pid, right.identity.pid);
  EXPECT_EQ(left.identity.isa, right.identity.isa);
  EXPECT_EQ(left.identity.host_mpi, right.identity.host_mpi);
  EXPECT_EQ(left.identity.variant, right.identity.variant);
  EXPECT_EQ(left.identity.settings, right.identity.settings);
  EXPECT_EQ(left.identity.wall_ns, right.identity.wall_ns);
  EXPECT_EQ(left.threads, right.threads);
  EXPECT_EQ(left.lost_calls, right.lost_calls);
  EXPECT_EQ(left.identity.ended_by, right.identity.ended_by);
  EXPECT_TRUE(left.waits == right.waits);
  EXPECT_TRUE(left.peers == right.peers);
  EXPECT_TRUE(left.regions == right.regions);
  EXPECT_TRUE(left.communicators == right.communicators);
  EXPECT_TRUE(left.phases == right.phases);
  ASSERT_EQ(left.calls.size(), right.calls.size());
  for (std::size_t call = 0; call < left.calls.size(); ++call) {
    EXPECT_EQ(left.calls[call].name, right.calls[call].name);
    EXPECT_EQ(left.calls[call].bytes, right.calls[call].bytes);
    EXPECT_EQ(left.calls[call].time_ns, right.calls[call].time_ns);
    EXPECT_EQ(left.calls[call].outcome, right.calls[call].outcome);
    EXPECT_EQ(left.calls[call].saved.calls, right.calls[call].saved.calls);
    EXPECT_EQ(left.calls[call].saved.time_ns, right.calls[call].saved.time_ns);
    EXPECT_EQ(left.calls[call].saved.error_ns, right.calls[call].saved.error_ns);
    EXPECT_TRUE(left.calls[call].sizes == right.calls[call].sizes);
    ASSERT_EQ(left.calls[call].algorithms.size(), right.calls[call].algorithms.size());
    for (std::size_t index = 0; index < left.calls[call].algorithms.size(); ++index) {
      EXPECT_EQ(left.calls[call].algorithms[index].name, right.calls[call].algorithms[index].name);
      EXPECT_EQ(left.calls[call].algorithms[index].calls, right.calls[call].algorithms[index].calls);
      EXPECT_EQ(left.calls[call].algorithms[index].bytes, right.calls[call].algorithms[index].bytes);
      EXPECT_EQ(left.calls[call].algorithms[index].time_ns, right.calls[call].algorithms[index].time_ns);
    }
  }
}

Status unpack_all(const std::vector<std::byte>& bytes, RankRecord& record) {
  std::string error;
  const Status status = unpack(bytes, record, error);
  EXPECT_EQ(status == Status::ok, error.empty()) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  return status;
}

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Wire, CarriesEveryFieldOfRandomRecords) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomRecord random(seed);
  for (int round = 0; round < 200; ++round) {
    const RankRecord sent = random(round % 7, 7, UINT64_MAX);
    RankRecord received;
    ASSERT_EQ(unpack_all(pack(sent), received), Status::ok);
    expect_equal(sent, received);
  }
}

TEST(Wire, RefusesEveryTruncation) {
  RandomRecord random(1);
  const std::vector<std::byte> whole = pack(random(0, 1, 1000));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    RankRecord record;
    record.identity.host = "untouched";
    EXPECT_EQ(unpack_all({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}, record),
              Status::bad_argument);
    EXPECT_EQ(record.identity.host, "untouched");
  }
}

TEST(Wire, RefusesBytesAfterTheEnd) {
  RandomRecord random(2);
  std::vector<std::byte> bytes = pack(random(0, 1, 1000));
  bytes.push_back(std::byte{0});
  RankRecord record;
  EXPECT_EQ(unpack_all(bytes, record), Status::bad_argument);
}

TEST(Wire, SurvivesFlippedBits) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomRecord random(seed);
  const std::vector<std::byte> whole = pack(random(0, 1, 1'000'000));
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> bytes = whole;
    for (int flips = 0; flips < 3; ++flips)
      bytes[random.number(bytes.size() - 1)] ^= static_cast<std::byte>(1u << random.number(7));
    RankRecord record;
    unpack_all(bytes, record);  // either answer is right; throwing, crashing or hanging is not
  }
}

TEST(Wire, RefusesWrongShapes) {
  RankRecord record;
  EXPECT_EQ(unpack_all(bytes_of({0xa0}), record), Status::bad_argument);                   // {}
  EXPECT_EQ(unpack_all(bytes_of({0x01}), record), Status::bad_argument);                   // 1
  EXPECT_EQ(unpack_all(bytes_of({0xa1, 0x61, 'v', 0x07}), record), Status::bad_argument);  // a later version
  EXPECT_EQ(unpack_all(bytes_of({0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), record),
            Status::bad_argument);  // an array of 2^63 - 1
  RankRecord misplaced;
  misplaced.identity.rank = 3;  // of one
  EXPECT_EQ(unpack_all(pack(misplaced), record), Status::bad_argument);
}

TEST(Wire, RefusesSizesThatThereAreNoneOf) {
  RankRecord sent, received;
  sent.calls.resize(1);
  sent.calls[0].sizes = {{least_bytes_of(size_class_count - 1), 1, 0, 0, 0}};
  std::vector<std::byte> bytes = pack(sent);
  ASSERT_EQ(unpack_all(bytes, received), Status::ok);
  const auto place = std::ranges::search(bytes, bytes_of({0x85, 0x18, int{size_class_count} - 1}));  // an array of five
  ASSERT_FALSE(place.empty());
  place.back() = std::byte{size_class_count};
  EXPECT_EQ(unpack_all(bytes, received), Status::bad_argument);
}

TEST(Wire, RefusesAnotherNumberOfReasons) {
  RankRecord sent;
  sent.calls.resize(1);
  const std::vector<std::byte> bytes = pack(sent);
  const std::vector<std::byte> outcomes(reason_count, std::byte{0});
  const auto found = std::search(bytes.begin(), bytes.end(), outcomes.begin(), outcomes.end()) - bytes.begin();
  ASSERT_LT(found, static_cast<std::ptrdiff_t>(bytes.size()));
  for (const int change : {-1, 1}) {
    std::vector<std::byte> changed = bytes;
    changed[static_cast<std::size_t>(found - 1)] =
        static_cast<std::byte>(0x80 + static_cast<int>(reason_count) + change);
    if (change < 0)
      changed.erase(changed.begin() + found);
    else
      changed.insert(changed.begin() + found, std::byte{0});
    RankRecord received;
    EXPECT_EQ(unpack_all(changed, received), Status::bad_argument) << change;
  }
}

TEST(Wire, RefusesPeersThatAreNoneOrTooMany) {
  RankRecord sent, received;
  sent.identity.ranks = 1000;
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(most_peers_sent); ++rank)
    sent.peers.to.push_back({rank, 1, 8});
  EXPECT_EQ(unpack_all(pack(sent), received), Status::ok);
  EXPECT_TRUE(received.peers == sent.peers);
  for (const std::int32_t none : {-1, 1000}) {
    RankRecord wrong = sent;
    wrong.peers.to.back().rank = none;
    EXPECT_EQ(unpack_all(pack(wrong), received), Status::bad_argument) << none;
  }
  sent.peers.to.push_back({999, 1, 8});
  EXPECT_EQ(unpack_all(pack(sent), received), Status::bad_argument);
}

TEST(Wire, RefusesRegionsThatAreTooManyOrTooLong) {
  RankRecord sent, received;
  for (std::size_t index = 0; index <= most_regions; ++index)
    sent.regions.all.push_back({std::string(longest_region_name, 'x'), 1, 2, 3, 4, 5});
  EXPECT_EQ(unpack_all(pack(sent), received), Status::ok);
  EXPECT_TRUE(received.regions == sent.regions);
  RankRecord longer = sent;
  longer.regions.all.back().name += "x";
  EXPECT_EQ(unpack_all(pack(longer), received), Status::bad_argument);
  sent.regions.all.push_back({"one more", 1, 2, 3, 4, 5});
  EXPECT_EQ(unpack_all(pack(sent), received), Status::bad_argument);
}

TEST(Wire, RefusesCommunicatorsThatAreTooManyOrTooLong) {
  RankRecord sent, received;
  const std::string longest(longest_communicator_text, 'x');
  for (std::size_t index = 0; index <= most_communicators; ++index)
    sent.communicators.push_back({longest, longest, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(unpack_all(pack(sent), received), Status::ok);
  EXPECT_TRUE(received.communicators == sent.communicators);
  for (std::string CommunicatorRecord::*text : {&CommunicatorRecord::name, &CommunicatorRecord::ranks}) {
    RankRecord longer = sent;
    longer.communicators.back().*text += "x";
    EXPECT_EQ(unpack_all(pack(longer), received), Status::bad_argument);
  }
  sent.communicators.push_back({"one more", "0", 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(unpack_all(pack(sent), received), Status::bad_argument);
}

TEST(Wire, RefusesAnotherNumberOfSlices) {
  RankRecord sent, received;
  sent.phases = {1000, std::vector<PhaseSlice>(phase_slices, {1, 2, 3})};
  EXPECT_EQ(unpack_all(pack(sent), received), Status::ok);
  EXPECT_TRUE(received.phases == sent.phases);
  sent.phases.slices.pop_back();
  EXPECT_EQ(unpack_all(pack(sent), received), Status::bad_argument);
}

TEST(Wire, RefusesTimesThatAreNone) {
  for (const double time_ns :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    RankRecord sent, received;
    sent.calls.resize(1);
    sent.calls[0].saved.time_ns = time_ns;
    EXPECT_EQ(unpack_all(pack(sent), received), Status::bad_argument) << time_ns;
    sent.calls[0].saved = {0, -1.5, time_ns};
    EXPECT_EQ(unpack_all(pack(sent), received), Status::bad_argument) << time_ns;
  }
}

TEST(Wire, RefusesDeepNestingWithoutRunningOutOfStack) {
  RankRecord record;
  EXPECT_EQ(unpack_all(std::vector<std::byte>(20'000'000, std::byte{0x81}), record), Status::bad_argument);
  std::vector<std::byte> objects;
  const std::vector<std::byte> object = bytes_of({0xa1, 0x60});  // {"": ...
  for (int depth = 0; depth < 5'000'000; ++depth) objects.insert(objects.end(), object.begin(), object.end());
  EXPECT_EQ(unpack_all(objects, record), Status::bad_argument);
}

TEST(ThisRank, NamesWhatWasCounted) {
  reset();
  static constexpr const char* entries[] = {"MPI_Init", "MPI_Send", "MPI_Reduce_local"};
  const Names names{entries, [](std::uint16_t index) -> const char* { return index == 4 ? "sum_f64" : nullptr; }};
  add_call(1, 80, 1000, no_algorithm, Reason::not_accelerated);
  add_call(2, 8, 100, 4, Reason::none);
  add_call(2, 8, 300, 5, Reason::none);
  add_call(77, 0, 1, no_algorithm, Reason::inactive);
  Findings found;
  found.savings = {{2, {1, -3.5, 0.25}}, {3, {9, 9, 9}}};
  found.waits.for_rank = {{0, 2, 50}};
  RankIdentity identity;
  identity.host_mpi = "MPICH Version:\t4.0.2\nMPICH Release date: x";
  RankRecord record;
  ASSERT_EQ(unpack_all(pack_rank_record(identity, names, found, 0.5), record), Status::ok);
  EXPECT_EQ(record.identity.host_mpi, "MPICH Version: 4.0.2");
  EXPECT_TRUE(record.waits == found.waits);
  EXPECT_GE(record.threads, 1u);
  ASSERT_EQ(record.calls.size(), 3u);
  EXPECT_EQ(record.calls[0].name, "MPI_Send");
  EXPECT_EQ(record.calls[0].time_ns, 500u);
  EXPECT_TRUE(record.calls[0].algorithms.empty());
  EXPECT_EQ(record.calls[1].name, "MPI_Reduce_local");
  EXPECT_EQ(record.calls[1].taken(), 2u);
  EXPECT_EQ(record.calls[1].saved.calls, 1u);
  EXPECT_EQ(record.calls[1].saved.time_ns, -3.5);
  EXPECT_EQ(record.calls[1].saved.error_ns, 0.25);
  EXPECT_EQ(record.calls[0].saved.calls, 0u) << "of another entry";
  ASSERT_EQ(record.calls[1].algorithms.size(), 2u);
  EXPECT_EQ(record.calls[1].algorithms[0].name, "sum_f64");
  EXPECT_EQ(record.calls[1].algorithms[0].time_ns, 50u);
  EXPECT_EQ(record.calls[1].algorithms[1].name, "algorithm 5");
  EXPECT_EQ(record.calls[2].name, "entry 77");
  reset();
}

}  // namespace
}  // namespace millrace::record
