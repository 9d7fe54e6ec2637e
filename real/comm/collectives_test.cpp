#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "real/comm/loopback_communicator.h"
#include "real/comm/nccl_communicator.h"
#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/shard/memory.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

using Values = std::vector<float>;

/// One rank of a world with a communicator, able to move small arrays in and out.
class Peer {
 public:
  Peer(RankContext const& context, int ranks, std::shared_ptr<LoopbackExchange> exchange)
      : rank(context.rank), is_over_nccl(exchange == nullptr) {
    RankOfWorld const where = {.rank = context.rank, .world_size = ranks};
    if (is_over_nccl)
      communicator = std::make_unique<NcclCommunicator>(context.nccl_id, where);
    else
      communicator = std::make_unique<LoopbackCommunicator>(exchange, context.rendezvous, where);
  }

  template <typename T>
  DeviceBuffer device(std::vector<T> const& values) {
    DeviceBuffer buffer(ledger_, Purpose::reduction, values.size() * sizeof(T), stream);
    ADAMANT_TRY(cudaMemcpyAsync(buffer.as<void>(), values.data(), buffer.bytes(),
                                cudaMemcpyHostToDevice, stream.get()));
    stream.synchronize();
    return buffer;
  }
  DeviceBuffer device(std::initializer_list<float> values) { return device(Values(values)); }
  DeviceBuffer device_bytes(std::vector<std::byte> const& bytes) { return device(bytes); }

  template <typename T = float>
  std::vector<T> host(DeviceBuffer const& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    ADAMANT_TRY(cudaMemcpyAsync(values.data(), buffer.as<void>(), buffer.bytes(),
                                cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    return values;
  }
  std::vector<std::byte> host_bytes(DeviceBuffer const& buffer) { return host<std::byte>(buffer); }

  int rank;
  bool is_over_nccl;
  Stream stream;
  std::unique_ptr<Communicator> communicator;

 private:
  Ledger ledger_;
};

/// Runs the body on every rank by the loop-back, then by NCCL where the machine has the devices.
void on_both_transports(int ranks, std::function<void(Peer&)> const& body) {
  auto const exchange = make_loopback_exchange(ranks);
  run_ranks(ranks, Devices::shared, [&](RankContext const& context) {
    Peer peer(context, ranks, exchange);
    body(peer);
  });
  if (!why_not(ranks, Devices::own).empty()) return;
  run_ranks(ranks, Devices::own, [&](RankContext const& context) {
    Peer peer(context, ranks, nullptr);
    body(peer);
  });
}

// Small whole numbers: every order of summation gives the same bits.
float value(int rank, int i) {
  return static_cast<float>(10 * rank + i);
}

Values values_of(int rank, int count) {
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(value(rank, i));
  return values;
}

Values sums(int ranks, int begin, int end) {
  Values values;
  for (int i = begin; i < end; ++i) {
    float sum = 0;
    for (int r = 0; r < ranks; ++r) sum += value(r, i);
    values.push_back(sum);
  }
  return values;
}

constexpr float untouched = -1;

class Collectives : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { ADAMANT_NEEDS(GetParam(), Devices::shared); }
};

TEST_P(Collectives, AllGatherPutsRanksOneAfterTheOther) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    DeviceBuffer const send = peer.device(values_of(peer.rank, 3));
    DeviceBuffer const receive = peer.device(Values(static_cast<std::size_t>(3 * ranks)));
    peer.communicator->all_gather(send.as<float>(), receive.as<float>(), 3, NumberFormat::fp32,
                                  peer.stream);
    Values expected;
    for (int r = 0; r < ranks; ++r)
      for (int i = 0; i < 3; ++i) expected.push_back(value(r, i));
    EXPECT_EQ(peer.host(receive), expected);
  });
}

TEST_P(Collectives, AllGatherOfBytesKeepsEachOfThem) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    auto const bytes_of_rank = [](int rank) {
      std::vector<std::uint8_t> bytes;
      for (int i = 0; i < 256 + 3; ++i) bytes.push_back(static_cast<std::uint8_t>(i + 5 * rank));
      return bytes;
    };
    auto const own = bytes_of_rank(peer.rank);
    std::vector<std::uint8_t> expected;
    for (int r = 0; r < ranks; ++r) {
      auto const theirs = bytes_of_rank(r);
      expected.insert(expected.end(), theirs.begin(), theirs.end());
    }
    DeviceBuffer const send = peer.device(own);
    DeviceBuffer const receive = peer.device(std::vector<std::uint8_t>(expected.size()));
    peer.communicator->all_gather_bytes(send.as<void>(), receive.as<void>(),
                                        static_cast<std::int64_t>(own.size()), peer.stream);
    EXPECT_EQ(peer.host<std::uint8_t>(receive), expected);
  });
}

