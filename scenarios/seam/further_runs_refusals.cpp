#include "scenarios/seam/refusal_parts.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "scenarios/language/operations.h"
#include "scenarios/language/rounding_scale.h"

namespace adamant::scenarios {

namespace {

bool clips(Scenario const& scenario) {
  return scenario.optimizer.clip ||
         std::any_of(scenario.program.begin(), scenario.program.end(), [](Operation const& each) {
           auto const* const set = std::get_if<Set>(&each.action);
           auto const* const load = std::get_if<Load>(&each.action);
           return (set != nullptr && set->change.clip && *set->change.clip) ||
                  (load != nullptr && load->found && load->found->clip);
         });
}

/// Does a scale or a block of one cover what a rank has, in some setting of the program?
bool scales_by_rank(Scenario const& scenario) {
  bool found = false;
  for_each_setting(scenario, [&](Scenario const& setting) {
    found =
        found || std::any_of(setting.params.begin(), setting.params.end(), [&](Param const& param) {
          Precision const types = setting.precision_of(param);
          bool const local = has_scaled_state(types) && types.state_scale == StateScale::local;
          return local || is_quantised(types.param);
        });
  });
  return found;
}

// Sums of other numbers round by the order of ranks, a norm is such a sum, and what an infinity
// strikes depends on who adds it up.
void refuse_other_world(Scenario const& scenario, SourceLine line) {
  if (scenario.gradients != GradientClass::exact)
    refuse_at(
        line, "again",
        "only sums of exact gradients are the same in any world; supported: gradients: exact");
  if (clips(scenario))
    refuse_at(line, "again",
              "a norm is summed in another order in another world; supported: clip: none");
  if (any_scale_rounds(scenario))
    refuse_at(line, "again",
              "gradients times this loss scale round, and in another world otherwise; supported: a "
              "loss_scale that is a power of two");
  bool const skips = scenario.optimizer.loss_scale.kind != LossScale::Kind::none;
  if (has<Overflow>(scenario.program) && !skips)
    refuse_at(line, "again",
              "an overflow that is not skipped strikes other elements in another world; supported: "
              "a loss_scale");
}

void refuse_scales(Scenario const& scenario, SourceLine line) {
  if (scales_by_rank(scenario))
    refuse_at(line, "again",
              "a scale covers what one rank has, so numbers depend on the world; supported: "
              "state_scale: global and parameters without a recipe");
}

// What is reduced lies elsewhere in its buffer then, where ranks may be added up in another order.
void refuse_other_order(Scenario const& scenario, SourceLine line) {
  if (clips(scenario))
    refuse_at(line, "again",
              "a norm is summed in another order where parameters are registered in another; "
              "supported: clip: none, or no order");
  if (scenario.gradients != GradientClass::exact || any_scale_rounds(scenario))
    refuse_at(line, "again",
              "gradients whose sums round may be summed in another order where parameters are "
              "registered in another; supported: gradients: exact and a loss_scale that is a power "
              "of two, or no order");
}

/// Can everything that the rest of the program needs be in a checkpoint there?
void refuse_resumed_at(Scenario const& scenario, std::int64_t entry, SourceLine line) {
  std::span<Operation const> const program(scenario.program);
  if (has<Capture, Replay>(program))
    refuse_at(line, "again", "a graph does not outlive a resumption; supported: no capture");
  if (has<OffloadStates, ReloadStates>(program))
    refuse_at(line, "again",
              "a resumption brings states back to the device; supported: neither offload nor "
              "reload in the program");
  bool has_gradient = false;
  bool overflows = false;
  for (Operation const& operation : program.first(static_cast<std::size_t>(entry))) {
    Action const& action = operation.action;
    auto const* const zero = std::get_if<ZeroGrad>(&action);
    if (is<Overflow>(action)) overflows = true;
    if (is<Backward, Train>(action)) overflows = false;
    if (is<Backward>(action)) has_gradient = true;
    if (zero != nullptr) has_gradient = !zero->set_to_none;  // zeros are gradients, too
    if (is<Train, Load>(action)) has_gradient = false;
  }
  if (has_gradient || overflows)
    refuse_at(line, "again",
              "no checkpoint holds the gradients that are there after entry {}; supported: "
              "resumed_after behind a zero_grad, and before a backward and its overflow",
              entry);
}

}  // namespace

void refuse_further_run(Scenario const& scenario, FurtherRun const& run) {
  bool const other_world = run.promise == Promise::worlds;
  SourceLine const line = scenario.lines[other_world ? "worlds" : "again"];
  if (!scenario.faults.empty())
    refuse_at(line, "again", "faults happen to one run; supported: no faults");
  if (other_world) {
    refuse_other_world(scenario, line);
    return refuse_scales(scenario, line);
  }
  Again const& again = scenario.again[run.number];
  if (!again.resumed_after) return;
  if (again.order == ParamOrder::reversed) refuse_other_order(scenario, line);
  if (!again.through.empty()) refuse_scales(scenario, line);
  refuse_resumed_at(scenario, *again.resumed_after, line);
}

}  // namespace adamant::scenarios
