// The scenarios of this tree as the engine on GPUs meets them: each runs, is refused as it expects,
// or is passed over for one of a few reasons.
#include "scenarios/seam/stand_in.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "scenarios/language/laws.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {
namespace {

/// What only a simulated machine does.
constexpr std::string_view listed[] = {
    "unsupported.faults: engine cuda takes no faults at save;",    // crashes
    "unsupported.faults: engine cuda takes no faults at malloc;",  // a device without memory
    "unsupported.schedule: ",                                      // chosen orders
};

struct Met {
  int run = 0;
  int refused = 0;  // as they expect
  std::vector<std::string> passed_over;
  std::vector<std::string> unexpected;  // passed over, or refused, for a reason that is not listed
};

/// Those that this program's own engine is for: not the ones with a bug, nor of other engines.
std::vector<Scenario> const& scenarios_of_tree() {
  static std::vector<Scenario> const all = [] {
    std::vector<Scenario> found;
    for (auto const& file : find_scenarios("scenarios")) {
      Scenario scenario = load_scenario_file(
          file, {.models_directory = "scenarios/models", .checkpoints_directory = {}});
      if (!scenario.bug && scenario.engine.name == "sim") found.push_back(std::move(scenario));
    }
    return found;
  }();
  return all;
}

bool expects(Scenario const& scenario, Refusal const& refusal) {
  return scenario.expect.kind == Expectation::Kind::refused &&
         matches(scenario.expect.id, refusal.id);
}

Met met_by(Capabilities const& here) {
  Met met;
  for (Scenario const& scenario : scenarios_of_tree()) {
    if (auto const why = why_not_for(scenario, capabilities_of_simulation(), here)) {
      bool const is_listed = std::ranges::any_of(
          listed, [&](std::string_view reason) { return why->starts_with(reason); });
      (is_listed ? met.passed_over : met.unexpected).push_back(scenario.name + ": " + *why);
      continue;
    }
    auto const refusal = refuse(scenario, here);
    if (!refusal)
      ++met.run;
    else if (expects(scenario, *refusal))
      ++met.refused;
    else
      met.unexpected.push_back(scenario.name + ": " + refusal->message);
  }
  return met;
}

TEST(StandIn, OnGpusEachScenarioRunsIsRefusedOrIsPassedOverForAListedReason) {
  Met const met = met_by(capabilities_of_gpus());
  EXPECT_EQ(met.unexpected, std::vector<std::string>());
  EXPECT_GT(met.run, 270);
  EXPECT_GE(met.refused, 11);
  EXPECT_GE(met.passed_over.size(), 10U);
  EXPECT_LT(met.passed_over.size(), 40U);
}

TEST(StandIn, ACapabilityThatGoesMissingShows) {
  for (bool Capabilities::*const member :
       {&Capabilities::save, &Capabilities::load, &Capabilities::offload, &Capabilities::clip,
        &Capabilities::tied, &Capabilities::parts, &Capabilities::capturable,
        &Capabilities::loads_in_any_order, &Capabilities::own_precision}) {
    Capabilities less = capabilities_of_gpus();
    less.*member = false;
    EXPECT_FALSE(met_by(less).unexpected.empty());
  }
}

TEST(StandIn, WhereRanksShareAGpuByTheLoopbackTheirCapturesAreRefused) {
  Capabilities less = capabilities_of_gpus();
  less.captured_ranks_max = 1;
  Met const met = met_by(less);
  EXPECT_GE(met.unexpected.size(), 5U);
  for (std::string const& each : met.unexpected)
    EXPECT_NE(each.find(": unsupported.captured_loopback: a capture on "), std::string::npos)
        << each;
}

TEST(StandIn, WhatSimulatedWorldsAloneWatchIsPassedOver) {
  Scenario scenario = scenarios_of_tree().front();
  auto const why_not = [&](std::string law) {
    scenario.expect = {.kind = Expectation::Kind::violates, .id = std::move(law)};
    return why_not_for(scenario, capabilities_of_simulation(), capabilities_of_gpus());
  };
  ASSERT_FALSE(refuse(scenario, capabilities_of_gpus()));
  for (char const* const law : {"order.race", "access", "graph.scalar", "memory.leak"})
    EXPECT_TRUE(why_not(law)) << law;
  for (char const* const law :
       {"values.bitwise", "values", "memory", "memory.budget", "checkpoint"})
    EXPECT_FALSE(why_not(law)) << law;
}

}  // namespace
}  // namespace adamant::scenarios
