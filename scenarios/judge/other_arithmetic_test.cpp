// Verdicts on worlds with an arithmetic of their own: what is right passes, and each mistake breaks
// the law that names it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/judge/testing/judged_run.h"

namespace adamant::scenarios {
namespace {

Scenario with_precision(Scenario scenario, Precision const& precision) {
  scenario.precision = precision;
  return scenario;
}

constexpr Precision all_bf16 = {.param = ParamType::bf16,
                                .grad = GradType::bf16,
                                .main = MainType::none,
                                .exp_avg = StateType::bf16,
                                .exp_avg_sq = StateType::bf16};
constexpr Precision mixed = {
    .param = ParamType::bf16, .grad = GradType::bf16, .main = MainType::fp32};

TEST(OtherArithmetic, PyTorchsStepsPassOnEveryWorldAndInReplicas) {
  for (GradientClass const gradients : {GradientClass::exact, GradientClass::normal})
    for (auto const& traits : {torch_on(1), torch_on(4), torch_on(2, 2), torch_on(8)}) {
      Judged const run(scenario_for(gradients), traits);
      EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
    }
}

TEST(OtherArithmetic, AnyOrderOfOperationsPassesInEveryRecipe) {
  for (Precision const& precision : {Precision{}, all_bf16, mixed}) {
    Judged const run(with_precision(scenario_for(), precision), any_order_on(4));
    EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
    EXPECT_EQ(run.notes().size(), 2U);
  }
}

TEST(OtherArithmetic, AMomentOfAnotherOrderIsNotPyTorchs) {
  StandInWorld::Traits traits = torch_on(4);
  traits.step = [](AdamConfig const& s, std::int64_t t, Element& e) {
    float const m = s.beta1 * e.exp_avg + (1.0F - s.beta1) * e.gradient;
    step_as_torch(s, t, e);
    e.exp_avg = m;
  };
  Judged const run(scenario_for(), traits);
  EXPECT_EQ(run.first_law(), Law::values_bitwise) << text_of(run);
  EXPECT_LE(run.violations().front().ulp, 16U) << "both are of the same moment";
  for (std::string const& note : run.notes())
    EXPECT_EQ(note.find("lie within the bounds"), std::string::npos) << note;
}

TEST(OtherArithmetic, WrongFormulasAreSeenInEveryArithmetic) {
  std::vector<std::pair<
      std::string, ElementStep>> const mistakes = {{"steps ahead",
                                                    [](AdamConfig const& s, std::int64_t t,
                                                       Element& e) { step_in_fp32(s, t + 1, e); }},
                                                   {"no decay",
                                                    [](AdamConfig s, std::int64_t t, Element& e) {
                                                      s.weight_decay = 0;
                                                      step_in_fp32(s, t, e);
                                                    }},
                                                   {"betas swapped",
                                                    [](AdamConfig s, std::int64_t t, Element& e) {
                                                      std::swap(s.beta1, s.beta2);
                                                      step_in_fp32(s, t, e);
                                                    }},
                                                   {"weights not stepped",
                                                    [](AdamConfig const& s, std::int64_t t,
                                                       Element& e) {
                                                      float const weight = e.weight;
                                                      step_in_fp32(s, t, e);
                                                      e.weight = weight;
                                                    }}};
  for (auto const& [name, step] : mistakes) {
    StandInWorld::Traits traits = any_order_on(4);
    traits.step = step;
    Judged const run(scenario_for(), traits);
    EXPECT_EQ(run.first_law(), Law::values_interval) << name << "\n" << text_of(run);
  }
}

bool says_another_optimizer(Judged const& run) {
  return std::ranges::any_of(run.notes(), [](std::string const& note) {
    return note.find("optimizer is not Adam") != std::string::npos;
  });
}

TEST(OtherArithmetic, AnotherRuleThanAdamsIsOneSentence) {
  ElementStep const rules[] = {[](AdamConfig const& s, std::int64_t, Element& e) {
                                 e.weight -= s.learning_rate * e.gradient;
                               },
                               [](AdamConfig const& s, std::int64_t, Element& e) {  // Adagrad's
                                 e.exp_avg_sq += e.gradient * e.gradient;
                                 e.weight -= s.learning_rate * e.gradient /
                                             (std::sqrt(e.exp_avg_sq) + s.epsilon);
                               }};
  for (ElementStep const& rule : rules)
    for (auto traits : {any_order_on(4), torch_on(1)}) {
      traits.step = rule;
      Judged const run(scenario_for(), traits);
      EXPECT_EQ(run.violations().size(), 1U) << text_of(run);
      EXPECT_TRUE(says_another_optimizer(run)) << text_of(run);
    }
}

// That the optimizer is another does not say why a replica has another weight.
TEST(OtherArithmetic, AnotherRuleThanAdamsHidesNoOtherLaw) {
  StandInWorld::Traits traits = torch_on(2, 2);
  traits.step = [](AdamConfig const& s, std::int64_t, Element& e) {
    e.weight -= s.learning_rate * e.gradient;
  };
  Tamper const part = [](StandInWorld& world, int) {
    if (world.at(0).steps > 0) world.part_replica(5);
  };
  Judged const run(scenario_for(), traits, part);
  EXPECT_TRUE(says_another_optimizer(run)) << text_of(run);
  std::multiset<Law> laws;
  for (Violation const& violation : run.violations()) laws.insert(violation.law);
  EXPECT_EQ(laws, (std::multiset<Law>{Law::values_bitwise, Law::ranks_agree})) << text_of(run);
}

TEST(OtherArithmetic, AWrongStepOfAdamsIsNoOtherOptimizers) {
  ElementStep const steps[] = {
      [](AdamConfig const&, std::int64_t, Element&) {},  // nothing at all
      [](AdamConfig const& s, std::int64_t t, Element& e) { step_in_fp32(s, t + 1, e); },
      [](AdamConfig const& s, std::int64_t t, Element& e) {  // a sum for a mean
        Element other = e;
        other.gradient *= 4;
        step_in_fp32(s, t, other);
        other.gradient = e.gradient;
        e = other;
      }};
  for (ElementStep const& step : steps)
    for (Precision const& precision : {Precision{}, all_bf16}) {
      auto traits = any_order_on(4);
      traits.step = step;
      Judged const run(with_precision(scenario_for(), precision), traits);
      EXPECT_NE(run.first_law(), std::nullopt);
      EXPECT_FALSE(says_another_optimizer(run)) << text_of(run);
    }
}

TEST(OtherArithmetic, EveryElementThatNoOrderGivesIsNamed) {
  Tamper const tamper = [](StandInWorld& world, int entry) {
    for (std::size_t const i : {3U, 4U, 9U}) world.at(0).weight[i] += entry == 3 ? 1 : 0;
  };
  Judged const run(scenario_for(), any_order_on(4), tamper);
  ASSERT_EQ(run.first_law(), Law::values_interval) << text_of(run);
  ASSERT_TRUE(run.violations().front().elements.has_value());
  EXPECT_EQ(run.violations().front().elements->ranges,
            (std::vector<ElementRange>{{3, 5}, {9, 10}}));
}

TEST(OtherArithmetic, AStepIsKeptForWhoAsksWhatBecameOfAnElement) {
  for (auto const& traits : {torch_on(4), any_order_on(4)}) {
    StandInWorld::Tensors last;
    Judged run(scenario_for(), traits, [&](StandInWorld& world, int) { last = world.at(0); });
    auto const& seen = run.seen_step();
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->step, last.steps);
    EXPECT_EQ(seen->exp_avg, last.exp_avg[3]);
    EXPECT_EQ(seen->exp_avg_sq, last.exp_avg_sq[3]);
  }
}

TEST(OtherArithmetic, TheParameterBesideAMainWeightIsRoundedFromIt) {
  Tamper const tamper = [](StandInWorld& world, int entry) {
    if (entry == 1) world.cast_parameters_with(1.01F);
  };
  Judged const run(with_precision(scenario_for(), mixed), any_order_on(2), tamper);
  EXPECT_EQ(run.first_law(), Law::values_bitwise) << text_of(run);
}

TEST(OtherArithmetic, ReplicasAgreeBitForBit) {
  Tamper const tamper = [](StandInWorld& world, int entry) {
    if (entry == 1) world.part_replica(0.25F);
  };
  Judged const run(scenario_for(), torch_on(2, 2), tamper);
  EXPECT_EQ(run.first_law(), Law::ranks_agree) << text_of(run);
}

TEST(OtherArithmetic, AGradientThatNoSumGivesIsSeen) {
  Tamper const tamper = [](StandInWorld& world, int entry) {
    if (entry == 1) world.at(0).gradient[3] *= 1.001F;
  };
  EXPECT_EQ(Judged(scenario_for(), torch_on(4), tamper).first_law(), Law::values_interval);
  EXPECT_EQ(Judged(scenario_for(GradientClass::exact), torch_on(4), tamper).first_law(),
            Law::values_bitwise);
}

TEST(OtherArithmetic, AParameterWithoutGradientKeepsEverything) {
  Tamper const tamper = [](StandInWorld& world, int entry) {
    if (entry == 3) world.at(2).exp_avg[0] += 1e-6F;
  };
  Scenario scenario = scenario_for();
  scenario.program = {operation(Train{1}), operation(Backward{.without = {"h.0.bias"}}),
                      operation(ZeroGrad{false}), operation(Step{}), operation(Check{})};
  EXPECT_EQ(Judged(scenario, torch_on(4)).first_law(), std::nullopt);
  EXPECT_EQ(Judged(scenario, torch_on(4), tamper).first_law(), Law::values_bitwise);
}

// ---- loads --------------------------------------------------------------------------------------

Load load_with(PrecisionOverride const& precision) {
  return {.from = "a", .precision = precision};
}

TEST(OtherArithmetic, ALoadIntoOtherTypesBringsWhatWasSavedRounded) {
  Scenario scenario = scenario_for();
  PrecisionOverride short_weights;
  short_weights.param = ParamType::bf16;
  scenario.program = {operation(Train{1}), operation(Save{"a"}), operation(Train{1}),
                      operation(load_with(short_weights)), operation(Check{})};
  EXPECT_EQ(Judged(scenario, any_order_on(4)).first_law(), std::nullopt);
  Tamper const casts_moments = [](StandInWorld& world, int entry) {
    for (float& m : world.at(0).exp_avg) m = entry == 3 ? std::round(m * 1024) / 1024 : m;
  };
  EXPECT_EQ(Judged(scenario, any_order_on(4), casts_moments).first_law(),
            Law::checkpoint_roundtrip);
}

Scenario loading_after_damage() {
  Scenario scenario = scenario_for();
  scenario.program = {operation(Train{1}), operation(Save{"a"}), operation(Load{.from = "a"}),
                      operation(Check{})};
  scenario.faults = {{.at = Fault::Where::load, .then = Fault::Then::flip_byte}};
  return scenario;
}

TEST(OtherArithmetic, AWorldWithChecksumsHasToReportDamage) {
  Judged const run(loading_after_damage(), torch_on(4));
  EXPECT_EQ(run.first_law(), Law::checkpoint_integrity) << text_of(run);
}

TEST(OtherArithmetic, AFileBesideThoseOfASaveNeedNotBeReported) {
  Scenario scenario = loading_after_damage();
  scenario.faults.front().then = Fault::Then::stale_file;
  Judged const run(scenario, torch_on(4));
  EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
}

TEST(OtherArithmetic, AWorldWithoutChecksumsIsHeldToWhatItLoaded) {
  StandInWorld::Traits traits = torch_on(4);
  traits.has_checksums = false;
  EXPECT_EQ(Judged(loading_after_damage(), traits).first_law(), std::nullopt);
  Tamper const tamper = [](StandInWorld& world, int entry) {
    if (entry == 2) world.at(0).exp_avg[0] += 1e-6F;
  };
  EXPECT_EQ(Judged(loading_after_damage(), traits, tamper).first_law(), Law::checkpoint_integrity);
}

TEST(OtherArithmetic, WhatAFormatCannotCarryIsBelievedAndNotedOnce) {
  Scenario scenario = scenario_for();
  SettingsChange slower;
  slower.adam.lr = 5e-4F;
  scenario.program = {operation(Train{1}),          operation(Save{"a"}), operation(Set{slower}),
                      operation(Load{.from = "a"}), operation(Train{1}),  operation(Check{})};
  EXPECT_EQ(Judged(scenario, torch_on(4)).first_law(), Law::checkpoint_roundtrip);
  Tamper const says_so = [](StandInWorld& world, int entry) {
    if (entry == 3) world.forgets() = {"groups", "scaler"};
  };
  Judged const run(scenario, torch_on(4), says_so);
  EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
  ASSERT_FALSE(run.notes().empty());
  EXPECT_NE(run.notes().back().find("groups, scaler"), std::string::npos) << run.notes().back();
}

TEST(OtherArithmetic, AScalerThatNoFileBringsGoesOnCounting) {
  Scenario scenario = scenario_for();
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::dynamic};
  scenario.program = {operation(Train{1}),          operation(Save{"a"}), operation(Train{2}),
                      operation(Load{.from = "a"}), operation(Train{1}),  operation(Check{})};
  EXPECT_EQ(Judged(scenario, torch_on(4)).first_law(), Law::checkpoint_roundtrip);
  int counted = 0;
  Judged const run(scenario, torch_on(4), [&](StandInWorld& world, int entry) {
    if (entry == 3) world.forgets() = {"scaler"};
    counted = world.scaling().growth_tracker;
  });
  EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
  EXPECT_EQ(counted, 4);
}

