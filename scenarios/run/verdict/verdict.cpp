#include "scenarios/run/verdict/verdict.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace adamant::scenarios {

namespace {

std::int64_t total_numel(std::vector<ParameterSpec> const& parameters) {
  std::int64_t total = 0;
  for (ParameterSpec const& spec : parameters) total += spec.numel();
  return total;
}

bool contains(std::span<int const> numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

}  // namespace

Verdict::Verdict(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
                 std::uint64_t seed)
    : kind_(scenario.gradients),
      small_(total_numel(parameters) <= small_model_numel),
      reference_(scenario, parameters, seed),
      values_(reference_, findings_),
      memory_(parameters, static_cast<int>(scenario.world.rank_count()), findings_),
      pointers_(parameters, static_cast<int>(scenario.world.rank_count()), findings_) {}

bool Verdict::started(WorldView const& world) {
  values_.compare_flags(world);
  compare_all(world);
  memory_.compare(world);
  pointers_.compare(world, nullptr);
  return !findings_.any() || small_;
}

bool Verdict::after(Primitive const& operation, WorldView const& world) {
  if (findings_.any()) return --patience_ > 0;
  findings_.at_operation(operation.entry);
  follow(operation, world);
  values_.compare_flags(world);
  if (small_ || operation.kind == Primitive::Kind::check) compare_all(world);
  memory_.follow(operation);
  memory_.compare(world);
  pointers_.compare(world, &operation);
  return !findings_.any() || small_;
}

void Verdict::finished(WorldView const& world) {
  if (findings_.any() || small_) return;
  findings_.at_operation(-1);
  compare_all(world);
}

void Verdict::ended(std::span<WorldAllocation const> left) {
  if (findings_.any()) return;
  findings_.at_operation(-1);
  memory_.expect_nothing(left);
}

void Verdict::follow(Primitive const& operation, WorldView const& world) {
  switch (operation.kind) {
    case Primitive::Kind::backward:
      return follow_backward(operation, world);
    case Primitive::Kind::step:
      return follow_step(world);
    case Primitive::Kind::zero_grad:
      reference_.zero_grad(operation.set_to_none);
      for (int p = 0; p < reference_.model().parameter_count(); ++p)
        compare_touched(world, p, {TensorKind::gradient});
      return;
    case Primitive::Kind::set:
      return reference_.set_groups(operation.groups);
    case Primitive::Kind::check:
      return;
  }
}

void Verdict::follow_backward(Primitive const& operation, WorldView const& world) {
  values_.compare_gathered(world, operation.backward_index);
  for (int p = 0; p < reference_.model().parameter_count(); ++p) {
    if (contains(operation.without, p)) continue;
    if (kind_ == GradientClass::exact) {
      reference_.add_exact_mean(p, operation.backward_index);
      compare_touched(world, p, {TensorKind::gradient});
    } else {
      values_.admit_gradient(world, p, operation.backward_index);
    }
  }
}

// Each parameter is compared right after its step, while the oracle's tensors are in cache.
void Verdict::follow_step(WorldView const& world) {
  reference_.begin_step();
  for (int p = 0; p < reference_.model().parameter_count(); ++p) {
    reference_.step_parameter(p);
    compare_touched(world, p, {TensorKind::parameter, TensorKind::exp_avg, TensorKind::exp_avg_sq});
  }
}

// Of a small model everything is compared anyway.
void Verdict::compare_touched(WorldView const& world, int parameter,
                              std::initializer_list<TensorKind> kinds) {
  if (small_) return;
  for (TensorKind const kind : kinds) values_.compare(world, parameter, kind);
}

void Verdict::compare_all(WorldView const& world) {
  for (int p = 0; p < reference_.model().parameter_count(); ++p)
    for (TensorKind const kind : all_tensor_kinds) values_.compare(world, p, kind);
}

std::vector<std::string> Verdict::notes() const {
  if (kind_ == GradientClass::exact) return {};
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(),
                "reduced gradients used at most %.3g%% of the room that rounding leaves them",
                100 * values_.interval_used());
  return {text.data()};
}

}  // namespace adamant::scenarios