TEST_P(Collectives, ReduceScatterGivesEachRankItsPartOfTheSum) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    DeviceBuffer const send = peer.device(values_of(peer.rank, 2 * ranks));
    DeviceBuffer const receive = peer.device(Values(2));
    peer.communicator->reduce_scatter(send.as<float>(), receive.as<float>(), 2, NumberFormat::fp32,
                                      peer.stream);
    EXPECT_EQ(peer.host(receive), sums(ranks, 2 * peer.rank, 2 * peer.rank + 2));
  });
}

TEST_P(Collectives, AllReduceGivesEveryRankTheSum) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    DeviceBuffer const send = peer.device(values_of(peer.rank, 5));
    DeviceBuffer const receive = peer.device(Values(5));
    peer.communicator->all_reduce(send.as<float>(), receive.as<float>(), 5, NumberFormat::fp32,
                                  peer.stream);
    EXPECT_EQ(peer.host(receive), sums(ranks, 0, 5));
  });
}

TEST_P(Collectives, ReduceGivesTheSumToTheRootAlone) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    int const root = ranks - 1;
    DeviceBuffer const send = peer.device(values_of(peer.rank, 5));
    DeviceBuffer const receive = peer.device(Values(5, untouched));
    peer.communicator->reduce(send.as<float>(), receive.as<float>(), 5, NumberFormat::fp32, root,
                              peer.stream);
    EXPECT_EQ(peer.host(receive), peer.rank == root ? sums(ranks, 0, 5) : Values(5, untouched));
  });
}

TEST_P(Collectives, BroadcastGivesEveryRankTheRootsValues) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    int const root = ranks / 2;
    DeviceBuffer const send = peer.device(values_of(peer.rank, 4));
    DeviceBuffer const receive = peer.device(Values(4));
    peer.communicator->broadcast(send.as<float>(), receive.as<float>(), 4, NumberFormat::fp32, root,
                                 peer.stream);
    EXPECT_EQ(peer.host(receive), values_of(root, 4));
  });
}

// The inputs are overwritten right after the group: only the stream's order protects them.
TEST_P(Collectives, AGroupsInputsMayBeOverwrittenAfterIt) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    DeviceBuffer const send = peer.device(values_of(peer.rank, 2 * ranks));
    DeviceBuffer const gathered = peer.device(Values(static_cast<std::size_t>(ranks)));
    DeviceBuffer const reduced = peer.device(Values(2));
    Group group(*peer.communicator);
    peer.communicator->all_gather(send.as<float>(), gathered.as<float>(), 1, NumberFormat::fp32,
                                  peer.stream);
    peer.communicator->reduce_scatter(send.as<float>(), reduced.as<float>(), 2, NumberFormat::fp32,
                                      peer.stream);
    group.end();
    zero_async(send, 0, send.bytes(), peer.stream);
    EXPECT_EQ(peer.host(gathered).back(), value(ranks - 1, 0));
    EXPECT_EQ(peer.host(reduced), sums(ranks, 2 * peer.rank, 2 * peer.rank + 2));
  });
}

TEST_P(Collectives, SumsAreRoundedToTheirFormat) {
  int const ranks = GetParam();
  for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16})
    on_both_transports(ranks, [&](Peer& peer) {
      Values own(static_cast<std::size_t>(ranks), 1);
      DeviceBuffer const send = peer.device_bytes(encoded(own, format));
      DeviceBuffer const sum = peer.device_bytes(encoded(Values{0}, format));
      peer.communicator->reduce_scatter(send.as<void>(), sum.as<void>(), 1, format, peer.stream);
      EXPECT_EQ(peer.host_bytes(sum), encoded(Values{static_cast<float>(ranks)}, format));
      // An eighth of the step from 1 to its neighbour: so few of them are lost in any order.
      float const little = format == NumberFormat::bf16 ? 0x1p-10F : 0x1p-13F;
      DeviceBuffer const part =
          peer.device_bytes(encoded(Values{peer.rank == 0 ? 1.0F : little}, format));
      peer.communicator->all_reduce(part.as<void>(), sum.as<void>(), 1, format, peer.stream);
      EXPECT_EQ(peer.host_bytes(sum), encoded(Values{1}, format));
    });
}

TEST_P(Collectives, IntegersAreSummedModuloTwoToTheSixtyFourth) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    using Integers = std::vector<std::int64_t>;
    constexpr std::int64_t wide = std::int64_t{1} << 62;
    DeviceBuffer const send = peer.device(Integers{peer.rank + 1, wide, -1});
    DeviceBuffer const receive = peer.device(Integers(3));
    peer.communicator->all_reduce_sum(send.as<std::int64_t>(), receive.as<std::int64_t>(), 3,
                                      peer.stream);
    auto const wrapped = static_cast<std::int64_t>(static_cast<std::uint64_t>(ranks) << 62);
    EXPECT_EQ(peer.host<std::int64_t>(receive),
              (Integers{ranks * (ranks + 1) / 2, wrapped, -ranks}));
  });
}

