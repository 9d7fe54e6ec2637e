#include "scenarios/judge/formulas/own_order.h"

#include "scenarios/judge/value_judge.h"

namespace adamant::scenarios {

void OwnOrder::backward(WorldView const& world, Primitive const& operation) {
  Reference& reference = parts_.reference;
  auto const rounds = [&](int p) { return !reference.sums_exactly(p); };
  for (int p = 0; p < reference.model().parameter_count(); ++p)
    if (has_part(operation, p) && rounds(p))
      parts_.values.admit_gradient(world, p, operation.backward_index);
  if (parts_.gradients != GradientClass::exact) return;
  parts_.follow_each(world, reduced_kinds, [&](int p) {
    if (has_part(operation, p) && !rounds(p)) reference.add_exact_mean(p, operation.backward_index);
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
