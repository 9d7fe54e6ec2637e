// Law:        a correct engine raises no alarm                     in any generated scenario
// Sense:      exact: no violation of any law, no error, no refusal.
// Not said:   that an incorrect one would raise one (properties/negative says that).
// Must catch: bug `kernel_reads_past_end`.
//
// ADAMANT_SOAK_CASES sets how many scenarios are run, ADAMANT_SOAK_SEED which.
#include <gtest/gtest.h>

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "properties/laws/law.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"
#include "scenarios/search/minimize/minimize.h"

namespace adamant::properties {
namespace {

using scenarios::RunResult;
using scenarios::Scenario;

constexpr std::uint64_t default_cases = 3'000;
constexpr std::uint64_t default_seed = 1;

std::uint64_t from_environment(char const* name, std::uint64_t otherwise) {
  char const* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string alarm(Scenario const& scenario, std::string const& bug) {
  scenarios::RunOptions options;
  options.bug = bug;
  RunResult const result = scenarios::run_scenario(scenario, options);
  if (result.met) return no_difference;
  if (result.violations.empty()) return result.reason + ": " + message_of(result);
  return in_one_line(result.violations.front());
}

/// The smallest scenario that a reduction reaches from here and that still raises this alarm.
Scenario smallest_alarm(Scenario const& scenario) {
  RunResult const found = scenarios::run_scenario(scenario);
  auto const judge = [](std::span<Scenario const> candidates) {
    std::vector<RunResult> results;
    for (Scenario const& candidate : candidates)
      results.push_back(scenarios::run_scenario(candidate));
    return results;
  };
  return scenarios::minimize(scenario, found, *scenarios::symptom_of(found), judge).scenario;
}

TEST(NoFalseAlarm, IsRaisedInGeneratedScenarios) {
  std::uint64_t const cases = from_environment("ADAMANT_SOAK_CASES", default_cases);
  std::uint64_t const seed = from_environment("ADAMANT_SOAK_SEED", default_seed);
  std::uint64_t alarms = 0;
  for (std::uint64_t index = 0; index < cases; ++index) {
    Scenario const scenario = scenarios::generate_scenario(seed, index, {.faults = true});
    std::string const found = alarm(scenario, "");
    if (found == no_difference) continue;
    ++alarms;
    ADD_FAILURE() << "scenario " << index << " of seed " << seed << ": " << found << '\n'
                  << scenarios::write_scenario(smallest_alarm(scenario));
    if (alarms == 5) break;  // enough to read
  }
  RecordProperty("cases", std::to_string(cases));
  RecordProperty("alarms", std::to_string(alarms));
}

// A NaN's sign depends on how compilers arrange an addition: gathered parameters with NaNs had
// other fingerprints than the oracle's.
constexpr char const* once_raised = R"(
adamant: 1
name: Parameters that are not numbers are gathered
seed: 3220476569
world: {shard: 1}
params:
  - {name: p2, shape: [1]}
  - {name: p3, shape: [1]}
  - {name: p4, shape: [69, 10], group: g}
groups: {g: {eps: 0}}
gradients: wild
program:
  - backward
  - step
  - set: {weight_decay: 0}
  - train: 2
)";

TEST(NoFalseAlarm, IsRaisedAgainWhereOneWasRaisedOnce) {
  auto const scenario = scenarios::load_scenario_text(once_raised, "once_raised.yaml");
  EXPECT_EQ(alarm(scenario, ""), no_difference);
}

TEST(NoFalseAlarm, IsNotWhatAReadPastTheEndIsCalled) {
  expect_caught(alarm, "kernel_reads_past_end");
}

}  // namespace
}  // namespace adamant::properties