TEST_P(Collectives, TheLargestFlagReachesEveryRank) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    using Flags = std::vector<std::int32_t>;
    std::int32_t const last = peer.rank == ranks - 1 ? 1 : 0;
    DeviceBuffer const send = peer.device(Flags{last, 0, -peer.rank});
    DeviceBuffer const receive = peer.device(Flags(3, 7));
    peer.communicator->all_reduce_max(send.as<std::int32_t>(), receive.as<std::int32_t>(), 3,
                                      peer.stream);
    EXPECT_EQ(peer.host<std::int32_t>(receive), (Flags{1, 0, 0}));
  });
}

// Nothing of it is issued, neither then nor with what comes next. For a rank alone NCCL copies at
// the call, in a group too.
TEST_P(Collectives, AGroupThatAnExceptionLeavesHasNoCalls) {
  int const ranks = GetParam();
  on_both_transports(ranks, [&](Peer& peer) {
    DeviceBuffer const send = peer.device(values_of(peer.rank, 1));
    DeviceBuffer const of_left = peer.device(Values(static_cast<std::size_t>(ranks), untouched));
    DeviceBuffer const of_next = peer.device({untouched});
    try {
      Group const left(*peer.communicator);
      peer.communicator->all_gather(send.as<float>(), of_left.as<float>(), 1, NumberFormat::fp32,
                                    peer.stream);
      throw std::bad_alloc();
    } catch (std::bad_alloc const&) {
    }
    peer.communicator->all_reduce(send.as<float>(), of_next.as<float>(), 1, NumberFormat::fp32,
                                  peer.stream);
    EXPECT_EQ(peer.host(of_next), sums(ranks, 0, 1));
    Values const left(static_cast<std::size_t>(ranks), untouched);
    bool const copies = ranks == 1 && peer.is_over_nccl;
    EXPECT_EQ(peer.host(of_left), copies ? values_of(peer.rank, 1) : left);
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, Collectives, testing::Values(1, 2, 3, 5));

TEST(Loopback, SumsInTheOrderOfRanks) {
  ADAMANT_NEEDS(4, Devices::shared);
  auto const exchange = make_loopback_exchange(4);
  run_ranks(4, Devices::shared, [&](RankContext const& context) {
    Peer peer(context, 4, exchange);
    // ((big + 1) - big) + 1 is 1 in this order; any order that cancels first gives 2.
    float const own[] = {0x1p25F, 1, -0x1p25F, 1};
    DeviceBuffer const send = peer.device({own[peer.rank]});
    DeviceBuffer const receive = peer.device({0});
    peer.communicator->all_reduce(send.as<float>(), receive.as<float>(), 1, NumberFormat::fp32,
                                  peer.stream);
    EXPECT_EQ(peer.host(receive), Values{1});
  });
}

/// Ranks of a world, each of which is one source of a launch that takes 64.
class LargeLoopback : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { ADAMANT_NEEDS(GetParam(), Devices::shared); }
};

TEST_P(LargeLoopback, CarriesAsManyAsOneLaunchTakesAndMore) {
  int const ranks = GetParam();
  auto const exchange = make_loopback_exchange(ranks);
  run_ranks(ranks, Devices::shared, [&](RankContext const& context) {
    Peer peer(context, ranks, exchange);
    DeviceBuffer const send = peer.device(values_of(peer.rank, 1));
    DeviceBuffer const gathered = peer.device(Values(static_cast<std::size_t>(ranks)));
    DeviceBuffer const sum = peer.device({0});
    peer.communicator->all_gather(send.as<float>(), gathered.as<float>(), 1, NumberFormat::fp32,
                                  peer.stream);
    peer.communicator->all_reduce(send.as<float>(), sum.as<float>(), 1, NumberFormat::fp32,
                                  peer.stream);
    EXPECT_EQ(peer.host(gathered).back(), value(ranks - 1, 0));
    EXPECT_EQ(peer.host(sum), sums(ranks, 0, 1));
    using Integers = std::vector<std::int64_t>;
    DeviceBuffer const one = peer.device(Integers{1});
    DeviceBuffer const all = peer.device(Integers{0});
    peer.communicator->all_reduce_sum(one.as<std::int64_t>(), all.as<std::int64_t>(), 1,
                                      peer.stream);
    EXPECT_EQ(peer.host<std::int64_t>(all), Integers{ranks});
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, LargeLoopback, testing::Values(64, 67));

/// Six ranks in groups that number their own from 0: one after the other or with
/// others between them.
class LoopbackGroups : public testing::TestWithParam<std::vector<std::vector<int>>> {
 protected:
  void SetUp() override { ADAMANT_NEEDS(ranks, Devices::shared); }

  /// Runs the body on every rank, with the ranks of its group and its number among them.
  static void in_groups(std::function<void(Peer&, std::vector<int> const&, int)> const& body) {
    auto const exchange = make_loopback_exchange(ranks);
    run_ranks(ranks, Devices::shared, [&](RankContext const& context) {
      for (std::vector<int> const& group : GetParam()) {
        auto const own = std::ranges::find(group, context.rank);
        if (own == group.end()) continue;
        Peer peer(context, ranks, exchange);
        int const number = static_cast<int>(own - group.begin());
        peer.communicator =
            std::make_unique<LoopbackCommunicator>(exchange, context.rendezvous, group, number);
        body(peer, group, number);
      }
    });
  }

  static constexpr int ranks = 6;
};

Values sums_over(std::vector<int> const& group, int begin, int end) {
  Values values;
  for (int i = begin; i < end; ++i) {
    float sum = 0;
    for (int const rank : group) sum += value(rank, i);
    values.push_back(sum);
  }
  return values;
}

TEST_P(LoopbackGroups, GatherAndScatterByTheNumberInTheGroup) {
  in_groups([](Peer& peer, std::vector<int> const& group, int own) {
    int const size = static_cast<int>(group.size());
    DeviceBuffer const send = peer.device(values_of(peer.rank, size));
    DeviceBuffer const gathered = peer.device(Values(group.size()));
    DeviceBuffer const part = peer.device({0});
    DeviceBuffer const all = peer.device(Values(group.size()));
    peer.communicator->all_gather(send.as<float>(), gathered.as<float>(), 1, NumberFormat::fp32,
                                  peer.stream);
    peer.communicator->reduce_scatter(send.as<float>(), part.as<float>(), 1, NumberFormat::fp32,
                                      peer.stream);
    peer.communicator->all_reduce(send.as<float>(), all.as<float>(), size, NumberFormat::fp32,
                                  peer.stream);
    Values firsts;
    for (int const rank : group) firsts.push_back(value(rank, 0));
    EXPECT_EQ(peer.host(gathered), firsts);
    EXPECT_EQ(peer.host(part), sums_over(group, own, own + 1));
    EXPECT_EQ(peer.host(all), sums_over(group, 0, size));
  });
}

TEST_P(LoopbackGroups, RootsAreNumbersInTheGroup) {
  in_groups([](Peer& peer, std::vector<int> const& group, int own) {
    int const root = static_cast<int>(group.size()) - 1;
    DeviceBuffer const send = peer.device(values_of(peer.rank, 2));
    DeviceBuffer const sum = peer.device(Values(2, untouched));
    DeviceBuffer const roots = peer.device(Values(2));
    peer.communicator->reduce(send.as<float>(), sum.as<float>(), 2, NumberFormat::fp32, root,
                              peer.stream);
    peer.communicator->broadcast(send.as<float>(), roots.as<float>(), 2, NumberFormat::fp32, root,
                                 peer.stream);
    EXPECT_EQ(peer.host(sum), own == root ? sums_over(group, 0, 2) : Values(2, untouched));
    EXPECT_EQ(peer.host(roots), values_of(group.back(), 2));
  });
}

INSTANTIATE_TEST_SUITE_P(Meshes, LoopbackGroups,
                         testing::Values(std::vector<std::vector<int>>{{1, 2, 0}, {3, 4, 5}},
                                         std::vector<std::vector<int>>{{2, 4}, {0, 5}, {3, 1}}));

TEST(Loopback, RanksThatDisagreeAreToldSo) {
  ADAMANT_NEEDS(2, Devices::shared);
  auto const exchange = make_loopback_exchange(2);
  run_ranks(2, Devices::shared, [&](RankContext const& context) {
    Peer peer(context, 2, exchange);
    DeviceBuffer const send = peer.device(Values(8));
    DeviceBuffer const receive = peer.device(Values(8));
    std::int64_t const count = peer.rank == 0 ? 3 : 4;
    std::string const both = peer.rank == 0 ? "rank 0 and rank 1" : "rank 1 and rank 0";
    try {
      peer.communicator->all_gather(send.as<float>(), receive.as<float>(), count,
                                    NumberFormat::fp32, peer.stream);
      ADD_FAILURE() << "nobody was told";
    } catch (NcclError const& error) {
      EXPECT_EQ(error.code(), ncclInvalidUsage);
      EXPECT_NE(std::string(error.what()).find(both), std::string::npos) << error.what();
    }
  });
}

}  // namespace
}  // namespace adamant::real
