// Law:        a further run that comes to something else breaks the law that it puts to the test,
//             and what it breaks by itself is told, too; a right engine is silent.
// Sense:      the simulated engine with and without catalogued bugs, and worlds that are made up.
// Must catch: a world that is not run, a comparison that sees values alone, files that are compared
//             although nothing is promised of them.
#include "scenarios/runner/two_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

Scenario trained() {
  Scenario scenario = small_scenario();
  scenario.world = {.shard = 1};
  scenario.program = {operation(Train{1}), operation(Train{1})};
  return scenario;
}

bool is_broken(RunResult const& result, Law law) {
  return std::ranges::any_of(result.violations,
                             [&](Violation const& violation) { return violation.law == law; });
}

TEST(TwoRuns, OfARightEngineComeToTheSame) {
  Scenario scenario = trained();
  scenario.program.push_back(operation(Save{"a"}));
  scenario.other_worlds = {{.shard = 3}, {.shard = 2, .replicate = 2}};
  scenario.again = {
      {},
      {.resumed_after = 0},
      {.resumed_after = 1, .through = {{.shard = 4}, {.shard = 2}}, .order = ParamOrder::reversed},
      {.resumed_after = 3}};
  RunResult const result = run_scenario(scenario);
  EXPECT_EQ(result.outcome, Outcome::pass);
  EXPECT_TRUE(result.violations.empty());
}

TEST(TwoRuns, InSeveralWorldsShowWhatOneWorldHides) {
  Scenario scenario = trained();
  scenario.bug = "shard_off_by_one_row";
  EXPECT_EQ(run_scenario(scenario).outcome, Outcome::pass) << "one rank has all rows";
  scenario.other_worlds = {{.shard = 3}};
  RunResult const result = run_scenario(scenario);
  EXPECT_EQ(result.outcome, Outcome::violated);
  EXPECT_TRUE(is_broken(result, Law::runs_worlds));
  EXPECT_TRUE(is_broken(result, Law::values_bitwise)) << "the oracle sees it, too";
  for (Violation const& violation : result.violations) EXPECT_EQ(violation.run, "worlds: [3]");
}

TEST(TwoRuns, OneOfWhichIsRefusedAreRefused) {
  Scenario scenario = small_scenario();
  scenario.other_worlds = {{.shard = 1}};
  RunOptions options;
  options.device_bytes = 2048;
  ASSERT_EQ(run_scenario(small_scenario(), options).outcome, Outcome::pass);
  RunResult const result = run_scenario(scenario, options);
  EXPECT_EQ(result.outcome, Outcome::refused);
  EXPECT_EQ(result.reason, "out_of_memory");
  EXPECT_TRUE(result.message.starts_with("with worlds: [1]: ")) << result.message;
}

TEST(TwoRuns, OneOfWhichIsResumedShowsWhatAProgramWithoutCheckpointsHides) {
  Scenario scenario = trained();
  scenario.world.shard = 2;
  scenario.bug = "mlm_5077";
  EXPECT_EQ(run_scenario(scenario).outcome, Outcome::pass);
  scenario.again = {{.resumed_after = 1}};
  RunResult const result = run_scenario(scenario);
  EXPECT_EQ(result.outcome, Outcome::violated);
  EXPECT_TRUE(is_broken(result, Law::runs_resumed));
  for (Violation const& violation : result.violations) {
    EXPECT_EQ(violation.run, "again: {resumed_after: 1}");
    EXPECT_LT(violation.operation, 2) << "entries are those of the scenario";
  }
}

TEST(TwoRuns, EachOfSeveralIsHeldToTheFirst) {
  Scenario scenario = trained();
  scenario.world.shard = 2;
  scenario.bug = "mlm_5077";
  scenario.again = {{}, {.resumed_after = 1}};
  EXPECT_TRUE(is_broken(run_scenario(scenario), Law::runs_resumed));
  scenario = trained();
  scenario.bug = "shard_off_by_one_row";
  scenario.again = {{}};
  scenario.other_worlds = {{.shard = 1}, {.shard = 3}};
  EXPECT_TRUE(is_broken(run_scenario(scenario), Law::runs_worlds));
}

TEST(TwoRuns, AreNotMadeWhereTheFirstFails) {
  Scenario scenario = trained();
  scenario.bug = "mean_not_divided";
  scenario.other_worlds = {{.shard = 3}};
  for (Violation const& violation : run_scenario(scenario).violations) EXPECT_EQ(violation.run, "");
}

