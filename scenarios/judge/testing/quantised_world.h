// A world with a quantised parameter that is right but for what a test does to it, and its judge.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "scenarios/judge/testing/judged_world.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {

inline constexpr Recipe all_recipes[] = {Recipe::fp8_delayed, Recipe::fp8_current,
                                         Recipe::fp8_block, Recipe::mxfp8, Recipe::nvfp4};

using QuantisedTamper = std::function<void(QuantisedShard&)>;

/// On 3 ranks: rows 2, 2 and none of 4; 43, 43 and 42 of 128; 11, 11 and 10 of 32; 6, 6 and 4
/// of 16.
inline std::vector<std::int64_t> quantised_shape(Recipe recipe) {
  switch (recipe) {
    case Recipe::fp8_block:
      return {128, 256};
    case Recipe::mxfp8:
      return {32, 64};
    case Recipe::nvfp4:
      return {16, 32};
    default:
      return {4, 3};
  }
}

/// A right world after two steps.
class QuantisedWorld : public JudgedWorld {
 public:
  static constexpr int world_size = 3;
  static constexpr int replicas = 2;

  explicit QuantisedWorld(Recipe recipe)
      : JudgedWorld(scenario_of(recipe), specs_of(scenario_of(recipe), recipe)) {
    for (float const factor : {0.5F, -3.0F}) step(gradient_of(parameters().front(), factor));
  }

  using JudgedWorld::found_after;
  /// Compared after some ranks were tampered with; there has to be one violation.
  Violation found_after(std::vector<int> const& ranks, QuantisedTamper const& tamper) {
    return found_after([&](int rank, TensorKind kind, Shard& shard) {
      if (kind != TensorKind::parameter || std::ranges::count(ranks, rank) == 0) return;
      auto changed = std::make_shared<QuantisedShard>(*shard.quantised);
      tamper(*changed);
      shard.quantised = changed;
    });
  }

 private:
  static Scenario scenario_of(Recipe recipe) {
    Scenario scenario = small_scenario();
    scenario.world = {.shard = world_size, .replicate = replicas};
    scenario.groups = {};
    scenario.params = {parameter("w", quantised_shape(recipe))};
    return scenario;
  }
  static std::vector<ParameterSpec> specs_of(Scenario const& scenario, Recipe recipe) {
    auto specs = parameter_specs(scenario);
    specs.front().formats.main = NumberFormat::fp32;
    specs.front().formats.recipe = recipe;
    return specs;
  }
  static std::vector<float> gradient_of(ParameterSpec const& spec, float factor) {
    std::vector<float> gradient;
    for (std::int64_t i = 0; i < spec.numel(); ++i)
      gradient.push_back(factor * static_cast<float>(i % 7 - 3));
    return gradient;
  }
};

}  // namespace adamant::scenarios
