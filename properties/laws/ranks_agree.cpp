// Law:        step counters, presence of gradients and gathered parameters are the same on all
//             ranks after every operation
// Sense:      exact.
// Not said:   that what they agree on is right (agrees_with_oracle.cpp).
// Must catch: bug `te_3318`.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::WorldView;

std::string counters_differ(WorldView const& world, int parameter) {
  std::int64_t const first = world.step_count(0, parameter);
  bool const has = world.has_gradient(0, parameter);
  for (int rank = 1; rank < world.rank_count(); ++rank) {
    if (world.step_count(rank, parameter) != first)
      return fmt::format("step of parameter {}: rank 0 {}, rank {} {}", parameter, first, rank,
                         world.step_count(rank, parameter));
    if (world.has_gradient(rank, parameter) != has)
      return fmt::format("gradient of parameter {}: rank 0 {}, rank {} {}", parameter, has, rank,
                         !has);
  }
  return no_difference;
}

std::string gathered_differ(WorldView const& world, int parameter) {
  std::optional<std::uint64_t> first;
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    auto const seen = world.gathered_fingerprint(rank, parameter);
    if (!seen) continue;  // no microbatch here, so nobody looked
    if (first.value_or(*seen) != *seen)
      return fmt::format("parameter {} as gathered: {:x}, rank {} {:x}", parameter, *first, rank,
                         *seen);
    first = seen;
  }
  return no_difference;
}

std::string agree(scenarios::Scenario const& scenario, std::string const& bug) {
  std::string found = no_difference;
  execute(scenario, {.bug = bug}, [&](scenarios::Primitive const&, WorldView const& world) {
    int const parameters = static_cast<int>(scenarios::parameter_specs(scenario).size());
    for (int p = 0; p < parameters && found == no_difference; ++p) {
      found = counters_differ(world, p);
      if (found == no_difference) found = gathered_differ(world, p);
    }
  });
  return found;
}

RC_GTEST_PROP(Ranks, AgreeAfterEveryOperation, ()) {
  auto const scenario = *scenarios::scenario_gen().as("scenario");
  classify(scenario);
  RC_ASSERT(agree(scenario, "") == no_difference);
}

TEST(Ranks, CatchesACounterThatStandsStillWhereNothingIsOwned) {
  expect_caught(agree, "te_3318");
}

}  // namespace
}  // namespace adamant::properties
