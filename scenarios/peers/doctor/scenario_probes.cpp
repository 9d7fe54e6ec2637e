#include "scenarios/peers/doctor/scenario_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "scenarios/language/words.h"
#include "scenarios/peers/client/process.h"
#include "scenarios/peers/doctor/promise_probes.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t ranks_most = 8;  // beyond these worlds tell nothing new
using Plans = std::vector<ProbePlan>;

void add(Plans& plans, Plans more) {
  std::move(more.begin(), more.end(), std::back_inserter(plans));
}

Plans on_every_world(Capabilities const& offered) {
  Plans plans;
  int const most = static_cast<int>(std::min(offered.ranks_max, ranks_most));
  for (int shard = 1; shard <= most; ++shard) {
    std::string const ranks = shard == 1 ? "1 rank" : fmt::format("{} ranks", shard);
    plans.push_back({.name = "initial values on " + ranks, .program = "[check]", .shard = shard});
    plans.push_back({.name = "reduced gradients on " + ranks,
                     .program = "[backward, zero_grad, backward]",
                     .shard = shard});
  }
  plans.push_back({.name = "replicas", .program = "[train: 2]", .shard = 1, .replicate = 2});
  plans.push_back({.name = "shards and replicas", .program = "[train: 2]", .replicate = 2});
  return plans;
}

Plans of_gradients() {
  return {
      {.name = "one microbatch for two ranks", .program = "[train: 1]", .microbatches = 1},
      {.name = "five microbatches for two ranks", .program = "[train: 1]", .microbatches = 5},
      {.name = "two backwards add up", .program = "[backward, backward, step]"},
      {.name = "a step uses its gradient again", .program = "[backward, step, step]"},
      {.name = "a parameter without gradient",
       .program = "[backward: {without: [h.1.bias]}, step, zero_grad, train: 1]"},
      {.name = "a step before any backward", .program = "[step, train: 1]"},
      {.name = "zero_grad to none", .program = "[backward, zero_grad: {set_to_none: true}, step]"},
      {.name = "zero_grad to zeros",
       .program = "[backward, step, zero_grad: {set_to_none: false}, step]"},
  };
}

Plans of_settings() {
  return {
      {.name = "AdamW", .program = "[train: 3]", .optimizer = "mode: adamw"},
      {.name = "Adam", .program = "[train: 3]", .optimizer = "mode: adam"},
      {.name = "counters of groups", .program = "[train: 2]", .optimizer = "step_counter: group"},
      {.name = "counters of parameters",
       .program = "[train: 1, backward: {without: [h.0.bias]}, step]",
       .optimizer = "step_counter: parameter"},
      {.name = "no bias correction",
       .program = "[train: 2]",
       .optimizer = "bias_correction: false"},
      {.name = "clip", .program = "[train: 2]", .optimizer = "clip: 0.25"},
      {.name = "a clip that is not needed", .program = "[train: 1]", .optimizer = "clip: 1.0e+9"},
      {.name = "a fixed loss scale", .program = "[train: 2]", .optimizer = "loss_scale: 1024"},
      {.name = "a dynamic loss scale", .program = "[train: 2]", .optimizer = "loss_scale: dynamic"},
      {.name = "an overflow without loss scale", .program = "[train: 1, overflow, train: 2]"},
      {.name = "a norm that is not finite is a text",
       .program = "[train: 1, overflow, train: 1]",
       .optimizer = "clip: 1.0"},
      {.name = "an overflow under a loss scale",
       .program = "[train: 1, overflow, train: 2]",
       .optimizer = "loss_scale: 1024"},
      {.name = "an overflow under a dynamic loss scale",
       .program = "[train: 1, overflow, train: 2]",
       .optimizer = "loss_scale: dynamic"},
      {.name = "set lr", .program = "[train: 1, set: {lr: 0.5}, train: 1]"},
      {.name = "set betas", .program = "[train: 1, set: {betas: [0.5, 0.75]}, train: 1]"},
      {.name = "set eps", .program = "[train: 1, set: {eps: 0.125}, train: 1]"},
      {.name = "set weight_decay", .program = "[train: 1, set: {weight_decay: 0.25}, train: 1]"},
      {.name = "set clip",
       .program = "[train: 1, set: {clip: 0.25}, backward, clip, step]",
       .optimizer = "clip: 1.0"},
      {.name = "set loss_scale",
       .program = "[train: 1, set: {loss_scale: 8}, train: 1]",
       .optimizer = "loss_scale: 1024"},
  };
}

