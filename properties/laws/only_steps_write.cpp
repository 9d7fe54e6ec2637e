// Law:        an operation leaves weight and moments of a parameter as they are, unless it is a
//             step and the parameter has a gradient
// Sense:      bitwise.
// Not said:   what a step writes (agrees_with_oracle.cpp), nor who advances counters.
// Must catch: bug `decay_without_gradient`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::Primitive;
using scenarios::WorldView;

constexpr TensorKind kept[] = {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg,
                               TensorKind::exp_avg_sq};

/// What one parameter keeps over operations, and whether the next step may change it.
struct Kept {
  std::vector<WholeTensor> tensors;
  bool has_gradient = false;
};

Kept look_at(WorldView const& world, int parameter) {
  std::vector<float> room;
  Kept now{.tensors = {}, .has_gradient = world.has_gradient(0, parameter)};
  for (TensorKind const kind : kept) {
    WholeTensor& tensor = now.tensors.emplace_back();
    tensor.name = "parameter " + std::to_string(parameter) + "/" + std::string(name_of(kind));
    for (int rank = 0; rank < world.rank_count(); ++rank) {
      auto const rows = scenarios::values_of(world.shard(rank, parameter, kind), room);
      tensor.values.insert(tensor.values.end(), rows.begin(), rows.end());
    }
  }
  return now;
}

std::string difference(Kept const& before, Kept const& now) {
  std::string found = no_difference;
  for (std::size_t k = 0; k < before.tensors.size() && found == no_difference; ++k)
    found = first_difference(before.tensors[k], now.tensors[k]);
  return found;
}

/// Of a replay it is enough that it steps: its own backward may give the gradients.
bool steps(Primitive const& operation, bool has_gradient) {
  if (scenarios::is<scenarios::Step>(operation.what)) return has_gradient;
  return scenarios::is<scenarios::resolved::Replay>(operation.what) &&
         std::ranges::any_of(body_of(operation),
                             [](auto const& each) { return scenarios::is<scenarios::Step>(each); });
}

std::string only_steps_write(scenarios::Scenario const& scenario, std::string const& bug) {
  std::string found = no_difference;
  std::vector<Kept> before(scenarios::parameter_specs(scenario).size());
  execute(scenario, {.bug = bug}, [&](Primitive const& operation, WorldView const& world) {
    for (std::size_t p = 0; p < before.size(); ++p) {
      Kept now = look_at(world, static_cast<int>(p));
      bool const may_write = scenarios::is<scenarios::resolved::Load>(operation.what) ||
                             steps(operation, before[p].has_gradient);
      if (!may_write && found == no_difference) found = difference(before[p], now);
      before[p] = std::move(now);
    }
  });
  return found;
}

RC_GTEST_PROP(OnlySteps, WriteAndOnlyWhereThereIsAGradient, ()) {
  auto const scenario = *scenarios::scenario_gen().as("scenario");
  auto const features = scenarios::features_of(scenario);
  RC_CLASSIFY(scenarios::has(features, scenarios::Feature::step_without_gradient),
              std::string("a step without any gradient"));
  RC_CLASSIFY(scenarios::has(features, scenarios::Feature::backward_without),
              std::string("a parameter is left out"));
  RC_ASSERT(only_steps_write(scenario, "") == no_difference);
}

TEST(OnlySteps, CatchesDecayWithoutAGradient) {
  expect_caught(only_steps_write, "decay_without_gradient");
}

}  // namespace
}  // namespace adamant::properties
