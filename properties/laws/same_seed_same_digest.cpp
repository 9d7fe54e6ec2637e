// Law:        digest(run(s)) == digest(run(s)) == digest(replay(s, choices of run(s)))
// Sense:      exact; the digest covers seed, choices and history, results included.
// Not said:   that two compilers build programs with one digest, although they should.
// Must catch: another seed, another schedule, and fault `counter_off_by_one`: history that differs
// gives
//             another digest.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::Schedule;

std::uint64_t digest(scenarios::Scenario const& scenario, std::string const& fault = "") {
  return execute(scenario, {.fault = fault}).end.digest;
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

}  // namespace
}  // namespace adamant::properties
