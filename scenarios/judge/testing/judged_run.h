// A run of a stand-in world under a verdict, with what a test does to it in between.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/judge/verdict.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/runner/testing/stand_in_world.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios {

/// Changes a world after operation number `entry` of the program.
using Tamper = std::function<void(StandInWorld&, int entry)>;

/// 4 ranks; ragged, short and empty shards; two groups; every operation that counts here.
inline Scenario scenario_for(GradientClass gradients = GradientClass::normal) {
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

inline void execute(StandInWorld& world, Primitive const& operation, bool exact) {
  match(
      operation.what, [&](resolved::Backward const& backward) { world.backward(backward, exact); },
      [&](ClipNorm const&) { world.clip(); }, [&](Step const&) { world.step(); },
      [&](ZeroGrad const& zero_grad) { world.zero_grad(zero_grad.set_to_none); },
      [&](resolved::Set const& set) { world.set(set); },
      [](OneOf<resolved::Load, resolved::Replay> auto const&) {}, [](LeavesNumbers auto const&) {});
}

inline Scenario on_world_of(Scenario scenario, StandInWorld::Traits const& traits) {
  scenario.world = {.shard = traits.shards, .replicate = traits.replicas};
  return scenario;
}

/// A run of a whole program under a verdict.
class Judged {
 public:
  /// What happens at which entry: a load is refused, and that is the end; a save is whole, and its
  /// world dies before it returns.
  struct Accident {
    int refused_load = -1;
    int crashed_save = -1;
  };
  Judged(Scenario scenario, StandInWorld::Traits const& traits, Tamper tamper = {},
         Accident accident = {.refused_load = -1, .crashed_save = -1})
      : scenario_(on_world_of(std::move(scenario), traits)),
        program_(scenario_),
        parameters_(parameter_specs(scenario_)),
        verdict_(scenario_, program_, parameters_, 7),
        world_(std::make_unique<StandInWorld>(scenario_, parameters_, traits)),
        traits_(traits),
        tamper_(std::move(tamper)),
        accident_(accident) {
    verdict_.watched() = {.parameter = 0, .index = 3};
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
  /// The last step of the fourth element of the first parameter.
  std::optional<oracle::SeenStep> const& seen_step() { return verdict_.watched().step; }

 private:
  bool follow(Primitive const& operation) {
    if (operation.entry == accident_.crashed_save) {
      saved_[std::get<Save>(operation.what).checkpoint] = world_->save();
      verdict_.crashed(operation, false);
      gone_ = true;
      return true;
    }
    if (operation.entry == accident_.refused_load) {
      verdict_.refused(operation, {.reason = "damaged_checkpoint"}, world_.get());
      return false;
    }
    if (auto const* save = operation.as<Save>())
      saved_[save->checkpoint] = world_->save();
    else if (auto const* each = operation.as<resolved::Load>())
      load(operation, *each);
    else
      execute(*world_, operation, scenario_.gradients == GradientClass::exact);
    if (tamper_) tamper_(*world_, operation.entry);
    return verdict_.after(operation, *world_);
  }

  void load(Primitive const& operation, resolved::Load const& load) {
    if (load.sets_anew || std::exchange(gone_, false)) {
      bool const same = load.setting == 0;
      parameters_of_load_ = parameter_specs(same ? scenario_ : program_.setting(load.setting));
      world_ = std::make_unique<StandInWorld>(scenario_, parameters_of_load_, traits_);
      EXPECT_TRUE(verdict_.restarted(operation, *world_));
    }
    // A file of an older save lies beside those of the last one.
    if (!scenario_.faults.empty()) {
      Fault::Then const how = scenario_.faults.front().then;
      verdict_.damaged(operation,
                       {{.file = "a", .how = how, .beside = how == Fault::Then::stale_file}});
    }
    world_->load(saved_.at(load.checkpoint));
  }

  Scenario scenario_;
  Program program_;
  std::vector<ParameterSpec> parameters_;
  std::vector<ParameterSpec> parameters_of_load_;
  Verdict verdict_;
  std::unique_ptr<StandInWorld> world_;
  StandInWorld::Traits traits_;
  Tamper tamper_;
  Accident accident_;
  bool gone_ = false;  // its world
  std::map<std::string, std::vector<StandInWorld::Tensors>> saved_;
};

inline std::string text_of(Judged const& run) {
  std::string text;
  for (Violation const& violation : run.violations()) text += in_one_line(violation) + "\n";
  return text;
}

inline StandInWorld::Traits torch_on(int shards, int replicas = 1) {
  return {.says = Arithmetic::torch, .shards = shards, .replicas = replicas};
}

inline StandInWorld::Traits any_order_on(int shards) {
  return {.says = Arithmetic::interval, .shards = shards, .step = step_in_fp32};
}

}  // namespace adamant::scenarios
