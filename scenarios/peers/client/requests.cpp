#include "scenarios/peers/client/requests.h"

#include <algorithm>

#include "scenarios/language/yaml/vocabulary.h"

namespace adamant::scenarios::requests {

std::string name_of_group(std::vector<Group> const& groups, std::size_t number) {
  return number == 0 ? "" : groups[number - 1].name;
}

namespace {

Json text_of(LossScale const& scale) {
  if (scale.kind == LossScale::Kind::fixed) return static_cast<double>(scale.value);
  return scale.kind == LossScale::Kind::dynamic ? "dynamic" : "none";
}

Json text_of(Clip const& clip) {
  return clip ? Json(static_cast<double>(*clip)) : Json();
}

Json params_of(OpenedWorld const& world) {
  Json params = Json::array();
  for (ParameterSpec const& spec : world.parameters)
    params.push_back(
        {{"name", spec.name}, {"shape", spec.shape}, {"group", spec.group}, {"unit", spec.unit}});
  if (world.setting.order == ParamOrder::reversed) std::reverse(params.begin(), params.end());
  return params;
}

Json groups_of(Scenario const& scenario) {
  auto const configs = adam_configs(scenario);
  Json groups = Json::array();
  for (std::size_t g = 0; g < configs.size(); ++g)
    groups.push_back({{"name", name_of_group(scenario.groups, g)},
                      {"lr", configs[g].learning_rate},
                      {"betas", {configs[g].beta1, configs[g].beta2}},
                      {"eps", configs[g].epsilon},
                      {"weight_decay", configs[g].weight_decay},
                      {"bias_correction", configs[g].bias_correction}});
  return groups;
}

Json precision_of(Precision const& precision) {
  return {{"param", word_for(precision.param)},
          {"grad", word_for(precision.grad)},
          {"main", word_for(precision.main)},
          {"exp_avg", word_for(precision.exp_avg)},
          {"exp_avg_sq", word_for(precision.exp_avg_sq)}};
}

Json changes_of(AdamOverride const& change) {
  Json changes = Json::object();
  if (change.lr) changes["lr"] = *change.lr;
  if (change.betas) changes["betas"] = {(*change.betas)[0], (*change.betas)[1]};
  if (change.eps) changes["eps"] = *change.eps;
  if (change.weight_decay) changes["weight_decay"] = *change.weight_decay;
  return changes;
}

}  // namespace

Json open(OpenedWorld const& world) {
  Optimizer const& optimizer = world.scenario.optimizer;
  Json options = Json::object();
  for (auto const& [name, value] : world.options) options[name] = value;
  return {{"world",
           {{"shard", world.setting.world.shard}, {"replicate", world.setting.world.replicate}}},
          {"layout", word_for(world.setting.layout)},
          {"microbatches", world.scenario.microbatch_count()},
          {"params", params_of(world)},
          {"groups", groups_of(world.scenario)},
          {"optimizer",
           {{"mode", word_for(optimizer.adam.mode)},
            {"step_counter", word_for(optimizer.step_counter)},
            {"clip", text_of(optimizer.clip)},
            {"loss_scale", text_of(optimizer.loss_scale)}}},
          {"precision", precision_of(world.setting.precision)},
          {"options", std::move(options)},
          {"initial", world.initial.string()}};
}

Json set(Primitive const& operation, std::vector<Group> const& groups) {
  Json request = Json::object();
  request["groups"] = Json::array();
  for (std::size_t g = 0; g < operation.set.size(); ++g) {
    Json changes = changes_of(operation.set[g]);
    if (changes.empty()) continue;
    changes["name"] = name_of_group(groups, g);
    request["groups"].push_back(std::move(changes));
  }
  if (operation.clip) request["clip"] = text_of(*operation.clip);
  if (operation.loss_scale) request["loss_scale"] = text_of(*operation.loss_scale);
  return request;
}

}  // namespace adamant::scenarios::requests
