#include "scenarios/judge/formulas/own_order.h"

#include <algorithm>

#include "scenarios/judge/value_judge.h"

namespace adamant::scenarios {

namespace {

constexpr TensorKind reduced_kinds[] = {TensorKind::gradient, TensorKind::cast_gradient};
constexpr TensorKind stepped_kinds[] = {TensorKind::parameter, TensorKind::main,
                                        TensorKind::exp_avg, TensorKind::exp_avg_sq};

}  // namespace

void OwnOrder::backward(WorldView const& world, Primitive const& operation) {
  Reference& reference = parts_.reference;
  auto const rounds = [&](int p) { return !reference.sums_exactly(p); };
  auto const has_part = [&](int p) {
    auto const& without = operation.without;
    return std::find(without.begin(), without.end(), p) == without.end();
  };
  for (int p = 0; p < reference.model().parameter_count(); ++p)
    if (has_part(p) && rounds(p)) parts_.values.admit_gradient(world, p, operation.backward_index);
  if (parts_.gradients != GradientClass::exact) return;
  parts_.follow_each(world, reduced_kinds, [&](int p) {
    if (has_part(p) && !rounds(p)) reference.add_exact_mean(p, operation.backward_index);
  });
}

void OwnOrder::clip(WorldView const&) {
  parts_.reference.clip();
}

void OwnOrder::step(WorldView const& world) {
  parts_.reference.begin_step();
  parts_.follow_each(world, stepped_kinds, [&](int p) { parts_.reference.step_parameter(p); });
}

void OwnOrder::zero_grad(WorldView const&, bool set_to_none) {
  parts_.reference.zero_grad(set_to_none);
}

}  // namespace adamant::scenarios
