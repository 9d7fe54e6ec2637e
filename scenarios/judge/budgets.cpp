#include "scenarios/judge/budgets.h"

#include "scenarios/judge/registration.h"

namespace adamant::scenarios {

oracle::Residence residence_of(Scenario const& scenario) {
  return {.capturable = scenario.optimizer.capturable,
          .keep_cast_grad = scenario.optimizer.keep_cast_grad,
          .group_count = static_cast<int>(adam_configs(scenario).size())};
}

Budgets::Budgets(Scenario const& scenario)
    : residence_(residence_of(scenario)),
      has_loss_scale_(scenario.optimizer.loss_scale.kind != LossScale::Kind::none) {}

void Budgets::begin_world(Scenario const& setting, std::span<ParameterSpec const> parameters,
                          std::span<int const> ranks, Clip const& clip) {
  Mesh const mesh = mesh_of(setting.world);
  auto const registered = as_registered({parameters.begin(), parameters.end()}, setting.order);
  order_ = setting.order;
  parameter_count_ = static_cast<int>(parameters.size());
  oracle::Offload const offload = {.states = state_offload_config(setting.offload),
                                   .hybrid = hybrid_config(setting.offload)};
  budgets_.clear();
  budgets_.reserve(ranks.size());
  for (int const rank : ranks)
    budgets_.emplace_back(setting.layout, registered, mesh, rank, offload, residence_);
  if (has_loss_scale_ || clip) use_scaling();
}

void Budgets::use_scaling() {
  for (oracle::Budget& budget : budgets_) budget.use_scaling();
}

void Budgets::follow(Primitive const& operation) {
  if (operation.kind == Primitive::Kind::replay)
    for (Primitive const& captured : operation.captured) follow(captured);
  bool const scales = operation.clip.value_or(Clip()).has_value() ||
                      operation.loss_scale.value_or(LossScale()).kind != LossScale::Kind::none;
  if (scales) use_scaling();
  std::vector<int> without;
  for (int const parameter : operation.without)
    without.push_back(registered_number(parameter, parameter_count_, order_));
  for (oracle::Budget& budget : budgets_) {
    if (operation.kind == Primitive::Kind::backward) budget.backward(without);
    if (operation.kind == Primitive::Kind::zero_grad) budget.zero_grad(operation.set_to_none);
    if (operation.kind == Primitive::Kind::step) budget.step();
    if (operation.kind == Primitive::Kind::offload) budget.offload();
    if (operation.kind == Primitive::Kind::reload) budget.reload();
    if (operation.kind == Primitive::Kind::load) budget.zero_grad(true);
  }
}

}  // namespace adamant::scenarios
