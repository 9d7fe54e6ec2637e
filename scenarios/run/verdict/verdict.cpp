#include "scenarios/run/verdict/verdict.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "scenarios/run/verdict/threads.h"

namespace adamant::scenarios {

namespace {

constexpr TensorKind reduced_kinds[] = {TensorKind::gradient, TensorKind::cast_gradient};
constexpr TensorKind stepped_kinds[] = {TensorKind::parameter, TensorKind::main,
                                        TensorKind::exp_avg, TensorKind::exp_avg_sq};

std::int64_t total_numel(std::vector<ParameterSpec> const& parameters) {
  std::int64_t total = 0;
  for (ParameterSpec const& spec : parameters) total += spec.numel();
  return total;
}

/// The states that may move, or none. Explicit offloads move all where the scenario names none.
std::optional<StateOffloadConfig> leaving(Scenario const& scenario) {
  if (auto const configured = state_offload_config(scenario.offload)) return configured;
  for (Operation const& operation : scenario.program)
    if (std::holds_alternative<OffloadStates>(operation.action)) return StateOffloadConfig{};
  return std::nullopt;
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
      memory_(parameters, static_cast<int>(scenario.world.rank_count()),
              {.states = state_offload_config(scenario.offload),
               .hybrid = hybrid_config(scenario.offload)},
              findings_),
      pointers_(parameters, static_cast<int>(scenario.world.rank_count()), leaving(scenario),
                findings_) {}

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
      return follow_each(world, reduced_kinds, [](int) {});
    case Primitive::Kind::set:
      return reference_.set_groups(operation.groups);
    case Primitive::Kind::offload:  // values stay what they are
    case Primitive::Kind::reload:
    case Primitive::Kind::check:
      return;
  }
}

void Verdict::follow_backward(Primitive const& operation, WorldView const& world) {
  compare_gathered(world, operation.backward_index);
  auto const has_part = [&](int p) { return !contains(operation.without, p); };
  if (kind_ == GradientClass::exact) {
    follow_each(world, reduced_kinds, [&](int p) {
      if (has_part(p)) reference_.add_exact_mean(p, operation.backward_index);
    });
    return;
  }
  for (int p = 0; p < parameter_count(); ++p)
    if (has_part(p)) values_.admit_gradient(world, p, operation.backward_index);
}

void Verdict::compare_gathered(WorldView const& world, std::int64_t backward) {
  std::vector<std::uint64_t> expected(static_cast<std::size_t>(parameter_count()));
  for_each_parameter(
      [&](int p) { expected[static_cast<std::size_t>(p)] = reference_.fingerprint(p, backward); });
  for (int p = 0; p < parameter_count(); ++p)
    values_.compare_gathered(world, p, expected[static_cast<std::size_t>(p)]);
}

void Verdict::follow_step(WorldView const& world) {
  reference_.begin_step();
  follow_each(world, stepped_kinds, [&](int p) { reference_.step_parameter(p); });
}

// Of a large model, a parameter is compared right after it was followed, while it is in cache; what
// disagrees is looked at once more, in order. Of a small one everything is compared anyway.
void Verdict::follow_each(WorldView const& world, std::span<TensorKind const> kinds,
                          std::function<void(int)> const& follow_one) {
  std::vector<char> agree(static_cast<std::size_t>(parameter_count()), 1);
  for_each_parameter([&](int p) {
    follow_one(p);
    if (small_) return;
    for (TensorKind const kind : kinds)
      if (!values_.agrees(world, p, kind)) agree[static_cast<std::size_t>(p)] = 0;
  });
  for (int p = 0; p < parameter_count(); ++p)
    if (agree[static_cast<std::size_t>(p)] == 0)
      for (TensorKind const kind : kinds) values_.compare(world, p, kind);
}

void Verdict::compare_all(WorldView const& world) {
  if (!small_) return follow_each(world, all_tensor_kinds, [](int) {});
  for (int p = 0; p < parameter_count(); ++p)
    for (TensorKind const kind : all_tensor_kinds) values_.compare(world, p, kind);
}

void Verdict::for_each_parameter(std::function<void(int)> const& visit) {
  auto const count = static_cast<std::size_t>(parameter_count());
  if (!small_) return on_all_cores(count, [&](std::size_t p) { visit(static_cast<int>(p)); });
  for (std::size_t p = 0; p < count; ++p) visit(static_cast<int>(p));
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
