// Verdicts on worlds with an arithmetic of their own: what is right passes, and each mistake breaks
// the law that names it.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/judge/verdict.h"
#include "scenarios/report/words/words.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/runner/testing/stand_in_world.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios {
namespace {

using Kind = Primitive::Kind;
/// Changes a world after operation number `entry` of the program.
using Tamper = std::function<void(StandInWorld&, int entry)>;

/// 4 ranks; ragged, short and empty shards; two groups; every operation that counts here.
Scenario scenario_for(GradientClass gradients = GradientClass::normal) {
  Scenario scenario = small_scenario();
  scenario.microbatches = 4;
  scenario.gradients = gradients;
  scenario.optimizer.step_counter = StepCounter::parameter;
  scenario.program = {operation(Train{3}),        operation(Backward{.without = {"h.0.bias"}}),
                      operation(Backward{}),      operation(Step{}),
                      operation(ZeroGrad{false}), operation(Step{}),
                      operation(Check{})};
  return scenario;
}

void execute(StandInWorld& world, Primitive const& operation, bool exact) {
  if (operation.kind == Kind::backward) world.backward(operation, exact);
  if (operation.kind == Kind::clip) world.clip();
  if (operation.kind == Kind::step) world.step();
  if (operation.kind == Kind::zero_grad) world.zero_grad(operation.set_to_none);
  if (operation.kind == Kind::set) world.set(operation);
}

Scenario on_world_of(Scenario scenario, StandInWorld::Traits const& traits) {
  scenario.world = {.shard = traits.shards, .replicate = traits.replicas};
  return scenario;
}

/// A run of a whole program under a verdict.
class Judged {
 public:
  Judged(Scenario scenario, StandInWorld::Traits const& traits, Tamper tamper = {})
      : scenario_(on_world_of(std::move(scenario), traits)),
        program_(scenario_),
        parameters_(parameter_specs(scenario_)),
        verdict_(scenario_, program_, parameters_, 7),
        world_(std::make_unique<StandInWorld>(scenario_, parameters_, traits)),
        traits_(traits),
        tamper_(std::move(tamper)) {
    for (int p = 0; p < std::ssize(parameters_); ++p) world_->write(p, verdict_.initial_values(p));
    bool goes_on = verdict_.started(*world_);
    ProgramWalk walk(program_);
    while (goes_on) {
      auto const next = walk.next();
      if (!next) break;
      goes_on = follow(*next);
    }
    verdict_.finished(*world_);
  }

  /// The law that was broken first, if any was.
  std::optional<Law> first_law() const {
    if (verdict_.violations().empty()) return std::nullopt;
    return verdict_.violations().front().law;
  }
  std::vector<Violation> const& violations() const { return verdict_.violations(); }
  std::vector<std::string> notes() const { return verdict_.notes(); }

 private:
  bool follow(Primitive const& operation) {
    if (operation.kind == Kind::save)
      saved_[std::string(operation.checkpoint)] = world_->save();
    else if (operation.kind == Kind::load)
      load(operation);
    else
      execute(*world_, operation, scenario_.gradients == GradientClass::exact);
    if (tamper_) tamper_(*world_, operation.entry);
    return verdict_.after(operation, *world_);
  }

  void load(Primitive const& operation) {
    if (operation.sets_anew) {
      parameters_of_load_ = parameter_specs(program_.setting(operation.setting));
      world_ = std::make_unique<StandInWorld>(scenario_, parameters_of_load_, traits_);
      EXPECT_TRUE(verdict_.restarted(operation, *world_));
    }
    // A file of an older save lies beside those of the last one.
    if (!scenario_.faults.empty()) {
      Fault::Then const how = scenario_.faults.front().then;
      verdict_.damaged(operation,
                       {{.file = "a", .how = how, .beside = how == Fault::Then::stale_file}});
    }
    world_->load(saved_.at(std::string(operation.checkpoint)));
  }

