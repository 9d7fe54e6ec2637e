#include "scenarios/language/yaml/write_parts.h"

namespace adamant::scenarios {

namespace {

std::string write_betas(float beta1, float beta2) {
  Flow list = flow_list();
  list.add(write_number(beta1));
  list.add(write_number(beta2));
  return list.text();
}

std::string write_clip(Clip const& clip) {
  return clip ? write_number(*clip) : "none";
}

std::string write_loss_scale(LossScale const& scale) {
  if (scale.kind == LossScale::Kind::fixed) return write_number(scale.value);
  return scale.kind == LossScale::Kind::dynamic ? "dynamic" : "none";
}

void write_adam(Flow& map, AdamOverride const& settings) {
  map.real("lr", settings.lr);
  if (settings.betas) map.add("betas", write_betas((*settings.betas)[0], (*settings.betas)[1]));
  map.real("eps", settings.eps);
  map.real("weight_decay", settings.weight_decay);
  if (settings.bias_correction)
    map.add("bias_correction", *settings.bias_correction ? "true" : "false");
}

}  // namespace

Flow write_precision(PrecisionOverride const& precision) {
  Flow map = flow_map();
  map.word("param", precision.param);
  map.word("grad", precision.grad);
  map.word("main", precision.main);
  map.word("exp_avg", precision.exp_avg);
  map.word("exp_avg_sq", precision.exp_avg_sq);
  map.word("state_scale", precision.state_scale);
  return map;
}

Flow write_precision(Precision const& precision) {
  Precision const defaults;
  Flow map = flow_map();
  map.word("param", precision.param, defaults.param);
  map.word("grad", precision.grad, defaults.grad);
  map.word("main", precision.main, defaults.main);
  map.word("exp_avg", precision.exp_avg, defaults.exp_avg);
  map.word("exp_avg_sq", precision.exp_avg_sq, defaults.exp_avg_sq);
  map.word("state_scale", precision.state_scale, defaults.state_scale);
  return map;
}

Flow write_optimizer(Optimizer const& optimizer) {
  Optimizer const defaults;
  Flow map = flow_map();
  map.word("mode", optimizer.adam.mode, defaults.adam.mode);
  write_adam(map, difference(optimizer.adam));
  map.flag("decoupled_grad", optimizer.decoupled_grad, defaults.decoupled_grad);
  map.flag("keep_cast_grad", optimizer.keep_cast_grad, defaults.keep_cast_grad);
  map.word("step_counter", optimizer.step_counter, defaults.step_counter);
  map.flag("capturable", optimizer.capturable, defaults.capturable);
  if (optimizer.clip) map.add("clip", write_clip(optimizer.clip));
  if (optimizer.loss_scale != defaults.loss_scale)
    map.add("loss_scale", write_loss_scale(optimizer.loss_scale));
  return map;
}

std::string write_groups(std::vector<Group> const& groups) {
  Flow map = flow_map();
  for (Group const& group : groups) {
    Flow settings = flow_map();
    write_adam(settings, group.settings);
    map.add(write_text(group.name), settings.text());
  }
  return map.text();
}

std::string write_set(SettingsChange const& change) {
  Flow map = flow_map();
  write_adam(map, change.adam);
  if (change.clip) map.add("clip", write_clip(*change.clip));
  if (change.loss_scale) map.add("loss_scale", write_loss_scale(*change.loss_scale));
  return map.text();
}

}  // namespace adamant::scenarios