/// Is something of it read with scales, or with another tensor?
bool has_parts(Precision const& types) {
  return is_quantised(types.param) || types.main == MainType::remainder || has_scaled_state(types);
}

char const* params_for(Precision const& types) {
  return is_quantised(types.param) ? params_of_recipes : "";
}

/// The first of every list of an offer, and what it leads to: two steps, and where types have
/// parts, loads, too.
ProbePlan of_recipe(PrecisionOffer const& offer, Capabilities const& offered) {
  Precision const types = first_of(offer);
  std::string const recipe = first_precision(offer);
  bool const loads = has_parts(types) && offered.save && offered.load && offered.ranks_max > 2;
  return {.name = "recipe " + recipe.substr(1, recipe.size() - 2),
          .program = loads ? "[train: 2, save: a, train: 1, load: a, train: 1, "
                             "load: {from: a, world: {shard: 3}}, train: 1]"
                           : "[train: 2]",
          .precision = recipe,
          .params = params_for(types)};
}

/// Adds an offer with another type first for each that has parts and may stand with the rest.
template <typename Type>
void add_each(PrecisionOffer const& offer, std::vector<Type> PrecisionOffer::*member,
              std::vector<PrecisionOffer>& all) {
  for (Type const type : offer.*member) {
    PrecisionOffer one = offer;
    one.*member = {type};
    bool const other = first_of(one) != first_of(offer);
    if (other && has_parts(first_of(one)) && !conflict_in(first_of(one))) all.push_back(one);
  }
}

std::vector<PrecisionOffer> with_each_part_first(PrecisionOffer const& offer) {
  std::vector<PrecisionOffer> all;
  add_each(offer, &PrecisionOffer::param, all);
  add_each(offer, &PrecisionOffer::main, all);
  add_each(offer, &PrecisionOffer::exp_avg, all);
  add_each(offer, &PrecisionOffer::exp_avg_sq, all);
  auto const with_usual_scale = all;
  for (PrecisionOffer const& one : with_usual_scale)
    if (has_scalable_state(first_of(one))) add_each(one, &PrecisionOffer::state_scale, all);
  return all;
}

Plans of_recipes(Capabilities const& offered) {
  Plans plans;
  for (PrecisionOffer const& offer : offered.precisions) {
    for (GradType const grad : offer.grad) {
      PrecisionOffer one = offer;
      one.grad = {grad};
      plans.push_back(of_recipe(one, offered));
    }
    for (PrecisionOffer const& one : with_each_part_first(offer))
      plans.push_back(of_recipe(one, offered));
  }
  return plans;
}

/// Loads from the types that a program begins with to those of each offer that have parts.
Plans of_load_recipes(Capabilities const& offered) {
  Plans plans;
  if (!offered.load_precisions || !offered.save || !offered.load) return plans;
  auto all = offered.precisions;
  all.insert(all.end(), offered.load_precisions->begin(), offered.load_precisions->end());
  for (PrecisionOffer const& offer : all) {
    auto firsts = with_each_part_first(offer);
    if (has_parts(first_of(offer))) firsts.push_back(offer);
    for (PrecisionOffer const& one : firsts) {
      std::string const recipe = first_precision(one);
      plans.push_back(
          {.name = "load to " + recipe.substr(1, recipe.size() - 2),
           .program = fmt::format("[train: 1, save: a, load: {{from: a, precision: {}}}, "
                                  "train: 1]",
                                  recipe),
           .params = params_for(first_of(one))});
    }
  }
  return plans;
}