  Scenario scenario_;
  Program program_;
  std::vector<ParameterSpec> parameters_;
  std::vector<ParameterSpec> parameters_of_load_;
  Verdict verdict_;
  std::unique_ptr<StandInWorld> world_;
  StandInWorld::Traits traits_;
  Tamper tamper_;
  std::map<std::string, std::vector<StandInWorld::Tensors>> saved_;
};

std::string text_of(Judged const& run) {
  std::string text;
  for (Violation const& violation : run.violations()) text += in_one_line(violation) + "\n";
  return text;
}

StandInWorld::Traits torch_on(int shards, int replicas = 1) {
  return {.says = Arithmetic::torch, .shards = shards, .replicas = replicas};
}

StandInWorld::Traits any_order_on(int shards) {
  return {.says = Arithmetic::interval, .shards = shards, .step = step_in_fp32};
}

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

// ---- clip and loss scale ------------------------------------------------------------------------

Scenario clipped(float max_norm, LossScale const& loss_scale) {
  Scenario scenario = scenario_for();
  scenario.optimizer.clip = max_norm;
  scenario.optimizer.loss_scale = loss_scale;
  scenario.program = {operation(Train{2}), operation(Overflow{}), operation(Train{2}),
                      operation(Check{})};
  if (loss_scale.kind == LossScale::Kind::none)
    scenario.program.erase(scenario.program.begin() + 1);
  return scenario;
}

constexpr LossScale dynamic = {.kind = LossScale::Kind::dynamic};

TEST(OtherArithmetic, ClippingAndUnscalingInPlacePass) {
  for (float const max_norm : {0.5F, 1000.0F})
    for (LossScale const& scale :
         {LossScale{}, dynamic, LossScale{.kind = LossScale::Kind::fixed, .value = 1024.0F}}) {
      Judged const run(clipped(max_norm, scale), torch_on(4));
      EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
      Judged const any_order(clipped(max_norm, scale), any_order_on(4));
      EXPECT_EQ(any_order.first_law(), std::nullopt) << text_of(any_order);
    }
}

TEST(OtherArithmetic, ANormThatIsNoNumberReachesWhatIsClippedInAnyArithmetic) {
  Scenario scenario = clipped(0.5F, {});
  scenario.program = {operation(Overflow{}), operation(Backward{}), operation(ClipNorm{}),
                      operation(ClipNorm{})};  // an infinity times 0, and then the norm of that
  for (StandInWorld::Traits const& traits : {torch_on(2), any_order_on(2)}) {
    int overflowed = 0;
    auto const count = [&](StandInWorld& world, int) {
      overflowed += std::isnan(world.scaling(0).norm) ? 1 : 0;
    };
    Judged const run(scenario, traits, count);
    EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
    EXPECT_GT(overflowed, 0);
  }
}

TEST(OtherArithmetic, AnEngineMayClipInItsStepInstead) {
  StandInWorld::Traits traits = any_order_on(4);
  traits.clips_in_place = false;
  Judged const run(clipped(0.5F, {}), traits);
  EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
  traits.says = Arithmetic::torch;
  EXPECT_NE(Judged(clipped(0.5F, {}), traits).first_law(), std::nullopt);
}

TEST(OtherArithmetic, AWrongNormAndAWrongFactorAreSeen) {
  Scenario scenario = scenario_for();
  scenario.optimizer.clip = 0.5F;
  scenario.program = {operation(Backward{}), operation(ClipNorm{}), operation(Step{})};
  Tamper const norm = [](StandInWorld& world, int entry) {
    if (entry == 1) world.scaling().norm *= 1.01F;
  };
  EXPECT_EQ(Judged(scenario, torch_on(4), norm).first_law(), Law::values_interval);
  Tamper const factor = [](StandInWorld& world, int entry) {
    for (float& g : world.at(0).gradient) g *= entry == 1 ? 1.0F + 0x1p-20F : 1.0F;
  };
  EXPECT_EQ(Judged(scenario, torch_on(4), factor).first_law(), Law::values_bitwise);
  EXPECT_EQ(Judged(scenario, any_order_on(4), factor).first_law(), Law::values_interval);
}

TEST(OtherArithmetic, ANormThatIsNoNumberReachesAllGradientsInEveryArithmetic) {
  Scenario scenario = scenario_for();
  scenario.optimizer.clip = 0.5F;
  scenario.program = {operation(Backward{}), operation(ClipNorm{}), operation(Step{})};
  Tamper const tamper = [](StandInWorld& world, int entry) {
    if (entry != 1) return;
    world.scaling().norm = NAN;
    for (int p = 0; p < 5; ++p)
      for (float& g : world.at(p).gradient) g = NAN;
  };
  // The gradients had a norm: that alone is what is wrong.
  for (auto const& traits : {torch_on(4), any_order_on(4)}) {
    Judged const run(scenario, traits, tamper);
    ASSERT_EQ(run.violations().size(), 1U) << text_of(run);
    EXPECT_EQ(run.violations().front().subject, Subject(ScalingNumber::norm));
  }
}

TEST(OtherArithmetic, AStepThatShouldHaveBeenSkippedIsSeen) {
  Scenario scenario = clipped(0.5F, dynamic);
  Tamper const tamper = [](StandInWorld& world, int entry) {
    if (entry == 2) world.scaling().skipped = false;
  };
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

}  // namespace
}  // namespace adamant::scenarios
