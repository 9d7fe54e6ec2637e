// Law:        every norm that a run finds, and what steps make of it, == those of any other world,
//             and of the same parameters in any other order
// Sense:      bitwise, for `exact` gradients: the sum of squares is exact, so it has no order.
// Not said:   that the norm is right (agrees_with_oracle.cpp).
// Must catch: bugs `pt_149768` and `miles_diffusion_35`.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::Primitive;
using scenarios::Scenario;
using scenarios::WorldView;

struct Found {
  std::vector<float> norms;  // of the last rank, which is the first to be wrong
  FinalState state;
};

/// With a norm, so that something is clipped, on that many ranks.
Found run(Scenario scenario, std::int64_t ranks, std::string const& bug) {
  scenario.microbatches = scenario.microbatch_count();
  scenario.world.shard = ranks;
  scenario.optimizer.clip = scenario.optimizer.clip.value_or(0.5F);
  Found found;
  found.state =
      execute(scenario, {.bug = bug}, [&](Primitive const& operation, WorldView const& world) {
        if (scenarios::is<scenarios::ClipNorm>(operation.what))
          found.norms.push_back(world.scaling(world.rank_count() - 1).norm);
      }).state;
  return found;
}

std::string difference(Found const& expected, Found const& actual) {
  for (std::size_t i = 0; i < std::min(expected.norms.size(), actual.norms.size()); ++i) {
    float const a = expected.norms[i];
    float const b = actual.norms[i];
    bool const same = a == b || (std::isnan(a) && std::isnan(b));
    if (!same) return fmt::format("norm {}: {:a}, elsewhere {:a}", i, a, b);
  }
  return first_difference(expected.state, actual.state);
}

std::string alone_and_shared(Scenario const& scenario, std::string const& bug) {
  return difference(run(scenario, 1, bug), run(scenario, scenario.world.rank_count(), bug));
}

scenarios::GenerateOptions clipped() {
  auto options = exact_in_any_world();
  options.off |= scenarios::set_of(scenarios::Feature::overflow);
  options.off |= scenarios::set_of(scenarios::Feature::quantised);  // as matrices alone are
  return options;
}

RC_GTEST_PROP(TheNorm, HasTheSameBitsInAnyWorld, ()) {
  auto scenario = *scenarios::scenario_gen(exact_in_any_world()).as("scenario");
  scenario.world.shard = *rc::gen::inRange<std::int64_t>(2, 9).as("ranks");
  scenario.program.push_back({.action = scenarios::Train{}, .line = {}});
  classify(scenario);
  RC_ASSERT(alone_and_shared(scenario, "") == no_difference);
}

// A parameter's gradient depends on its number, so that moving rows, not parameters, is what keeps
// the numbers: the same values as one row, and as many.
Scenario reshaped(Scenario scenario) {
  for (scenarios::Param& param : scenario.params)
    if (!param.shape.empty()) {
      std::int64_t numel = 1;
      for (std::int64_t const extent : param.shape) numel *= extent;
      param.shape = {numel};
    }
  return scenario;
}

std::string as_rows_and_flat(Scenario const& scenario, std::string const& bug) {
  auto const ranks = scenario.world.rank_count();
  return difference(run(scenario, ranks, bug), run(reshaped(scenario), ranks, bug));
}

RC_GTEST_PROP(TheNorm, DoesNotDependOnWhereRowsAreCut, ()) {
  auto scenario = *scenarios::scenario_gen(clipped()).as("scenario");
  scenario.program.push_back({.action = scenarios::Train{}, .line = {}});
  RC_ASSERT(as_rows_and_flat(scenario, "") == no_difference);
}

TEST(TheNorm, CatchesAnEpsilonForEachRank) {
  expect_caught(alone_and_shared, "pt_149768", exact_in_any_world());
}

TEST(TheNorm, CatchesTheNormOfAShard) {
  expect_caught(alone_and_shared, "miles_diffusion_35", exact_in_any_world());
}

}  // namespace
}  // namespace adamant::properties
