// Reductions through the public calls: every operator and type, and the order of the sums.

#include "sim/nccl/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/nccl/small_floats.h"
#include "sim/testing/ranks.h"
#include "sim/world/prng.h"

namespace adamant::sim {
namespace {

Options in_order(ReductionOrder order) {
  Options options;
  options.reduction_order = order;
  return options;
}

// All-reduces one value a rank and expects `wanted` on every rank.
template <typename T>
void expect_reduced(ncclDataType_t type, ncclRedOp_t op, std::vector<T> const& inputs, T wanted,
                    Options const& options = {}) {
  auto const body = [&](Rank& rank) {
    T* const value = rank.device(std::vector<T>{inputs[static_cast<std::size_t>(rank.index)]});
    EXPECT_EQ(ncclAllReduce(value, value, 1, type, op, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(rank.host(value, 1), std::vector<T>{wanted});
  };
  Report const report = run_ranks(static_cast<int>(inputs.size()), body, options);
  EXPECT_TRUE(report.ok()) << describe(report);
}

template <typename T>
void expect_integers(ncclDataType_t type) {
  auto const most = std::numeric_limits<T>::max();
  expect_reduced<T>(type, ncclSum, {most, 1, 1}, static_cast<T>(std::numeric_limits<T>::min() + 1));
  expect_reduced<T>(type, ncclProd, {3, 5, 2}, 30);
  expect_reduced<T>(type, ncclMax, {3, 5, 2}, 5);
  expect_reduced<T>(type, ncclMin, {3, 5, 2}, 2);
  expect_reduced<T>(type, ncclAvg, {3, 5, 3}, 3);  // 11 / 3, truncated
}

TEST(NcclReduction, IntegersWrapAndAveragesTruncate) {
  expect_integers<std::int8_t>(ncclInt8);
  expect_integers<std::uint8_t>(ncclUint8);
  expect_integers<std::int32_t>(ncclInt32);
  expect_integers<std::uint32_t>(ncclUint32);
  expect_integers<std::int64_t>(ncclInt64);
  expect_integers<std::uint64_t>(ncclUint64);
  expect_reduced<std::int32_t>(ncclInt32, ncclAvg, {-3, -5, -3}, -3);
}

TEST(NcclReduction, AveragesOfFloatsScaleEachInputFirst) {
  float const third = 1.0F / 3.0F;
  std::vector<float> const inputs = {0.1F, 0.7F, 1.3F};
  float const wanted = (inputs[0] * third + inputs[1] * third) + inputs[2] * third;
  expect_reduced(ncclFloat, ncclAvg, inputs, wanted, in_order(ReductionOrder::linear));
}

TEST(NcclReduction, NumbersWinOverNansInMaximumAndMinimum) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  expect_reduced<float>(ncclFloat, ncclMax, {nan, -2.0F, -1.0F}, -1.0F);
  expect_reduced<float>(ncclFloat, ncclMin, {-2.0F, nan, -1.0F}, -2.0F);
  expect_reduced<std::uint32_t>(ncclFloat, ncclMin, {0x00000000U, 0x80000000U}, 0x80000000U);
  expect_reduced<std::uint32_t>(ncclFloat, ncclMax, {0x80000000U, 0x00000000U}, 0U);
}

// 256 + 1 is a tie in bfloat16 and falls back to 256: every hop rounds.
TEST(NcclReduction, RoundsToTheElementTypeAtEveryHop) {
  std::uint16_t const big = float_to_bfloat(256.0F);
  std::uint16_t const one = float_to_bfloat(1.0F);
  expect_reduced<std::uint16_t>(ncclBfloat16, ncclSum, {big, one, one}, big,
                                in_order(ReductionOrder::linear));
  std::uint16_t const half_big = float_to_half(2048.0F);
  std::uint16_t const half_one = float_to_half(1.0F);
  expect_reduced<std::uint16_t>(ncclHalf, ncclSum, {half_big, half_one, half_one}, half_big,
                                in_order(ReductionOrder::linear));
}

// With 2^24, 1, 1, 1 the order decides how many of the ones survive; 2^24 + 3 is a tie, rounded up.
std::vector<float> scattered_sums(Options const& options) {
  std::vector<float> sums(4);
  Report const report = run_ranks(
      4,
      [&](Rank& rank) {
        std::vector<float> const mine(4, rank.index == 0 ? 0x1p24F : 1.0F);
        float* const send = rank.device(mine);
        float* const receive = rank.device<float>(1);
        ncclReduceScatter(send, receive, 1, ncclFloat, ncclSum, rank.comm, rank.stream);
        sums[static_cast<std::size_t>(rank.index)] = rank.host(receive, 1).at(0);
      },
      options);
  EXPECT_TRUE(report.ok()) << describe(report);
  return sums;
}

TEST(NcclReduction, FollowsTheOrderThatIsAskedFor) {
  // Rank r finishes x_r + (x_{r-1} + (x_{r-2} + x_{r+1})).
  EXPECT_EQ(scattered_sums(in_order(ReductionOrder::ring)),
            (std::vector<float>{0x1p24F + 4, 0x1p24F + 4, 0x1p24F, 0x1p24F}));
  EXPECT_EQ(scattered_sums(in_order(ReductionOrder::linear)), std::vector<float>(4, 0x1p24F));
  EXPECT_EQ(scattered_sums(in_order(ReductionOrder::tree)), std::vector<float>(4, 0x1p24F + 2));
}

TEST(NcclReduction, AsksForTheOrderWhereItIsLeftOpen) {
  bool differs = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Options options;
    options.schedule.strategy = Strategy::random;
    options.schedule.seed = seed;
    auto const sums = scattered_sums(options);
    EXPECT_EQ(sums, scattered_sums(options));
    differs = differs || sums != scattered_sums({});
  }
  EXPECT_TRUE(differs);
}

TEST(NcclReduction, SpansManyBlocks) {
  std::size_t const count = 10'007;
  Report const report = run_ranks(3, [&](Rank& rank) {
    std::vector<std::int64_t> mine(count);
    for (std::size_t i = 0; i < count; ++i) {
      mine[i] = static_cast<std::int64_t>(i) * (rank.index + 1);
    }
    std::int64_t* const send = rank.device(mine);
    EXPECT_EQ(ncclAllReduce(send, send, count, ncclInt64, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    auto const sums = rank.host(send, count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(sums[i], static_cast<std::int64_t>(6 * i)) << i;
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// Bits of any kind, as the parts of `ranks` ranks: `total` elements from each.
struct Inputs {
  Inputs(ncclDataType_t type, std::size_t ranks, std::size_t total, bool scaled) {
    Prng prng(ranks * 1000 + total);
    auto const fill = [&](std::vector<char>& bytes) {
      for (char& byte : bytes) byte = static_cast<char>(prng.below(256));
    };
    data.resize(ranks, std::vector<char>(total * element_bytes(type)));
    scales.resize(ranks, std::vector<char>(element_bytes(type)));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      fill(data[rank]);
      fill(scales[rank]);
      from.push_back({data[rank].data(), scaled ? scales[rank].data() : nullptr});
    }
  }
  std::vector<std::vector<char>> data;
  std::vector<std::vector<char>> scales;
  std::vector<Contribution> from;
};

void expect_same_bits(PartsTask const& task) {
  std::size_t const bytes = task.total * element_bytes(task.type);
  std::vector<char> one_by_one(bytes);
  Reducer reducer;
  char* const to = one_by_one.data();
  for (std::size_t owner = 0; owner * task.share < task.total; ++owner) {
    std::size_t const offset = owner * task.share;
    reducer.reduce({.type = task.type,
                    .reduction = task.reduction,
                    .order = task.order,
                    .owner = static_cast<int>(owner),
                    .count = std::min(task.share, task.total - offset),
                    .offset = offset,
                    .result_offset = offset,
                    .from = task.from,
                    .to = {&to, 1}});
  }
  char const* const together = reducer.reduce_together(task);
  EXPECT_EQ(one_by_one, std::vector<char>(together, together + bytes))
      << name_of(task.type) << ", " << name_of(task.reduction) << ", " << task.from.size()
      << " ranks, order " << static_cast<int>(task.order.kind) << ", backwards "
      << task.order.backwards << ", shift " << task.order.shift;
}

std::vector<Order> orders(int ranks) {
  std::vector<Order> result = {{.kind = ReductionOrder::tree}, {.kind = ReductionOrder::linear}};
  for (int shift = 0; shift < ranks; ++shift) {
    result.push_back({.shift = shift});
    result.push_back({.backwards = true, .shift = shift});
  }
  return result;
}

TEST(NcclReduction, SmallPartsReducedTogetherHaveTheBitsOfPartsReducedOneByOne) {
  for (int type = 0; type < ncclNumTypes; ++type) {
    auto const element = static_cast<ncclDataType_t>(type);
    if (!is_reducible(element)) continue;
    for (int op = 1; op <= static_cast<int>(Reduction::scaled_sum); ++op) {
      auto const reduction = static_cast<Reduction>(op);
      for (int ranks : {1, 2, 3, 4, 7}) {
        auto const n = static_cast<std::size_t>(ranks);
        for (std::size_t const total : {3 * n, 3 * n - 1, std::size_t{2}}) {
          Inputs const inputs(element, n, total, reduction == Reduction::scaled_sum);
          for (Order const& order : orders(ranks)) {
            expect_same_bits({.type = element,
                              .reduction = reduction,
                              .order = order,
                              .share = (total + n - 1) / n,
                              .total = total,
                              .from = inputs.from});
          }
        }
      }
    }
  }
}

TEST(NcclReduction, ScalarsOfTheProgramMultiplyTheRanksOwnInput) {
  Report const report = run_ranks(3, [](Rank& rank) {
    float factor = static_cast<float>(rank.index + 1);
    ncclRedOp_t immediate{};
    ncclRedOp_t on_device{};
    float* const device_factor = rank.device(std::vector<float>{factor});
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&immediate, &factor, ncclFloat, ncclScalarHostImmediate,
                                       rank.comm),
              ncclSuccess);
    EXPECT_EQ(
        ncclRedOpCreatePreMulSum(&on_device, device_factor, ncclFloat, ncclScalarDevice, rank.comm),
        ncclSuccess);
    factor = 0;  // was read at the call
    for (ncclRedOp_t const op : {immediate, on_device}) {
      float* const value = rank.device(std::vector<float>{10.0F});
      EXPECT_EQ(ncclAllReduce(value, value, 1, ncclFloat, op, rank.comm, rank.stream), ncclSuccess);
      EXPECT_EQ(ncclAllReduce(value, value, 1, ncclInt, op, rank.comm, rank.stream),
                ncclInvalidArgument);
      EXPECT_EQ(ncclRedOpDestroy(op, rank.comm), ncclSuccess);
      EXPECT_EQ(rank.host(value, 1), std::vector<float>{60.0F});
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclReduction, OperatorsEndOnceAndThoseThatAreNoneNever) {
  Report const report = run_ranks(2, [](Rank& rank) {
    float factor = 2;
    ncclRedOp_t op = ncclSum;
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, ncclScalarHostImmediate, rank.comm),
              ncclSuccess);
    auto const next = static_cast<ncclRedOp_t>(static_cast<int>(op) + 1);
    auto const far = static_cast<ncclRedOp_t>(static_cast<int>(op) + 100'000);
    for (ncclRedOp_t const none : {ncclSum, ncclAvg, next, far})
      EXPECT_EQ(ncclRedOpDestroy(none, rank.comm), ncclInvalidArgument) << none;
    EXPECT_EQ(ncclRedOpDestroy(op, rank.comm), ncclSuccess);
    EXPECT_EQ(ncclRedOpDestroy(op, rank.comm), ncclInvalidArgument);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclSmallFloats, EveryHalfAndBfloatSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    auto const value = static_cast<std::uint16_t>(bits);
    bool const half_is_nan = (bits & 0x7FFFU) > 0x7C00U;
    bool const bfloat_is_nan = (bits & 0x7FFFU) > 0x7F80U;
    ASSERT_EQ(float_to_half(half_to_float(value)), half_is_nan ? 0x7FFF : value) << bits;
    ASSERT_EQ(float_to_bfloat(bfloat_to_float(value)), bfloat_is_nan ? 0x7FFF : value) << bits;
  }
}

TEST(NcclSmallFloats, TiesGoToEven) {
  EXPECT_EQ(half_to_float(float_to_half(2049.0F)), 2048.0F);
  EXPECT_EQ(half_to_float(float_to_half(2051.0F)), 2052.0F);
  EXPECT_EQ(half_to_float(float_to_half(0x1p-25F)), 0.0F);
  EXPECT_EQ(half_to_float(float_to_half(0x1.8p-24F)), 0x1p-23F);
  EXPECT_EQ(float_to_half(65519.0F), 0x7BFF);
  EXPECT_EQ(float_to_half(65520.0F), 0x7C00);
  EXPECT_EQ(bfloat_to_float(float_to_bfloat(257.0F)), 256.0F);
  EXPECT_EQ(bfloat_to_float(float_to_bfloat(259.0F)), 260.0F);
}

}  // namespace
}  // namespace adamant::sim
