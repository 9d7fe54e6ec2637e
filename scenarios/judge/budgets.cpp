#include "scenarios/judge/budgets.h"

#include <algorithm>

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
  auto const all = [&](auto const& change) { std::ranges::for_each(budgets_, change); };
  auto const zero_grad = [&](bool set_to_none) {
    all([&](oracle::Budget& budget) { budget.zero_grad(set_to_none); });
  };
  match(
      operation.what,
      [&](resolved::Backward const& backward) {
        std::vector<int> without;
        for (int const parameter : backward.without)
          without.push_back(registered_number(parameter, parameter_count_, order_));
        all([&](oracle::Budget& budget) { budget.backward(without); });
      },
      [&](ZeroGrad const& each) { zero_grad(each.set_to_none); },
      [&](Step const&) { all(&oracle::Budget::step); },
      [&](OffloadStates const&) { all(&oracle::Budget::offload); },
      [&](ReloadStates const&) { all(&oracle::Budget::reload); },
      [&](resolved::Set const& set) {
        LossScale const scale = set.change.loss_scale.value_or(LossScale());
        if (set.change.clip.value_or(Clip()) || scale.kind != LossScale::Kind::none) use_scaling();
      },
      [&](resolved::Replay const& replay) {
        for (Recorded const& each : replay.body) follow({.what = executed(each)});
      },
      [&](resolved::Load const& load) {
        if (load.clip) use_scaling();
        zero_grad(true);
      },
      [](LeavesMemory auto const&) {});
}

}  // namespace adamant::scenarios
