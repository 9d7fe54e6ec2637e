// States that are stored with a scale: what a judge says of a world that is right but for what a
// test does to it, and what a dump has of it. The world is a second oracle.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "oracle/formats/formats.h"
#include "oracle/quantise/states.h"
#include "scenarios/judge/testing/dumped_file.h"
#include "scenarios/judge/testing/judged_world.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

constexpr int ranks_of_a_replica = 3;  // of 4 rows: 2, 2 and none
constexpr int replica_count = 2;

Scenario scaled_scenario(StateScale state_scale, MainType main = MainType::fp16) {
  Scenario scenario = small_scenario();
  scenario.world = {.shard = ranks_of_a_replica, .replicate = replica_count};
  scenario.groups = {};
  scenario.params = {parameter("w", {4, 3})};
  scenario.precision = {.param = ParamType::bf16,
                        .main = main,
                        .exp_avg = StateType::fp8,
                        .exp_avg_sq = StateType::fp16,
                        .state_scale = state_scale};
  return scenario;
}

class ScaledStates : public testing::Test, protected JudgedWorld {
 protected:
  explicit ScaledStates(Scenario const& scenario = scaled_scenario(StateScale::global))
      : JudgedWorld(scenario, parameter_specs(scenario)) {
    step({1, -2, 3, 0.5F, 0.25F, 9, 0.1F, 0, -4, 7, 1, 1});
  }
};

TEST_F(ScaledStates, AreRightWithTheOraclesScaleAndNumbers) {
  EXPECT_NE(model().scales(0, TensorKind::exp_avg).front(), 1.0F);
  EXPECT_TRUE(agrees());
  EXPECT_TRUE(compared().empty());
}

TEST_F(ScaledStates, AnotherScaleOnAllRanksIsWrong) {
  auto const found = found_after([](int, TensorKind kind, Shard& shard) {
    if (kind == TensorKind::exp_avg) shard.scale *= 2;
  });
  EXPECT_EQ(found.law, Law::values_bitwise);
  EXPECT_EQ(found.breach, Breach::other_scale);
  EXPECT_EQ(ranks_of(found), (std::vector{0, 1, 2}));  // replicas have the first one's
  EXPECT_EQ(subject_in_words(found), "w/exp_avg/scale");
  EXPECT_EQ(std::get<Number>(found.expected).value(),
            model().scales(0, TensorKind::exp_avg).front());
}

TEST_F(ScaledStates, AnotherScaleOnOneRankIsADisagreement) {
  auto const found = found_after([](int rank, TensorKind kind, Shard& shard) {
    if (kind == TensorKind::main && rank == 1) shard.scale *= 2;
  });
  EXPECT_EQ(found.law, Law::ranks_agree);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(message_of(found),
            "the scale that the rank stores its numbers with differs from rank 0's");
}

TEST_F(ScaledStates, ARankWithoutElementsHasTheScaleToo) {
  auto const found = found_after([](int rank, TensorKind kind, Shard& shard) {
    if (kind == TensorKind::exp_avg_sq && rank == 2) shard.scale = 1;
  });
  EXPECT_EQ(found.law, Law::ranks_agree);
  EXPECT_EQ(found.rank, 2);
}

TEST_F(ScaledStates, ReplicasHaveTheFirstOnesScale) {
  auto const found = found_after([](int rank, TensorKind kind, Shard& shard) {
    if (kind == TensorKind::exp_avg && rank == ranks_of_a_replica) shard.scale *= 2;
  });
  EXPECT_EQ(found.law, Law::ranks_agree);
  EXPECT_EQ(found.rank, ranks_of_a_replica);
}

TEST_F(ScaledStates, AScaleBesideNumbersThatHaveNoneIsWrong) {
  auto const found = found_after([](int, TensorKind kind, Shard& shard) {
    if (kind == TensorKind::parameter) shard.scale = 2;
  });
  EXPECT_EQ(found.breach, Breach::other_scale);
  EXPECT_EQ(std::get<Number>(found.expected).value(), 1.0F);
}

// The scale is right and one code is not.
TEST_F(ScaledStates, NumbersAreStepsOfTheirFormatApart) {
  std::vector<std::byte> bytes;
  auto const found = found_after([&](int rank, TensorKind kind, Shard& shard) {
    if (kind != TensorKind::exp_avg || rank % ranks_of_a_replica != 1) return;
    bytes.assign(shard.bytes.begin(), shard.bytes.end());
    bytes[2] = std::byte{static_cast<std::uint8_t>(std::to_integer<unsigned>(bytes[2]) + 1)};
    shard.bytes = bytes;
  });
  EXPECT_EQ(found.breach, Breach::other_value);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.index, 8);
  EXPECT_EQ(found.ulp, 1U);
}

TEST_F(ScaledStates, TheirDigestHasScaleAndCodes) {
  Shard const shard = world().shard(0, 0, TensorKind::exp_avg);
  Shard other = shard;
  other.scale *= 2;
  EXPECT_NE(weighted_sum(other), weighted_sum(shard));
  std::vector<std::byte> bytes(shard.bytes.begin(), shard.bytes.end());
  other = shard;
  other.bytes = bytes;
  EXPECT_EQ(weighted_sum(other), weighted_sum(shard));
  bytes[3] ^= std::byte{0x80};
  EXPECT_NE(weighted_sum(other), weighted_sum(shard));
  bytes[3] = std::byte{0x7f};
  auto const nan = weighted_sum(other);
  bytes[3] = std::byte{0xff};
  EXPECT_EQ(weighted_sum(other), nan);
  bytes[3] = std::byte{0x7e};
  EXPECT_NE(weighted_sum(other), nan);
}

