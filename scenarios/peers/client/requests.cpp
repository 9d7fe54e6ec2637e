#include "scenarios/peers/client/requests.h"

#include <algorithm>

#include "scenarios/language/registry.h"
#include "scenarios/peers/client/json_of.h"

namespace adamant::scenarios::requests {

std::string name_of_group(std::span<Group const> groups, std::size_t number) {
  return number == 0 ? "" : groups[number - 1].name;
}

namespace {

bool is_settable(std::string_view key) {
  auto const& keys = key_names<SettingsChange>;
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool is_of_worlds(std::string_view key) {
  return !is_of_groups(key);
}

/// All keys of a part that are told; REQUIRES: none of them is a group's.
template <typename T>
Json told(T const& part) {
  Json message = Json::object();
  tell_keys(part, is_of_worlds, message);
  return message;
}

Json params_of(OpenedWorld const& world) {
  Json params = Json::array();
  for (ParameterSpec const& spec : registered_specs(world.setting)) {
    Json& param = params.emplace_back(Json{
        {"name", spec.name}, {"shape", spec.shape}, {"group", spec.group}, {"unit", spec.unit}});
    if (!spec.parts.empty()) param["parts"] = spec.parts;
  }
  return params;
}

Json groups_of(Scenario const& scenario) {
  auto const configs = adam_configs(scenario);
  Json groups = Json::array();
  for (std::size_t g = 0; g < configs.size(); ++g) {
    Json& group = groups.emplace_back(Json{{"name", name_of_group(scenario.groups, g)}});
    tell_keys(configs[g], is_of_groups, group);
  }
  return groups;
}

/// What replicas share out is told where they do.
Json world_of(World const& world) {
  Json message = told(world);
  if (world.outer != Outer::none) message["outer"] = word_for(world.outer);
  return message;
}

/// What a scale covers is told where there could be any.
Json precision_of(Precision const& precision) {
  Json message = told(precision);
  if (has_scalable_state(precision)) message["state_scale"] = word_for(precision.state_scale);
  return message;
}

Optimizer in_force(OpenedWorld const& world) {
  Optimizer optimizer = world.scenario.optimizer;
  optimizer.clip = world.clip;
  return optimizer;
}

}  // namespace

Json open(OpenedWorld const& world) {
  Json options = Json::object();
  for (auto const& [name, value] : world.options) options[name] = value;
  Json request = {{"world", world_of(world.setting.world)},
                  {"layout", word_for(world.setting.layout)},
                  {"microbatches", world.scenario.microbatch_count()},
                  {"params", params_of(world)},
                  {"groups", groups_of(world.scenario)},
                  {"optimizer", told(in_force(world))},
                  {"precision", precision_of(world.setting.precision)},
                  {"options", std::move(options)},
                  {"initial", world.initial.string()}};
  if (world.anew) request["anew"] = true;
  return request;
}

Json set(resolved::Set const& set) {
  Json request = Json::object();
  request["groups"] = Json::array();
  for (std::size_t g = 0; g < set.group_count(); ++g) {
    Json changes = Json::object();
    tell_keys(set.of_group(g), is_settable, changes);
    if (changes.empty()) continue;
    changes["name"] = name_of_group(set.groups, g);
    request["groups"].push_back(std::move(changes));
  }
  SettingsChange of_world = set.change;
  of_world.adam = {};
  tell_keys(of_world, is_of_worlds, request);
  return request;
}

}  // namespace adamant::scenarios::requests
