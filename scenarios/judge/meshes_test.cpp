// Worlds whose replicas hold the same, or each a part of gradients and states, in every layout: a
// right one is found right, and a wrong number is laid at the rank that holds it.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "scenarios/judge/testing/dumped_file.h"
#include "scenarios/judge/testing/judged_world.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

constexpr LayoutKind all_layouts[] = {LayoutKind::fsdp2, LayoutKind::flat, LayoutKind::bucketed};

/// One parameter of 5 x 3 on 2 shards of 2 replicas. In `flat`, parts of 8 begin at 0 and 8 of the
/// first shard, which are ranks 0 and 2, and at 16 of the second, which has nothing.
Scenario scenario_of(LayoutKind layout, Outer outer) {
  Scenario scenario = small_scenario();
  scenario.world = {.shard = 2, .replicate = 2, .outer = outer};
  scenario.layout = layout;
  scenario.groups = {};
  scenario.params = {parameter("w", {5, 3})};
  return scenario;
}

/// With moments whose scales are of what a rank holds.
std::vector<ParameterSpec> specs_of(Scenario const& scenario) {
  auto specs = parameter_specs(scenario);
  specs.front().formats.exp_avg = NumberFormat::fp8;
  specs.front().formats.state_scale = StateScale::local;
  return specs;
}

class World : public JudgedWorld {
 public:
  World(LayoutKind layout, Outer outer)
      : JudgedWorld(scenario_of(layout, outer), specs_of(scenario_of(layout, outer))) {
    std::vector<float> gradient;
    for (int i = 0; i < 15; ++i) gradient.push_back(static_cast<float>(i + 1));
    step(gradient);
  }
};

/// Another number in the place of the first one that this rank holds of a kind.
ShardTamper first_number(int tampered, TensorKind of) {
  return [=](int rank, TensorKind kind, Shard& shard) {
    static std::vector<std::byte> room;
    if (rank != tampered || kind != of) return;
    room.assign(shard.bytes.begin(), shard.bytes.end());
    room.at(0) ^= std::byte{1};
    shard.bytes = room;
  };
}

TEST(Meshes, ARightWorldAgreesInEveryLayout) {
  for (LayoutKind const layout : all_layouts)
    for (Outer const outer : {Outer::none, Outer::optim}) {
      World world(layout, outer);
      EXPECT_TRUE(world.agrees());
      EXPECT_TRUE(world.compared().empty());
    }
}

TEST(Meshes, EachPartHasAScaleOfItsOwn) {
  auto const scales = [](LayoutKind layout, Outer outer) {
    return World(layout, outer).model().scales(0, TensorKind::exp_avg).size();
  };
  for (LayoutKind const layout : all_layouts) {
    EXPECT_EQ(scales(layout, Outer::none), 2U);
    EXPECT_EQ(scales(layout, Outer::optim), 4U);
  }
}

TEST(Meshes, AStateThatIsCutAcrossIsHeldToTheOracle) {
  World world(LayoutKind::flat, Outer::optim);
  Violation const found = world.found_after(first_number(2, TensorKind::exp_avg_sq));
  EXPECT_EQ(found.law, Law::values_bitwise);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.index, 8);
}

TEST(Meshes, AReplicaOfStatesIsHeldToTheFirst) {
  World world(LayoutKind::flat, Outer::none);
  Violation const found = world.found_after(first_number(2, TensorKind::exp_avg_sq));
  EXPECT_EQ(found.law, Law::ranks_agree);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.index, 0);
}

TEST(Meshes, AReplicaOfParametersIsHeldToTheFirstWhateverStatesAre) {
  for (Outer const outer : {Outer::none, Outer::optim}) {
    World world(LayoutKind::flat, outer);
    Violation const found = world.found_after(first_number(2, TensorKind::parameter));
    EXPECT_EQ(found.law, Law::ranks_agree);
    EXPECT_EQ(found.rank, 2);
    EXPECT_EQ(found.index, 0);
  }
}

TEST(Meshes, ADumpPutsAllPartsTogether) {
  for (LayoutKind const layout : all_layouts)
    for (Outer const outer : {Outer::none, Outer::optim}) {
      World world(layout, outer);
      auto const file = dumped_state(world.parameters(), world.world());
      for (TensorKind const kind : {TensorKind::parameter, TensorKind::exp_avg_sq}) {
        auto const expected = world.model().tensor(0, kind);
        auto const name = kind == TensorKind::parameter ? "w" : "w/exp_avg_sq";
        EXPECT_EQ(file.numbers(name, NumberFormat::fp32),
                  std::vector<float>(expected.begin(), expected.end()));
      }
      auto const scales = world.model().scales(0, TensorKind::exp_avg);
      EXPECT_EQ(file.numbers("w/exp_avg/scale", NumberFormat::fp32),
                std::vector<float>(scales.begin(), scales.end()));
    }
}

}  // namespace
}  // namespace adamant::scenarios
