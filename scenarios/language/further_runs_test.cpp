// Law:        a further run is the scenario with what it changes, and nothing else; entries that it
//             has more lead back to those of the scenario.
// Must catch: microbatches that follow another world, a checkpoint of the program's written over,
//             an option said twice.
#include "scenarios/language/further_runs.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

Operation entry(Action action) {
  return {.action = std::move(action), .line = {}};
}

Scenario small() {
  Scenario scenario;
  scenario.world = {.shard = 2};
  scenario.params = {{.name = "w", .shape = {4}}};
  scenario.program = {entry(Train{1}), entry(Save{"resumed"}), entry(Train{2})};
  scenario.engine = {.name = "torch", .options = {{"format", "dcp"}, {"template", "step"}}};
  scenario.schedule.strategy = Schedule::Strategy::random;
  return scenario;
}

TEST(FurtherRuns, InAnotherWorldHaveTheMicrobatchesOfTheFirst) {
  Scenario scenario = small();
  scenario.other_worlds = {{.shard = 1}, {.shard = 3, .replicate = 2}};
  auto const runs = further_runs(scenario);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].promise, Promise::worlds);
  EXPECT_EQ(runs[1].scenario.world, (World{.shard = 3, .replicate = 2}));
  EXPECT_EQ(runs[1].scenario.microbatch_count(), 2);
  EXPECT_EQ(runs[1].scenario.program, scenario.program);
  EXPECT_TRUE(runs[1].scenario.other_worlds.empty());
  EXPECT_EQ(runs[1].scenario.schedule, Schedule{}) << "choices are of another program";
}

TEST(FurtherRuns, ReplaceTheOptionsThatTheyName) {
  Scenario scenario = small();
  scenario.again = {{}, {.options = {{"template", "allocate"}, {"async_save", "true"}}}};
  auto const runs = further_runs(scenario);
  EXPECT_EQ(runs[0].promise, Promise::repeated);
  EXPECT_EQ(runs[0].scenario.engine, scenario.engine);
  EXPECT_EQ(runs[1].promise, Promise::options);
  EngineOptions const expected{{"format", "dcp"}, {"template", "allocate"}, {"async_save", "true"}};
  EXPECT_EQ(runs[1].scenario.engine.options, expected);
}

TEST(FurtherRuns, AreResumedByWayOfOtherWorldsAndComeBack) {
  Scenario scenario = small();
  scenario.again = {{.resumed_after = 1, .through = {{.shard = 3}}, .order = ParamOrder::reversed}};
  FurtherRun const run = further_runs(scenario).front();
  EXPECT_EQ(run.promise, Promise::resumed);
  Load there{.from = "resumed_", .world = World{.shard = 3}};
  there.order = ParamOrder::reversed;
  there.anew = true;
  Load back = there;
  back.world = World{.shard = 2};
  std::vector<Operation> const expected{
      entry(Train{1}), entry(Save{"resumed_"}), entry(there),   entry(Save{"resumed_"}),
      entry(back),     entry(Save{"resumed"}),  entry(Train{2})};
  EXPECT_EQ(run.scenario.program, expected);
  std::vector<int> original;
  for (int i = 0; i < 7; ++i) original.push_back(run.original(i));
  EXPECT_EQ(original, (std::vector{0, 0, 0, 0, 0, 1, 2}));
}

TEST(FurtherRuns, ComeBackToTheWorldThatALoadHasMade) {
  Scenario scenario = small();
  scenario.program.push_back(entry(Load{.from = "resumed", .world = World{.shard = 4}}));
  scenario.again = {{.resumed_after = 4}, {.resumed_after = 0}};
  auto const runs = further_runs(scenario);
  EXPECT_EQ(std::get<Load>(runs[0].scenario.program[5].action).world, (World{.shard = 4}));
  EXPECT_EQ(std::get<Load>(runs[1].scenario.program[1].action).world, (World{.shard = 2}));
  EXPECT_FALSE(std::get<Load>(runs[1].scenario.program[1].action).order) << "as it was";
  EXPECT_TRUE(std::get<Load>(runs[1].scenario.program[1].action).anew) << "nothing may hide";
}

TEST(FurtherRuns, CountEntriesAsReportsDo) {
  Scenario scenario = small();
  scenario.program.insert(scenario.program.begin(), entry(Capture{{entry(Step{})}}));
  scenario.again = {{.resumed_after = 1}};
  FurtherRun const run = further_runs(scenario).front();
  EXPECT_EQ(run.inserted_at, 2) << "what is inside the capture counts";
  EXPECT_EQ(run.original(4), 2);
}

}  // namespace
}  // namespace adamant::scenarios