// What has been loaded once is there.
TEST(OtherArithmetic, ALoadThatIsRefusedAfterOneThatWasNotIsAViolation) {
  Scenario scenario = scenario_for();
  scenario.program = {operation(Train{1}), operation(Save{"a"}), operation(Load{.from = "a"}),
                      operation(Train{1}), operation(Load{.from = "a"})};
  for (int const entry : {2, 4}) {
    Judged const run(scenario, torch_on(4), {}, {.refused_load = entry});
    ASSERT_EQ(run.first_law(), Law::checkpoint_roundtrip) << entry;
    EXPECT_EQ(run.violations().front().breach, Breach::not_loaded) << entry;
  }
}

// Which of two saves a crash has left, one parameter alone may tell, and no counter.
TEST(OtherArithmetic, ASaveThatACrashInterruptsIsTheOldOneOrTheNewOne) {
  Scenario scenario = scenario_for();
  std::vector<std::string> names;
  for (Param const& param : scenario.params) names.push_back(param.name);
  for (std::string const& name : names) {
    Backward one;
    for (std::string const& other : names)
      if (other != name) one.without.push_back(other);
    scenario.program = {
        operation(Save{"first"}), operation(one),       operation(Step{}),
        operation(ZeroGrad{}),    operation(Save{"a"}), operation(Load{.from = "first"}),
        operation(one),           operation(Step{}),    operation(ZeroGrad{}),
        operation(Save{"a"}),     operation(Load{"a"}), operation(Check{})};
    Judged const run(scenario, torch_on(4), {}, {.crashed_save = 9});
    EXPECT_EQ(run.first_law(), std::nullopt) << name << "\n" << text_of(run);
  }
}

}  // namespace
}  // namespace adamant::scenarios
