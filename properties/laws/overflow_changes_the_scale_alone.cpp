// Law:        under a loss scale, a step after an overflow on any rank is skipped on every rank,
//             and changes nothing but the loss scale
// Sense:      bitwise, on every rank: parameters, moments, gradients and counters.
// Not said:   how the scale moves (agrees_with_oracle.cpp).
// Must catch: bugs `skip_decided_per_rank` and `accelerate_4242`.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <vector>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::Primitive;
using scenarios::Scenario;
using scenarios::WorldView;

using Bytes = std::vector<std::byte>;

/// Everything of all ranks that a skipped step has to leave alone.
struct Unchanged {
  std::vector<Bytes> tensors;
  std::vector<std::int64_t> steps;
  friend bool operator==(Unchanged const&, Unchanged const&) = default;
};

Unchanged look_at(WorldView const& world, std::size_t parameters) {
  Unchanged kept;
  for (int rank = 0; rank < world.rank_count(); ++rank)
    for (int p = 0; p < static_cast<int>(parameters); ++p) {
      kept.steps.push_back(world.step_count(rank, p));
      for (TensorKind const kind : all_tensor_kinds) {
        auto const bytes = world.shard(rank, p, kind).bytes;
        kept.tensors.emplace_back(bytes.begin(), bytes.end());
      }
    }
  return kept;
}

/// The scenario, and at its end an overflow and the step that it should prevent.
Scenario with_overflow(Scenario scenario) {
  using namespace scenarios;
  if (scenario.optimizer.loss_scale.kind == LossScale::Kind::none)
    scenario.optimizer.loss_scale = {.kind = LossScale::Kind::dynamic};
  for (Operation& operation : scenario.program)
    if (auto* set = std::get_if<Set>(&operation.action)) set->change.loss_scale.reset();
  for (Action const& action : {Action(Overflow{}), Action(Backward{}), Action(Step{})})
    scenario.program.push_back({.action = action, .line = {}});
  return scenario;
}

std::string skipped_everywhere(Scenario const& generated, std::string const& bug) {
  Scenario const scenario = with_overflow(generated);
  int const last = static_cast<int>(scenario.program.size()) - 1;
  std::string found = no_difference;
  Unchanged before;
  execute(scenario, {.bug = bug}, [&](Primitive const& operation, WorldView const& world) {
    Unchanged now = look_at(world, scenarios::parameter_specs(scenario).size());
    if (operation.entry == last) {
      for (int rank = 0; rank < world.rank_count(); ++rank)
        if (!world.scaling(rank).skipped) found = fmt::format("rank {} takes the step", rank);
      if (found == no_difference && now != before) found = "the skipped step changed something";
    }
    before = std::move(now);
  });
  return found;
}

bool has_elements(Scenario const& scenario) {
  for (ParameterSpec const& spec : scenarios::parameter_specs(scenario))
    if (spec.numel() > 0) return true;
  return false;
}

std::string law(Scenario const& scenario, std::string const& bug) {
  return has_elements(scenario) ? skipped_everywhere(scenario, bug) : no_difference;
}

RC_GTEST_PROP(Overflow, ChangesTheScaleAlone, ()) {
  auto const scenario = *scenarios::scenario_gen().as("scenario");
  classify(scenario);
  RC_CLASSIFY(!has_elements(scenario), std::string("no elements at all"));
  RC_ASSERT(law(scenario, "") == no_difference);
}

TEST(Overflow, CatchesRanksThatDecideForThemselves) {
  expect_caught(law, "skip_decided_per_rank");
}

TEST(Overflow, CatchesASkippedStepThatCounts) {
  expect_caught(law, "accelerate_4242");
}

}  // namespace
}  // namespace adamant::properties