// ---- worlds that are made up --------------------------------------------------------------------

/// One rank with one parameter, whose numbers a test sets.
class MadeUp final : public WorldView {
 public:
  std::map<TensorKind, std::vector<float>> numbers{{TensorKind::parameter, {1, 2, 3, 4}}};
  std::int64_t steps = 0;
  AdamConfig settings = {};
  RankScaling scales = {};
  FileDigests files = {};
  std::vector<std::string> lost = {};

  int rank_count() const override { return 1; }
  Shard shard(int, int, TensorKind kind) const override {
    auto const found = numbers.find(kind);
    if (found == numbers.end()) return {.ranges = {&all_, 1}};
    return {.ranges = {&all_, 1}, .bytes = std::as_bytes(std::span(found->second))};
  }
  bool has_gradient(int, int) const override { return false; }
  std::int64_t step_count(int, int) const override { return steps; }
  AdamConfig group(int, int) const override { return settings; }
  RankScaling scaling(int) const override { return scales; }
  std::vector<NamedBuffer> buffers(int) const override { return {}; }
  std::size_t peak_bytes(int, Purpose) const override { return 0; }
  std::optional<std::vector<WorldAllocation>> allocations() const override { return {}; }
  std::optional<std::uint64_t> gathered_fingerprint(int, int) const override { return {}; }
  std::vector<std::string> not_carried() const override { return lost; }
  std::vector<StoredFile> checkpoint(std::string_view) const override { return {}; }
  FileDigests file_digests(std::string_view) const override { return files; }

 private:
  ElementRange all_{0, 4};
};

class MadeUpRuns : public testing::Test {
 protected:
  MadeUpRuns() {
    scenario_.params = {parameter("w", {4})};
    scenario_.program = {operation(Train{1}), operation(Save{"a"}), operation(Train{1})};
    scenario_.again = {{}, {.resumed_after = 2}};
  }

  /// What run number `again` is found to break, where the first one saw `first` after each of its
  /// operations and this one `second`. The resumed one has lost `not_carried`.
  std::vector<Violation> found(std::size_t again, MadeUp const& first, MadeUp second,
                               std::vector<std::string> const& not_carried = {}) {
    Recording recording(scenario_);
    recording.after({0, Step{}}, first);
    recording.after({1, Save{"a"}}, first);
    recording.after({2, Step{}}, first);
    FurtherRun const run = further_runs(scenario_)[again];
    HeldTo held(recording, run, {".bin"});
    held.after({0, Step{}}, first);
    held.after({1, Save{"a"}}, again == 0 ? second : first);
    second.lost = not_carried;
    if (again == 1) {
      held.after({2, Save{"a"}}, second);
      held.after({3, resolved::Load{}}, second);
    }
    held.after({2 + run.inserted, Step{}}, second);
    gave_up_ = held.gave_up();
    return held.violations();
  }

  Scenario scenario_;
  std::string gave_up_;
};

TEST_F(MadeUpRuns, DifferInOneBitOfAnyTensor) {
  for (TensorKind const kind :
       {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq}) {
    MadeUp first;
    first.numbers[kind] = {1, 2, 3, 4};
    MadeUp second = first;
    second.numbers[kind][2] = std::nextafter(3.0F, 4.0F);
    auto const violations = found(0, first, second);
    ASSERT_EQ(violations.size(), 1U);
    EXPECT_EQ(violations[0].law, Law::runs_repeated);
    EXPECT_EQ(violations[0].operation, 1);
    EXPECT_EQ(violations[0].index, 2);
    EXPECT_EQ(violations[0].ulp, 1U);
    EXPECT_EQ(violations[0].subject, (Subject{Tensor{.parameter = "w", .kind = kind}}));
  }
}

TEST_F(MadeUpRuns, DifferInCountersSettingsAndScale) {
  MadeUp second;
  second.steps = 3;
  second.settings.learning_rate = 1;
  second.scales.loss_scale = 2;
  auto const violations = found(1, {}, second);
  ASSERT_EQ(violations.size(), 3U);
  EXPECT_EQ(violations[0].subject, Subject{StepCount{"w"}});
  EXPECT_EQ(violations[1].subject, Subject{GroupSettings{0}});
  EXPECT_EQ(violations[2].subject, Subject{ScalingNumber::loss_scale});
  for (Violation const& violation : violations) {
    EXPECT_EQ(violation.law, Law::runs_resumed);
    EXPECT_EQ(violation.operation, 2) << "as the scenario counts";
  }
}

