// Scenarios that tests of the runner start from, as values.
#pragma once

#include <string>
#include <vector>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

inline Param parameter(std::string name, std::vector<std::int64_t> shape, std::string group = "") {
  Param param;
  param.name = std::move(name);
  param.shape = std::move(shape);
  param.group = std::move(group);
  return param;
}

inline Operation operation(Action action) {
  return {.action = std::move(action), .line = {}};
}

/// 4 ranks; 3 units; ragged, short and empty shards; a group of its own without decay; 7
/// microbatches. The program trains, accumulates, leaves a parameter out, zeroes in both ways and
/// changes a setting.
inline Scenario small_scenario() {
  Scenario scenario;
  scenario.name = "small";
  scenario.seed = 7;
  scenario.world.shard = 4;
  scenario.microbatches = 7;
  scenario.params = {parameter("embed.weight", {10, 3}), parameter("h.0.weight", {7, 5}),
                     parameter("h.0.bias", {3}, "no_decay"), parameter("h.1.weight", {9, 4}),
                     parameter("h.1.empty", {0, 2})};
  Group group;
  group.name = "no_decay";
  group.settings.weight_decay = 0.0F;
  scenario.groups = {group};
  SettingsChange slower;
  slower.adam.lr = 5e-4F;
  scenario.program = {operation(Train{2}),
                      operation(Backward{}),
                      operation(Backward{.without = {"h.0.bias"}}),
                      operation(Step{}),
                      operation(Set{slower}),
                      operation(ZeroGrad{false}),
                      operation(Step{}),
                      operation(ZeroGrad{true}),
                      operation(Backward{.without = {"h.0.bias", "h.1.weight"}}),
                      operation(Step{}),
                      operation(ZeroGrad{false}),
                      operation(Check{})};
  return scenario;
}

}  // namespace adamant::scenarios