class LocallyScaledStates : public ScaledStates {
 protected:
  LocallyScaledStates() : ScaledStates(scaled_scenario(StateScale::local)) {}
};

TEST_F(LocallyScaledStates, AreHeldToTheScaleOfTheirShard) {
  EXPECT_TRUE(agrees());
  EXPECT_TRUE(compared().empty());
  auto const scales = model().scales(0, TensorKind::exp_avg);
  EXPECT_EQ(std::set(scales.begin(), scales.end()).size(), 3U);
  EXPECT_EQ(scales[2], 1.0F);
}

TEST_F(LocallyScaledStates, AnotherShardsScaleIsWrongByItself) {
  auto const found = found_after([&](int rank, TensorKind kind, Shard& shard) {
    if (kind == TensorKind::exp_avg && rank % ranks_of_a_replica == 1)
      shard.scale = model().scales(0, kind)[0];
  });
  EXPECT_EQ(found.law, Law::values_bitwise);
  EXPECT_EQ(ranks_of(found), std::vector{1});
}

class SplitWeights : public ScaledStates {
 protected:
  SplitWeights() : ScaledStates(scaled_scenario(StateScale::global, MainType::remainder)) {}
};

TEST_F(SplitWeights, AreComparedAsWhatTheyAreTogether) {
  EXPECT_EQ(world().shard(0, 0, TensorKind::main).format, NumberFormat::fp32);
  EXPECT_TRUE(compared().empty());
  std::vector<std::byte> bytes;
  auto const found = found_after([&](int rank, TensorKind kind, Shard& shard) {
    if (kind != TensorKind::main || rank % ranks_of_a_replica != 0) return;
    bytes.assign(shard.bytes.begin(), shard.bytes.end());
    bytes[4] ^= std::byte{1};
    shard.bytes = bytes;
  });
  EXPECT_EQ(found.index, 1);
  EXPECT_EQ(found.ulp, 1U);
}

// ---- dumps -------------------------------------------------------------------------------------

TEST_F(ScaledStates, AreDumpedAsReadAsStoredAndWithTheirScale) {
  DumpedFile const file = dumped_state(parameters(), world());
  for (auto const& [key, kind, format, dtype] :
       {std::tuple("w/exp_avg", TensorKind::exp_avg, NumberFormat::fp8, "U8"),
        std::tuple("w/exp_avg_sq", TensorKind::exp_avg_sq, NumberFormat::fp16, "F16"),
        std::tuple("w/main", TensorKind::main, NumberFormat::fp16, "F16")}) {
    std::string const name = key;
    auto const expected = model().tensor(0, kind);
    auto const values = file.numbers(name, NumberFormat::fp32);
    EXPECT_EQ(values, std::vector(expected.begin(), expected.end()));
    EXPECT_EQ(file.header.at(name + "/raw").at("dtype"), dtype);
    EXPECT_EQ(file.header.at(name + "/scale").at("shape"), (std::vector{1}));
    auto const scale = file.numbers(name + "/scale", NumberFormat::fp32);
    EXPECT_EQ(scale[0], model().scales(0, kind)[0]);
    auto raw = file.numbers(name + "/raw", format);
    for (float& x : raw) x *= scale[0];
    EXPECT_EQ(raw, values);
  }
  EXPECT_FALSE(file.header.contains("__metadata__"));
}

TEST_F(LocallyScaledStates, AreDumpedWithAScaleOfEachRankAndItsElements) {
  DumpedFile const file = dumped_state(parameters(), world());
  auto const scale = file.numbers("w/exp_avg/scale", NumberFormat::fp32);
  auto const expected = model().scales(0, TensorKind::exp_avg);
  EXPECT_EQ(scale, std::vector(expected.begin(), expected.end()));
  EXPECT_EQ(file.header.at("w/exp_avg/scale").at("shape"), (std::vector{3}));
  EXPECT_EQ(file.header.at("__metadata__").at("shards"), R"({"w":[[[0,6]],[[6,12]],[[12,12]]]})");
  auto const raw = file.numbers("w/exp_avg/raw", NumberFormat::fp8);
  auto const values = file.numbers("w/exp_avg", NumberFormat::fp32);
  EXPECT_EQ(raw[7] * scale[1], values[7]);
}

TEST_F(SplitWeights, AreDumpedWholeAndHaveNothingRaw) {
  DumpedFile const file = dumped_state(parameters(), world());
  auto const expected = model().tensor(0, TensorKind::main);
  EXPECT_EQ(file.numbers("w/main", NumberFormat::fp32),
            std::vector(expected.begin(), expected.end()));
  EXPECT_FALSE(file.header.contains("w/main/raw"));
  EXPECT_FALSE(file.header.contains("w/main/scale"));
}

}  // namespace
}  // namespace adamant::scenarios
