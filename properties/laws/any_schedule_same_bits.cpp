// Law:        final_state(run(s, A)) == final_state(run(s, B))     for every two schedules A, B
// Sense:      bitwise, for `exact` gradients: which stream advances first, and in which order a
//             collective adds, is nobody's business.
// Not said:   that nothing races where the values happen to agree (the race checker says that).
//             Streams are at rest between operations here, so schedules differ within them.
// Must catch: bug `reduce_skips_wait_for_compute`, by its values alone.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::Schedule;

FinalState under(scenarios::Scenario const& scenario, Schedule const& schedule,
                 std::string const& bug) {
  return execute(scenario, {.bug = bug, .schedule = schedule}).state;
}

std::string fifo_and_other(scenarios::Scenario const& scenario, Schedule const& other,
                           std::string const& bug) {
  return first_difference(under(scenario, {.strategy = Schedule::Strategy::fifo}, bug),
                          under(scenario, other, bug));
}

RC_GTEST_PROP(AnySchedule, EndsWithTheSameBits, ()) {
  auto const scenario = *scenarios::scenario_gen(exact_gradients()).as("scenario");
  bool const pct = *rc::gen::arbitrary<bool>().as("pct");
  auto const seed = *rc::gen::arbitrary<std::uint64_t>().as("schedule seed");
  auto const depth = *rc::gen::inRange<std::int64_t>(1, 6).as("depth");
  classify(scenario);
  RC_CLASSIFY(pct, "pct");

  Schedule const other = {.strategy = pct ? Schedule::Strategy::pct : Schedule::Strategy::random,
                          .seed = seed,
                          .depth = depth};
  RC_ASSERT(fifo_and_other(scenario, other, "") == no_difference);
}

TEST(AnySchedule, CatchesAReductionThatDoesNotWaitForTheModel) {
  expect_caught(
      [](scenarios::Scenario const& scenario, std::string const& bug) {
        return fifo_and_other(scenario, {.strategy = Schedule::Strategy::random, .seed = 5}, bug);
      },
      "reduce_skips_wait_for_compute", exact_gradients());
}

}  // namespace
}  // namespace adamant::properties
