#include "properties/laws/execution.h"

#include <fmt/core.h>

#include <cstddef>
#include <span>
#include <utility>

#include "oracle/compare/first_difference.h"
#include "scenarios/gradients/keys.h"
#include "scenarios/gradients/values.h"
#include "scenarios/seam/engine.h"

namespace adamant::properties {

namespace {

using scenarios::Leftovers;
using scenarios::Primitive;
using scenarios::WorldView;

class Collector final : public scenarios::Observer {
 public:
  Collector(std::vector<ParameterSpec> const& parameters, LookAtWorld const& look)
      : parameters_(parameters), look_(look) {}

  bool started(WorldView const&) override { return true; }
  bool after(Primitive const& operation, WorldView const& world) override {
    if (look_) look_(operation, world);
    return true;
  }
  void finished(WorldView const& world) override {
    for (int p = 0; p < static_cast<int>(parameters_.size()); ++p) {
      for (TensorKind const kind : all_tensor_kinds)
        state_.tensors.push_back(whole(world, p, kind));
      state_.steps.push_back(world.step_count(0, p));
    }
  }
  void ended(Leftovers const&) override {}

  FinalState take() { return std::move(state_); }

 private:
  WholeTensor whole(WorldView const& world, int parameter, TensorKind kind) const {
    WholeTensor tensor;
    std::vector<float> room;
    tensor.name =
        fmt::format("{}/{}", parameters_[static_cast<std::size_t>(parameter)].name, name_of(kind));
    for (int rank = 0; rank < world.rank_count(); ++rank) {
      scenarios::Shard const shard = world.shard(rank, parameter, kind);
      put_in_place(shard.ranges, scenarios::values_of(shard, room), tensor.values);
    }
    return tensor;
  }

  /// What several ranks hold, the last one says.
  static void put_in_place(std::span<ElementRange const> ranges, std::span<float const> values,
                           std::vector<float>& whole) {
    if (values.empty()) return;  // there is none, or it has no storage
    for (ElementRange const range : ranges) {
      auto const begin = static_cast<std::size_t>(range.begin);
      auto const numel = static_cast<std::size_t>(range.numel());
      if (whole.size() < begin + numel) whole.resize(begin + numel);
      std::copy_n(values.begin(), numel, whole.begin() + range.begin);
      values = values.subspan(numel);
    }
  }

  std::vector<ParameterSpec> const& parameters_;
  LookAtWorld const& look_;
  FinalState state_;
};

std::vector<float> initial_values(ParameterSpec const& parameter, int index, std::uint64_t seed) {
  scenarios::TensorKey const key = scenarios::initial_key({.seed = seed, .parameter = index});
  std::vector<float> values(static_cast<std::size_t>(parameter.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = scenarios::initial_value(scenarios::element_hash(key, i));
  return values;
}

}  // namespace

Execution execute(scenarios::Scenario scenario, ExecutionOptions const& options,
                  LookAtWorld const& look) {
  if (!options.bug.empty()) scenario.bug = options.bug;
  std::vector<ParameterSpec> const parameters = scenarios::parameter_specs(scenario);
  scenarios::Program const program(scenario);
  std::uint64_t const seed = scenario.seed.value_or(0);
  std::vector<std::vector<float>> initial;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    initial.push_back(initial_values(parameters[p], static_cast<int>(p), seed));

  Collector collector(parameters, look);
  Execution execution;
  execution.end = scenarios::make_scenario_engine(options.engine)
                      ->execute({.scenario = scenario,
                                 .program = program,
                                 .parameters = parameters,
                                 .seed = seed,
                                 .schedule = options.schedule.value_or(scenario.schedule),
                                 .initial_values = [&](int parameter) -> std::span<float const> {
                                   return initial[static_cast<std::size_t>(parameter)];
                                 },
                                 .device_bytes = 1ULL << 30,
                                 .loopback = options.loopback},
                                collector);
  execution.state = collector.take();
  return execution;
}

std::string first_difference(WholeTensor const& expected, WholeTensor const& actual) {
  if (expected.values.size() != actual.values.size())
    return fmt::format("{}: {} elements, {} elements", expected.name, expected.values.size(),
                       actual.values.size());
  auto const found = oracle::first_difference(expected.values, actual.values);
  if (!found) return no_difference;
  return fmt::format("{}[{}]: {:a}, {:a} ({} ulp)", expected.name, found->index, found->expected,
                     found->actual, found->ulps);
}

std::string first_difference(FinalState const& expected, FinalState const& actual) {
  if (expected.tensors.size() != actual.tensors.size())
    return fmt::format("{} tensors, {} tensors", expected.tensors.size(), actual.tensors.size());
  for (std::size_t t = 0; t < expected.tensors.size(); ++t) {
    std::string const found = first_difference(expected.tensors[t], actual.tensors[t]);
    if (found != no_difference) return found;
  }
  for (std::size_t p = 0; p < expected.steps.size(); ++p) {
    if (expected.steps[p] != actual.steps[p])
      return fmt::format("step of parameter {}: {}, {}", p, expected.steps[p], actual.steps[p]);
  }
  return no_difference;
}

}  // namespace adamant::properties
