#include "scenarios/language/scenario.h"

#include <algorithm>
#include <utility>

#include "scenarios/language/units.h"

namespace adamant::scenarios {

namespace {

/// 0 for the optimizer's own settings, else the group's place in the file, from 1.
int group_number(std::vector<Group> const& groups, std::string const& name) {
  if (name.empty()) return 0;
  auto const found = std::find_if(groups.begin(), groups.end(),
                                  [&](Group const& group) { return group.name == name; });
  return found == groups.end() ? 0 : 1 + static_cast<int>(found - groups.begin());
}

/// The recipe in the words of oracle and engine. What a quantised one cannot take is bf16 beside
/// it. REQUIRES: refuse() has nothing against it.
Formats formats_of(Precision const& precision, std::span<std::int64_t const> shape,
                   Optimizer const& optimizer) {
  Formats formats;
  formats.parameter = format_of(precision.param).value_or(NumberFormat::bf16);
  if (takes(precision.param, shape)) formats.recipe = recipe_of(precision.param);
  formats.gradient = format_of(precision.grad);
  formats.exp_avg = format_of(precision.exp_avg);
  formats.exp_avg_sq = format_of(precision.exp_avg_sq);
  formats.main = format_of(precision.main);
  formats.state_scale = precision.state_scale;
  formats.decoupled_gradient = optimizer.decoupled_grad;
  return formats;
}

}  // namespace

Scenario with(Scenario scenario, Load const& load) {
  scenario.microbatches = scenario.microbatch_count();
  if (load.world) scenario.world = *load.world;
  if (load.layout) scenario.layout = *load.layout;
  if (load.offload) scenario.offload = *load.offload;
  if (load.order) scenario.order = *load.order;
  scenario.precision = with(scenario.precision, load.types());
  return scenario;
}

bool needs_new_world(Scenario const& before, Load const& load) {
  auto const changes = [](auto const& named, auto const& now) { return named && *named != now; };
  return load.anew || changes(load.world, before.world) || changes(load.layout, before.layout) ||
         changes(load.offload, before.offload) || changes(load.order, before.order) ||
         with(before.precision, load.types()) != before.precision;
}

std::vector<ParameterSpec> parameter_specs(Scenario const& scenario) {
  std::vector<ParameterSpec> specs;
  specs.reserve(scenario.params.size());
  for (Param const& param : scenario.params) {
    if (param.is_tied()) continue;
    specs.push_back(
        {.name = param.name,
         .shape = param.shape,
         .group = group_number(scenario.groups, param.group),
         .formats = formats_of(scenario.precision_of(param), param.shape, scenario.optimizer),
         .parts = param.parts});
  }
  number_units(specs);
  return specs;
}

std::vector<AdamConfig> adam_configs(Scenario const& scenario) {
  return group_configs(scenario.optimizer, scenario.groups);
}

}  // namespace adamant::scenarios