Plans of_checkpoints() {
  return {
      {.name = "load in place", .program = "[train: 1, save: a, train: 1, load: a, train: 1]"},
      {.name = "load on fewer ranks",
       .program = "[train: 1, save: a, load: {from: a, world: {shard: 1}}, train: 1]"},
      {.name = "load on more ranks",
       .program = "[train: 1, save: a, load: {from: a, world: {shard: 3}}, train: 1]"},
      {.name = "load on replicas",
       .program =
           "[train: 1, save: a, load: {from: a, world: {shard: 2, replicate: 2}}, train: 1]"},
      {.name = "load in another order",
       .program = "[train: 1, save: a, load: {from: a, order: reversed}, train: 1]"},
      {.name = "a second save replaces the first",
       .program = "[train: 1, save: a, train: 1, save: a, load: {from: a, world: {shard: 1}}]"},
      {.name = "settings are loaded",
       .program = "[set: {lr: 0.5}, train: 1, save: a, set: {lr: 0.25}, load: a, train: 1]"},
      {.name = "a flipped bit is found",
       .program = "[train: 1, save: a, load: a]",
       .more = "faults: [{at: load, then: flip_byte, file: 1, byte: 300}]\n"
               "expect: {refused: damaged_checkpoint}\n"},
      {.name = "a truncated file is found",
       .program = "[train: 1, save: a, load: a]",
       .more = "faults: [{at: load, then: truncate}]\nexpect: {refused: damaged_checkpoint}\n"},
      {.name = "a missing file is found",
       .program = "[train: 1, save: a, load: a]",
       .more = "faults: [{at: load, then: remove_file}]\nexpect: {refused: damaged_checkpoint}\n"},
      {.name = "a crash in the first save",
       .program = "[train: 1, save: b, train: 1, save: a, load: {from: b, world: {shard: 1}}]",
       .more = "faults: [{at: save, nth: 2, rank: 1, after_bytes: 1, then: crash}]\n"},
  };
}

Plans of_options(Capabilities const& offered) {
  Plans plans;
  for (EngineOption const& option : offered.options)
    for (std::string const& value : option.values) {
      if (value == option.values.front()) continue;
      plans.push_back(
          {.name = fmt::format("option {}: {}", option.name, value),
           .program = offered.save && offered.load
                          ? "[train: 1, save: a, train: 1, load: {from: a, world: {shard: 1}}]"
                          : "[train: 2]",
           .options = {{option.name, value}}});
    }
  return plans;
}

/// Does a plan damage a checkpoint in a way that the engine did not promise to find?
bool is_promised(Scenario const& scenario, Capabilities const& offered) {
  return std::all_of(scenario.faults.begin(), scenario.faults.end(), [&](Fault const& fault) {
    return fault.at != Fault::Where::load || offers(offered.detects_damage, fault.then);
  });
}

std::string text_of(RunResult const& result, ProbePlan const& plan) {
  if (result.outcome == Outcome::pass)
    return fmt::format("expected {}, found none", result.expected);
  if (!result.violations.empty()) {
    std::string const text = in_one_line(result.violations.front());
    std::string const way = way_to_withdraw(result.violations.front(), plan);
    return way.empty() ? text : text + "; " + way;
  }
  return fmt::format("expected {}, found {} {}", result.expected, result.reason,
                     message_of(result));
}

}  // namespace

std::vector<ProbePlan> plans_for(Capabilities const& offered) {
  Plans plans = on_every_world(offered);
  add(plans, of_gradients());
  add(plans, of_settings());
  add(plans, of_recipes(offered));
  add(plans, of_checkpoints());
  add(plans, of_load_recipes(offered));
  add(plans, of_options(offered));
  add(plans, promise_plans(offered));
  return plans;
}

Probe run_plan(ProbePlan const& plan, Capabilities const& offered, std::string const& engine) {
  Scenario const scenario = scenario_of(plan, offered, engine);
  if (auto const refusal = refuse(scenario, offered))
    return {.name = plan.name, .outcome = Probe::Outcome::not_offered, .text = refusal->message};
  if (!is_promised(scenario, offered))
    return {.name = plan.name,
            .outcome = Probe::Outcome::not_offered,
            .text = "detects_damage does not promise it"};
  try {
    RunResult const result = run_scenario(scenario);
    if (result.met) return {.name = plan.name};
    return {.name = plan.name, .outcome = Probe::Outcome::failed, .text = text_of(result, plan)};
  } catch (std::runtime_error const& error) {  // of the engine, or of its adapter
    return {.name = plan.name, .outcome = Probe::Outcome::failed, .text = error.what()};
  }
}

}  // namespace adamant::scenarios
