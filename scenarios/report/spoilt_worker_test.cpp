// Workers whose engine spoils its process, as an illegal address on a GPU does. The engine is this
// program's own: after a scenario called "spoils" all else fails in its process.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenarios/pool/pool.h"
#include "scenarios/report/worker_lines.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

bool spoilt = false;  // of each process its own

class SpoilingEngine final : public ScenarioEngine {
 public:
  std::string_view name() const override { return "sim"; }
  Capabilities capabilities() const override { return capabilities_of_simulation(); }
  EngineEnd execute(EngineTask const& task, Observer&) override {
    if (task.scenario.name == "throws") throw std::runtime_error("cannot look at rank 0");
    EngineEnd end;
    spoilt = spoilt || task.scenario.name == "spoils";
    if (spoilt) end.failure = EngineFailure{.message = "an illegal memory access", .spoilt = true};
    return end;
  }
};

}  // namespace

std::unique_ptr<ScenarioEngine> make_scenario_engine(std::string_view) {
  return std::make_unique<SpoilingEngine>();
}
bool engines_have_bugs() {
  return false;
}
EngineMachine machine_of_engine() {
  return {};
}
Capabilities on_this_machine(Capabilities capabilities) {
  return capabilities;
}
std::string engine_here(std::string const& name) {
  return name;
}

namespace {

std::vector<Outcome> outcomes_of(std::vector<std::string> const& names) {
  std::vector<Scenario> scenarios(names.size(), small_scenario());
  for (std::size_t i = 0; i < names.size(); ++i) scenarios[i].name = names[i];
  std::vector<Outcome> outcomes(names.size(), Outcome::error);
  run_jobs(
      {.workers = 1, .jobs = names.size(), .until = {}, .job_time_max = {}},
      [&](std::uint64_t job) { return to_answer(run_in_worker(scenarios[job], {})); },
      [&](JobEnd const& end) {
        ASSERT_TRUE(end.answer) << end.death;
        auto const line = nlohmann::ordered_json::parse(*end.answer);
        outcomes[end.job] = ended_with(line, scenarios[end.job], {}).result.outcome;
      });
  return outcomes;
}

TEST(SpoiltWorker, AScenarioBehindOneThatSpoiltItsProcessRunsInAFreshOne) {
  EXPECT_EQ(outcomes_of({"fine", "spoils", "fine", "spoils", "spoils", "fine"}),
            (std::vector{Outcome::pass, Outcome::violated, Outcome::pass, Outcome::violated,
                         Outcome::violated, Outcome::pass}));
}

TEST(SpoiltWorker, WhoThrowsLeavesAProcessThatNobodyUsesAgain) {
  EXPECT_TRUE(to_answer(run_in_worker(small_scenario(), {})).last == false);
  Scenario scenario = small_scenario();
  scenario.name = "throws";
  EXPECT_TRUE(to_answer(run_in_worker(scenario, {})).last);
}

}  // namespace
}  // namespace adamant::scenarios