TEST_F(MadeUpRuns, TellNumbersBeforeCountersAndSettings) {
  MadeUp second;
  second.numbers[TensorKind::parameter][0] = 5;
  second.steps = 3;
  second.settings.learning_rate = 1;
  auto const violations = found(0, {}, second);
  ASSERT_EQ(violations.size(), 3U);
  EXPECT_EQ(violations[0].subject, Subject{Tensor{.parameter = "w"}});
  EXPECT_EQ(violations[1].subject, Subject{StepCount{"w"}});
  EXPECT_EQ(violations[2].subject, Subject{GroupSettings{0}});
}

TEST_F(MadeUpRuns, AreNotComparedOnceSomethingIsLostThatNoFormatCarries) {
  MadeUp second;
  second.settings.learning_rate = 1;
  EXPECT_TRUE(found(1, {}, second, {"groups"}).empty());
  EXPECT_NE(gave_up_.find("groups"), std::string::npos);
  EXPECT_EQ(found(1, {}, second, {"scaler"}).size(), 1U) << "which is not what differs";
  second = {};
  second.steps = 1;
  EXPECT_TRUE(found(1, {}, second, {"steps"}).empty());
  second = {};
  second.scales.growth_tracker = 1;
  EXPECT_TRUE(found(1, {}, second, {"scaler"}).empty());
  EXPECT_NE(gave_up_.find("scaler"), std::string::npos);
  second.scales = {};
  second.scales.max_norm = 1.0F;
  EXPECT_TRUE(found(1, {}, second, {"clip"}).empty());
  EXPECT_NE(gave_up_.find("clip"), std::string::npos);
}

TEST_F(MadeUpRuns, AreNotComparedWhereOneAloneLoadsIntoANewWorldWhatIsNotCarried) {
  MadeUp first;
  first.lost = {"groups"};
  MadeUp second = first;
  second.settings.learning_rate = 1;
  FurtherRun const run = further_runs(scenario_)[0];
  for (bool const into_new_world : {false, true}) {
    Recording recording(scenario_);
    recording.after({0, resolved::Load{.sets_anew = into_new_world}}, first);
    HeldTo held(recording, run, {});
    held.after({0, resolved::Load{}}, second);
    EXPECT_EQ(held.violations().size(), into_new_world ? 0U : 1U);
    EXPECT_EQ(held.gave_up().find("groups") != std::string::npos, into_new_world);
  }
}

TEST_F(MadeUpRuns, AreNotComparedWhereOneFormatCarriesLess) {
  MadeUp first;
  MadeUp second;
  second.settings.learning_rate = 1;
  Recording recording(scenario_);
  recording.after({0, resolved::Load{}}, first);
  FurtherRun const run = further_runs(scenario_)[0];
  HeldTo held(recording, run, {});
  second.lost = {"groups"};
  held.after({0, resolved::Load{}}, second);
  EXPECT_TRUE(held.violations().empty());
  EXPECT_NE(held.gave_up().find("groups"), std::string::npos);
  HeldTo other(recording, run, {});
  second.lost = {"clip"};
  other.after({0, resolved::Load{}}, second);
  EXPECT_EQ(other.violations().size(), 1U) << "which is not what differs";
}

TEST_F(MadeUpRuns, SaveTheSameFilesWhereThatIsPromised) {
  MadeUp first;
  first.files = {{"a.bin", 1}, {"time.txt", 2}};
  MadeUp second = first;
  second.files["time.txt"] = 3;
  EXPECT_TRUE(found(0, first, second).empty());
  second.files["a.bin"] = 4;
  auto const violations = found(0, first, second);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].breach, Breach::other_file_in_run);
  EXPECT_EQ(violations[0].text, "a/a.bin");
  second.files.erase("a.bin");
  EXPECT_EQ(found(0, first, second).size(), 1U) << "one that is not there";
  EXPECT_TRUE(found(1, first, second).empty()) << "of another world than the first";
}

}  // namespace
}  // namespace adamant::scenarios
