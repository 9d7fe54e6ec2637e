#include "scenarios/search/generate/generate.h"

#include <gtest/gtest.h>
#include <rapidcheck/Random.h>
#include <rapidcheck/Shrinkable.h>

#include <set>

#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/seam/refusals.h"
#include "scenarios/search/generate/draws.h"
#include "scenarios/search/generate/exclusive.h"
#include "scenarios/search/generate/offers.h"

namespace adamant::scenarios {
namespace {

std::int64_t numel_of(Scenario const& scenario) {
  std::int64_t total = 0;
  for (ParameterSpec const& spec : parameter_specs(scenario)) total += spec.numel();
  return total;
}

TEST(Draws, OfNeighbouringCasesHaveNothingInCommon) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t index = 0; index < 50; ++index) {
    Draws draws(7, index);
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(seen.insert(draws.bits()).second) << index;
  }
}

TEST(Generate, SameSeedAndIndexGiveTheSameScenario) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(generate_scenario(7, i), generate_scenario(7, i));
    EXPECT_NE(generate_scenario(7, i), generate_scenario(8, i)) << "seed 7 and 8, index " << i;
    EXPECT_NE(generate_scenario(7, i), generate_scenario(7, i + 1)) << "index " << i;
  }
}

TEST(Generate, EveryScenarioIsSupportedAndSurvivesItsText) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Scenario const scenario =
        generate_scenario(11, i, {.size = static_cast<int>(i % 101), .faults = true});
    auto const refusal = refuse(scenario, capabilities_of_simulation());
    ASSERT_FALSE(refusal) << i << ": " << refusal->message;
    std::string const text = write_scenario(scenario);
    ASSERT_EQ(load_scenario_text(text, "generated.yaml"), scenario) << text;
  }
}

// A load that changes types begins anew, with states on the device.
TEST(Generate, NoReloadFindsItsStatesThereAfterALoadThatGotOtherTypes) {
  FeatureSet const off = set_of(Feature::capturable) | set_of(Feature::hybrid) |
                         set_of(Feature::load_on_other_world) | set_of(Feature::train) |
                         set_of(Feature::overflow) | set_of(Feature::load_reversed);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    auto const refusal =
        refuse(generate_scenario(12, i, {.off = off}), capabilities_of_simulation());
    ASSERT_FALSE(refusal) << i << ": " << refusal->message;
  }
}

TEST(Generate, ExtremeSettingsLieBeyondTheirBounds) {
  auto const is_extreme = [](float rate) {
    Scenario scenario;
    scenario.optimizer.adam.learning_rate = rate;
    return has(features_of(scenario), Feature::extreme_settings);
  };
  EXPECT_FALSE(is_extreme(0.5F));
  EXPECT_TRUE(is_extreme(0.6F));
  EXPECT_FALSE(is_extreme(1e-12F));
  EXPECT_TRUE(is_extreme(1e-13F));
}

TEST(Generate, EveryFeatureAndEveryPairOfFeaturesIsSeen) {
  Distribution seen;
  for (std::uint64_t i = 0; i < 20000; ++i)
    seen.add(features_of(generate_scenario(3, i, {.faults = true})));
  ASSERT_EQ(seen.cases(), 20000U);
  FeatureSet const none = lacking(capabilities_of_simulation());
  for (std::size_t a = 0; a < feature_count; ++a) {
    for (std::size_t b = a; b < feature_count; ++b) {
      auto const [fa, fb] = std::pair(static_cast<Feature>(a), static_cast<Feature>(b));
      bool const possible = compatible(fa, fb) && !has(none, fa) && !has(none, fb);
      EXPECT_EQ(seen.count(fa, fb) > 0, possible) << label_of(fa) << " with " << label_of(fb);
    }
  }
}

TEST(Generate, NoFeatureIsInEveryScenario) {
  Distribution seen;
  for (std::uint64_t i = 0; i < 2000; ++i) seen.add(features_of(generate_scenario(4, i)));
  for (std::size_t f = 0; f < feature_count; ++f) {
    auto const feature = static_cast<Feature>(f);
    EXPECT_LT(seen.count(feature), seen.cases()) << label_of(feature);
  }
}

TEST(Generate, TheAverageScenarioHasTheSizeThatRatesArePromisedFor) {
  double ranks = 0;
  double elements = 0;
  double operations = 0;
  constexpr int count = 5000;
  for (std::uint64_t i = 0; i < count; ++i) {
    Scenario const scenario = generate_scenario(5, i);
    ranks += static_cast<double>(scenario.world.rank_count()) / count;
    elements += static_cast<double>(numel_of(scenario)) / count;
    operations += static_cast<double>(operation_count(scenario.program)) / count;
  }
  EXPECT_NEAR(ranks, 4, 0.5);
  EXPECT_NEAR(elements, 1000, 250);
  EXPECT_NEAR(operations, 12, 2);
}

TEST(Generate, SizeZeroIsAlmostNothing) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    Scenario const scenario = generate_scenario(6, i, {.size = 0});
    EXPECT_EQ(scenario.world.rank_count(), 1);
    EXPECT_EQ(scenario.params.size(), 1U);
    EXPECT_LE(numel_of(scenario), 1);
    EXPECT_EQ(scenario.program.size(), 1U);
  }
}

