// Law:        final_state(run(s, offload)) == final_state(run(s, none))      for every offload
// Sense:      bitwise, for `exact` gradients: where states are between steps, which elements the
//             CPU steps, in which pieces, on which memory and under which schedule is nobody's
//             business. What no engine executes together is passed over.
// Not said:   that anything is offloaded at all (memory_as_counted.cpp says that).
// Must catch: bugs `mlm_4623_copy` and `mlm_2811_read`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"
#include "scenarios/seam/refusals.h"

namespace adamant::properties {
namespace {

using scenarios::Feature;
using scenarios::HybridOffload;
using scenarios::Offload;
using scenarios::OffloadedStates;
using scenarios::Scenario;
using scenarios::Schedule;

scenarios::GenerateOptions nothing_offloaded() {
  auto options = exact_gradients();
  options.off |= scenarios::set_of(Feature::explicit_offload);
  options.off |= scenarios::set_of(Feature::offload_states) | scenarios::set_of(Feature::hybrid);
  return options;
}

std::string with_and_without(Scenario const& scenario, Offload const& offload,
                             Schedule const& schedule, std::string const& bug) {
  Scenario moved = scenario;
  moved.offload = offload;
  if (scenarios::refuse(moved, scenarios::capabilities_of_simulation())) return no_difference;
  return first_difference(execute(scenario).state,
                          execute(moved, {.bug = bug, .schedule = schedule}).state);
}

rc::Gen<Schedule> any_schedule() {
  return rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), [](std::uint64_t seed) {
    return Schedule{.strategy = Schedule::Strategy::random, .seed = seed};
  });
}

RC_GTEST_PROP(Offload, OfStatesChangesNoBit, ()) {
  auto const scenario = *scenarios::scenario_gen(nothing_offloaded()).as("scenario");
  bool const moments = *rc::gen::arbitrary<bool>().as("moments");
  auto const schedule = *any_schedule().as("schedule");
  classify(scenario);
  OffloadedStates const states = {.moments = moments, .main = !moments || scenario.seed != 0};
  RC_ASSERT(with_and_without(scenario, states, schedule, "") == no_difference);
}

RC_GTEST_PROP(Offload, OfAnyPartOfTheStepChangesNoBit, ()) {
  auto const scenario = *scenarios::scenario_gen(nothing_offloaded()).as("scenario");
  auto const percent = *rc::gen::inRange(0, 101).as("percent on the CPU");
  auto const flags = *rc::gen::inRange(0, 8).as("overlap, pin_grads, pin_params");
  auto const schedule = *any_schedule().as("schedule");
  classify(scenario);
  RC_CLASSIFY(percent == 0 || percent == 100, "all on one side");
  HybridOffload const hybrid = {.fraction = percent / 100.0,
                                .overlap = (flags & 1) != 0,
                                .pin_grads = (flags & 2) != 0,
                                .pin_params = (flags & 4) != 0};
  RC_ASSERT(with_and_without(scenario, hybrid, schedule, "") == no_difference);
}

TEST(Offload, CatchesWeightsThatGoUpIntoACopy) {
  expect_caught(
      [](Scenario const& scenario, std::string const& bug) {
        return with_and_without(scenario, HybridOffload{}, {}, bug);
      },
      "mlm_4623_copy", nothing_offloaded());
}

TEST(Offload, CatchesStatesThatAreReadWhereTheyWere) {
  expect_caught(
      [](Scenario const& scenario, std::string const& bug) {
        return with_and_without(scenario, OffloadedStates{}, {}, bug);
      },
      "mlm_2811_read", nothing_offloaded());
}

}  // namespace
}  // namespace adamant::properties
