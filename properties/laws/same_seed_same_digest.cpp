// Law:        digest(run(s)) == digest(run(s)) == digest(replay(s, choices of run(s)))
// Sense:      exact; the digest covers seed, choices and history, results included.
// Not said:   that two compilers build programs with one digest, although they should.
// Must catch: bug `order_from_leftover_state`, and what must differ: another seed, another
//             schedule, and another history (bug `counter_off_by_one`).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::Schedule;

std::uint64_t digest(scenarios::Scenario const& scenario, std::string const& bug = "") {
  return execute(scenario, {.bug = bug}).end.digest;
}

RC_GTEST_PROP(SameSeed, GivesTheSameDigestAgainAndFromItsChoices, ()) {
  auto const scenario = *scenarios::scenario_gen().as("scenario");
  classify(scenario);
  auto const first = execute(scenario);
  RC_ASSERT(execute(scenario).end.digest == first.end.digest);

  // The recorded choices say it all: the strategy that made them is not asked again.
  Schedule const recorded = {.strategy = Schedule::Strategy::fifo, .choices = first.end.choices};
  auto const replayed = execute(scenario, {.schedule = recorded});
  RC_ASSERT(replayed.end.choices == first.end.choices);
  RC_ASSERT(replayed.end.digest == first.end.digest);
}

/// One step on two ranks.
scenarios::Scenario one_step() {
  scenarios::Scenario scenario;
  scenario.name = "one step";
  scenario.seed = 1;
  scenario.world.shard = 2;
  scenario.params = {{.name = "w", .shape = {9}, .group = "", .precision = {}, .line = {}}};
  scenario.program = {{.action = scenarios::Train{.count = 2}, .line = {}}};
  return scenario;
}

TEST(SameSeed, AnotherSeedGivesAnotherDigest) {
  auto other = one_step();
  other.seed = 2;
  EXPECT_NE(digest(one_step()), digest(other));
}

TEST(SameSeed, AnotherScheduleGivesAnotherDigest) {
  auto other = one_step();
  other.schedule = {.strategy = Schedule::Strategy::random, .seed = 3};
  EXPECT_NE(digest(one_step()), digest(other));
}

TEST(SameSeed, AnotherResultGivesAnotherDigest) {
  EXPECT_NE(digest(one_step()), digest(one_step(), "counter_off_by_one"));
}

TEST(SameSeed, StateThatOutlivesTheEngineGivesAnotherDigest) {
  auto two_gathers = one_step();
  two_gathers.params.push_back(two_gathers.params.front());
  two_gathers.params.back().name = "b";
  two_gathers.params.back().shape = {4};
  EXPECT_EQ(digest(two_gathers), digest(two_gathers));
  EXPECT_NE(digest(two_gathers, "order_from_leftover_state"),
            digest(two_gathers, "order_from_leftover_state"));
}

}  // namespace
}  // namespace adamant::properties
