#include "scenarios/language/scenario.h"

#include <map>
#include <set>

#include "scenarios/language/operations.h"
#include "scenarios/language/registry.h"

namespace adamant::scenarios {

namespace {

/// 0 for the optimizer's own settings, which have no name, else the group's place in the file, from
/// 1.
std::map<std::string_view, int> numbers_of(std::vector<Group> const& groups) {
  std::map<std::string_view, int> numbers{{"", 0}};
  for (std::size_t i = 0; i < groups.size(); ++i)
    numbers.emplace(groups[i].name, 1 + static_cast<int>(i));
  return numbers;
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

Setting setting_of(Scenario const& scenario) {
  return {.world = scenario.world,
          .layout = scenario.layout,
          .precision = scenario.precision,
          .offload = scenario.offload,
          .order = scenario.order};
}

Scenario with(Scenario scenario, Setting const& setting) {
  scenario.world = setting.world;
  scenario.layout = setting.layout;
  scenario.precision = setting.precision;
  scenario.offload = setting.offload;
  scenario.order = setting.order;
  return scenario;
}

Setting with(Setting setting, Load const& load) {
  if (load.world) setting.world = *load.world;
  if (load.layout) setting.layout = *load.layout;
  if (load.offload) setting.offload = *load.offload;
  if (load.order) setting.order = *load.order;
  setting.precision = with(setting.precision, load.types());
  return setting;
}

Scenario with(Scenario scenario, Load const& load) {
  scenario.microbatches = scenario.microbatch_count();
  Setting const setting = with(setting_of(scenario), load);
  return with(std::move(scenario), setting);
}

void for_each_setting(Scenario const& scenario, std::function<void(Scenario const&)> const& visit) {
  Scenario now = scenario;
  std::set<Setting> visited{setting_of(now)};
  visit(now);
  for (Load const* load : all<Load>(scenario.program)) {
    now = with(std::move(now), *load);
    if (visited.insert(setting_of(now)).second) visit(now);
  }
}

bool needs_new_world(Scenario const& before, Load const& load) {
  Setting const setting = setting_of(before);
  return load.anew || with(setting, load) != setting;
}

std::vector<ParameterSpec> parameter_specs(Scenario const& scenario) {
  std::vector<ParameterSpec> specs;
  specs.reserve(scenario.params.size());
  auto const numbers = numbers_of(scenario.groups);
  for (Param const& param : scenario.params) {
    if (param.is_tied()) continue;
    specs.push_back(
        {.name = param.name,
         .shape = param.shape,
         .group = numbers.contains(param.group) ? numbers.at(param.group) : 0,
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