TEST(Generate, WhatIsSwitchedOffDoesNotOccur) {
  constexpr Feature switchable[] = {Feature::more_than_four_ranks,
                                    Feature::several_params,
                                    Feature::several_units,
                                    Feature::parts,
                                    Feature::tied,
                                    Feature::replicated,
                                    Feature::outer_optim,
                                    Feature::layout_flat,
                                    Feature::layout_bucketed,
                                    Feature::load_on_other_mesh,
                                    Feature::load_with_other_layout,
                                    Feature::load_reversed,
                                    Feature::load_anew,
                                    Feature::group,
                                    Feature::adam_l2,
                                    Feature::counter_per_parameter,
                                    Feature::no_bias_correction,
                                    Feature::extreme_settings,
                                    Feature::cast_gradient,
                                    Feature::weights_bf16,
                                    Feature::weights_fp16,
                                    Feature::main_weights,
                                    Feature::gradients_16_bits,
                                    Feature::moments_bf16,
                                    Feature::moments_fp16,
                                    Feature::moments_fp8,
                                    Feature::main_bf16,
                                    Feature::scaled_main,
                                    Feature::remainder,
                                    Feature::local_scale,
                                    Feature::own_precision,
                                    Feature::gradients_normal,
                                    Feature::gradients_wild,
                                    Feature::idle_rank,
                                    Feature::several_microbatches,
                                    Feature::empty_tensor,
                                    Feature::backward_without,
                                    Feature::accumulated_backward,
                                    Feature::step_without_gradient,
                                    Feature::zero_grad_keeps,
                                    Feature::set,
                                    Feature::train,
                                    Feature::check,
                                    Feature::offload_states,
                                    Feature::explicit_offload,
                                    Feature::hybrid,
                                    Feature::hybrid_shared,
                                    Feature::hybrid_pageable,
                                    Feature::save,
                                    Feature::save_replaced,
                                    Feature::load,
                                    Feature::load_on_other_world,
                                    Feature::load_with_other_offload,
                                    Feature::crash,
                                    Feature::damage,
                                    Feature::out_of_memory,
                                    Feature::schedule_random,
                                    Feature::schedule_pct};
  for (Feature const off : switchable) {
    for (std::uint64_t i = 0; i < 500; ++i) {
      auto const features =
          features_of(generate_scenario(9, i, {.faults = true, .off = set_of(off)}));
      ASSERT_FALSE(has(features, off)) << label_of(off) << " in case " << i;
    }
  }
}

TEST(FeaturesSeen, AreThoseOfParametersBehindATiedOneToo) {
  Scenario scenario;
  scenario.params = {{.name = "a", .shape = {4}}, {.name = "b", .tied = "a"}, {.name = "c"}};
  scenario.params.back().shape = {4};
  FeatureSet const before = features_of(scenario);
  scenario.params.back().precision.main = MainType::fp32;
  EXPECT_TRUE(has(features_of(scenario), Feature::main_weights));
  EXPECT_FALSE(has(before, Feature::main_weights));
}

TEST(FeaturesSeen, AreTheSameFromTheirCounts) {
  Distribution seen;
  for (std::uint64_t i = 0; i < 20; ++i) seen.add(features_of(generate_scenario(11, i)));
  EXPECT_EQ(Distribution(seen.cases(), seen.counts()), seen);
  EXPECT_NE(seen, Distribution());
}

TEST(ScenarioGen, DrawsWhatIsGeneratedOfTheSizeThatIsAskedFor) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto const size = static_cast<int>(seed % 101);
    rc::Random random(seed);
    Scenario const drawn = scenario_gen({.size = 60})(random, size).value();
    EXPECT_EQ(drawn, generate_scenario(random.next(), 0, {.size = std::min(size, 60)}));
  }
}

TEST(ScenarioGen, GreedyShrinkingEndsAtOneStepOfOneElement) {
  auto const steps = [](Scenario const& scenario) {
    for (Operation const& operation : scenario.program) {
      if (std::holds_alternative<Step>(operation.action)) return true;
    }
    return false;
  };
  auto const made_from = [](std::uint64_t seed) {
    return scenario_gen({.off = set_of(Feature::empty_tensor)})(rc::Random(seed), 100);
  };
  std::uint64_t seed = 21;
  while (!steps(made_from(seed).value())) ++seed;
  auto shrinkable = made_from(seed);
  for (bool progress = true; progress;) {
    progress = false;
    auto candidates = shrinkable.shrinks();
    for (auto next = candidates.next(); next; next = candidates.next()) {
      if (!steps(next->value())) continue;
      shrinkable = *next;
      progress = true;
      break;
    }
  }
  Scenario const smallest = shrinkable.value();
  EXPECT_EQ(smallest.program.size(), 1U);
  EXPECT_EQ(smallest.world.rank_count(), 1);
  EXPECT_EQ(numel_of(smallest), 1);
  EXPECT_EQ(smallest.optimizer, Optimizer{});
}

}  // namespace
}  // namespace adamant::scenarios
