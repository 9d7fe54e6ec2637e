// Law:        final_state(run(s)) == final_state(run(s with a save and its load wherever no
//             parameter has a gradient)), also where each load is on another mesh and in another
//             layout
// Sense:      bitwise, for `exact` gradients: who goes on from a checkpoint notices nothing, not
//             even of the loss scaler or the norm. What no engine executes together is passed over.
// Not said:   what a checkpoint does while there are gradients, which it does not keep.
// Must catch: bug `scaler_starts_afresh`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "properties/laws/law.h"
#include "scenarios/seam/refusals.h"

namespace adamant::properties {
namespace {

using namespace scenarios;

/// Is there no gradient after `action`, or was there none before it and does it make none?
bool leaves_none(Action const& action, bool none_before) {
  if (std::holds_alternative<Train>(action)) return true;
  if (auto const* zero_grad = std::get_if<ZeroGrad>(&action)) return zero_grad->set_to_none;
  bool const may_make_some =
      std::holds_alternative<Backward>(action) || std::holds_alternative<Replay>(action);
  return none_before && !may_make_some;
}

Scenario with_loads(Scenario scenario, bool on_other_worlds) {
  scenario.microbatches = scenario.microbatch_count();
  std::vector<Operation> program;
  bool none = true;
  std::int64_t loads = 0;
  for (Operation const& operation : scenario.program) {
    program.push_back(operation);
    none = leaves_none(operation.action, none);
    if (!none) continue;
    Load load{.from = "here"};
    ++loads;
    if (on_other_worlds) {
      load.world = World{.shard = loads % 4 + 1,
                         .replicate = loads % 3 + 1,
                         .outer = loads % 2 == 0 ? Outer::none : Outer::optim};
      load.layout = static_cast<LayoutKind>(loads % 3);
    }
    program.push_back({.action = Save{.checkpoint = "here"}, .line = {}});
    program.push_back({.action = load, .line = {}});
  }
  scenario.program = std::move(program);
  return scenario;
}

std::string with_and_without(Scenario const& scenario, bool on_other_worlds,
                             std::string const& bug) {
  Scenario const loading = with_loads(scenario, on_other_worlds);
  if (refuse(loading, capabilities_of_simulation())) return no_difference;
  return first_difference(execute(scenario).state, execute(loading, {.bug = bug}).state);
}

GenerateOptions that_can_be_saved() {
  GenerateOptions options = exact_in_any_world();
  for (Feature const feature :
       {Feature::save, Feature::offload_states, Feature::explicit_offload, Feature::hybrid})
    options.off |= set_of(feature);
  return options;
}

RC_GTEST_PROP(Loads, GoOnWhereTheSaveWas, ()) {
  auto const scenario = *scenario_gen(that_can_be_saved()).as("scenario");
  bool const on_other_worlds = *rc::gen::arbitrary<bool>().as("on other worlds");
  classify(scenario);
  RC_CLASSIFY(scenario.optimizer.loss_scale.kind == LossScale::Kind::dynamic, "dynamic scale");
  RC_CLASSIFY(scenario.optimizer.clip.has_value(), "clip");
  RC_ASSERT(with_and_without(scenario, on_other_worlds, "") == no_difference);
}

// Two overflows halve the scale, wherever the load comes; a scaler that starts afresh forgets them.
// Gradients that round show which scale it was.
Scenario two_overflows() {
  Scenario scenario;
  scenario.name = "two overflows";
  scenario.params = {{.name = "w", .shape = {5}, .group = "", .precision = {}, .line = {}}};
  scenario.precision.grad = GradType::fp16;
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::dynamic};
  for (Action const& action : {Action(Overflow{}), Action(Train{}), Action(Overflow{}),
                               Action(Train{}), Action(Train{48})})
    scenario.program.push_back({.action = action, .line = {}});
  return scenario;
}

TEST(Loads, CatchAScalerThatStartsAfresh) {
  EXPECT_EQ(with_and_without(two_overflows(), false, ""), no_difference);
  EXPECT_NE(with_and_without(two_overflows(), false, "scaler_starts_afresh"), no_difference);
}

}  // namespace
}  // namespace adamant::properties
