// Minimising itself, on judges that are functions of the scenario: no engine runs here.
#include "scenarios/search/minimize/minimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "scenarios/language/yaml/write.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/search/generate/generate.h"
#include "scenarios/search/minimize/weight.h"

namespace adamant::scenarios {
namespace {

/// The law that a scenario breaks, if any.
using Rule = std::function<std::optional<Law>(Scenario const&)>;

RunResult judged(Scenario const& scenario, Rule const& rule) {
  RunResult result;
  std::optional<Law> const law = rule(scenario);
  result.outcome = law ? Outcome::violated : Outcome::pass;
  if (law) result.violations.emplace_back().law = *law;
  result.choices = {3, 0, 2, 1, 0, 0};  // what every strategy draws here
  return result;
}

Judge judge_by(Rule const& rule) {
  return [rule](std::span<Scenario const> scenarios) {
    std::vector<RunResult> results;
    for (Scenario const& scenario : scenarios) results.push_back(judged(scenario, rule));
    return results;
  };
}

Minimized minimized_by(Scenario const& scenario, Rule const& rule,
                       MinimizeOptions const& options = {}) {
  RunResult const first = judged(scenario, rule);
  auto const symptom = symptom_of(first);
  EXPECT_TRUE(symptom) << "the scenario passes";
  return minimize(scenario, first, symptom.value_or(Symptom{}), judge_by(rule), options);
}

template <typename Wanted>
bool has(Scenario const& scenario, Wanted const& wanted) {
  return std::any_of(scenario.program.begin(), scenario.program.end(),
                     [&](Operation const& operation) { return wanted(operation.action); });
}
bool steps(Scenario const& scenario) {
  return has(scenario, [](Action const& action) {
    return std::holds_alternative<Step>(action) || std::holds_alternative<Train>(action);
  });
}
/// A rule that holds for many scenarios, and needs several things at once.
std::optional<Law> step_on_two_ranks(Scenario const& scenario) {
  bool const ragged =
      std::any_of(scenario.params.begin(), scenario.params.end(), [&](Param const& param) {
        return !param.is_tied() && param.shape.front() % scenario.world.shard != 0;
      });
  return steps(scenario) && scenario.world.shard > 1 && ragged ? std::optional(Law::values_bitwise)
                                                               : std::nullopt;
}

TEST(Minimize, EndsAtTheSmallestThatStillFails) {
  Minimized const minimized = minimized_by(small_scenario(), step_on_two_ranks);
  EXPECT_EQ(write_scenario(minimized.scenario),
            "adamant: 1\nname: small\nseed: 0\n\nworld: {shard: 2}\nparams:\n"
            "  - {name: p0, shape: [1]}\n\nprogram:\n  - step\n");
  EXPECT_TRUE(minimized.complete);
}

TEST(Minimize, LeadsFromManyScenariosToOneFile) {
  std::set<std::string> files;
  int failing = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    Scenario const scenario = generate_scenario(31, i);
    if (!step_on_two_ranks(scenario)) continue;
    ++failing;
    files.insert(write_scenario(minimized_by(scenario, step_on_two_ranks).scenario));
  }
  EXPECT_GT(failing, 10);
  EXPECT_EQ(files.size(), 1U);
}

TEST(Minimize, DoesTheSameHoweverManyAreRunAtOnce) {
  Minimized const one = minimized_by(small_scenario(), step_on_two_ranks);
  for (std::size_t const at_once : {2U, 7U}) {
    for (std::size_t const most : {1U, 64U}) {
      Minimized const many = minimized_by(small_scenario(), step_on_two_ranks,
                                          {.at_once = at_once, .at_once_max = most});
      EXPECT_EQ(many.scenario, one.scenario);
      EXPECT_EQ(many.runs, one.runs);
    }
  }
}

TEST(Minimize, RunsMoreAtOnceTheLongerNothingFails) {
  std::set<std::size_t> sizes;
  Judge const judge = [&](std::span<Scenario const> scenarios) {
    sizes.insert(scenarios.size());
    return judge_by(step_on_two_ranks)(scenarios);
  };
  Scenario const scenario = small_scenario();
  RunResult const first = judged(scenario, step_on_two_ranks);
  minimize(scenario, first, *symptom_of(first), judge, {.at_once = 2, .at_once_max = 8});
  EXPECT_EQ(*sizes.rbegin(), 8U);
}

MinimizeOptions with_alternatives() {
  return {.alternatives_max = 600};
}

/// Two ways to fail that no single change leads between: a step with moments of 16 bits, and two
/// microbatches on as many ranks.
std::optional<Law> narrow_or_shared(Scenario const& scenario) {
  bool const narrow = steps(scenario) && scenario.precision.exp_avg == StateType::bf16;
  bool const shared = scenario.world.shard == 2 && scenario.params.size() == 1 &&
                      scenario.microbatches == 1 && !steps(scenario);
  return narrow || shared ? std::optional(Law::values_bitwise) : std::nullopt;
}

TEST(Minimize, EndsAtOneOfTheScenariosThatFailAlike) {
  Scenario narrow = small_scenario();
  narrow.bug = "one_of_the_catalogue";
  narrow.precision.exp_avg = StateType::bf16;
  Scenario shared = small_scenario();
  shared.bug = narrow.bug;
  shared.params.resize(1);
  shared.world = {.shard = 2};
  shared.microbatches = 1;
  shared.program = {operation(Backward{}), operation(Backward{})};
  EXPECT_NE(minimized_by(narrow, narrow_or_shared).scenario,
            minimized_by(shared, narrow_or_shared).scenario)
      << "passes alone stay where they began";
  EXPECT_EQ(write_scenario(minimized_by(narrow, narrow_or_shared, with_alternatives()).scenario),
            write_scenario(minimized_by(shared, narrow_or_shared, with_alternatives()).scenario));
}

/// That both end in one file.
void expect_one_end(Scenario a, Scenario b, Rule const& fails) {
  a.bug = b.bug = "one_of_the_catalogue";
  a.groups = b.groups = {};
  std::string const first = write_scenario(minimized_by(a, fails, with_alternatives()).scenario);
  EXPECT_EQ(write_scenario(minimized_by(b, fails, with_alternatives()).scenario), first);
}

/// Codes of a matrix whose rows two ranks share, with few of the seeds where it is small.
std::optional<Law> quantised_on_two_ranks(Scenario const& scenario) {
  Param const& param = scenario.params.front();
  bool const shared = scenario.world.rank_count() > 1 && param.shape.front() > 1;
  std::int64_t const numel = param.shape.size() == 2 ? param.shape[0] * param.shape[1] : 0;
  bool const shows = numel > 5 || (numel > 1 && scenario.seed == 4);
  return is_quantised(scenario.precision.param) && shared && shows
             ? std::optional(Law::values_bitwise)
             : std::nullopt;
}

TEST(Minimize, EndsAtTheSmallestMatrixWhateverRecipeFoundIt) {
  Scenario small = small_scenario();
  small.world = {.shard = 2};
  small.seed = 5;
  small.params = {parameter("w", {3, 2})};
  small.precision = {.param = ParamType::fp8_current, .main = MainType::fp32};
  Scenario large = small;
  large.world = {.replicate = 2, .outer = Outer::optim};
  large.params = {parameter("w", {32, 32})};
  large.precision.param = ParamType::mxfp8;
  expect_one_end(small, large, quantised_on_two_ranks);
}

/// An infinite moment of 8 bits: out of an overflow, or of some of the wild gradients.
std::optional<Law> infinite_moment(Scenario const& scenario) {
  bool const narrow = scenario.precision.exp_avg == StateType::fp8 ||
                      scenario.precision.exp_avg_sq == StateType::fp8;
  auto const overflows = [](Operation const& each) {
    return std::holds_alternative<Overflow>(each.action);
  };
  bool const wild = scenario.gradients == GradientClass::wild && scenario.seed == 12345;
  return narrow && steps(scenario) && (wild || std::ranges::any_of(scenario.program, overflows))
             ? std::optional(Law::values_bitwise)
             : std::nullopt;
}

TEST(Minimize, EndsAtAnOverflowWhereverInfinitiesCameFrom) {
  Scenario wild = small_scenario();
  wild.seed = 12345;
  wild.gradients = GradientClass::wild;
  wild.precision.exp_avg_sq = StateType::fp8;
  Scenario overflow = small_scenario();
  overflow.precision.exp_avg = StateType::fp8;
  overflow.program = {operation(Overflow{}), operation(Train{1})};
  expect_one_end(wild, overflow, infinite_moment);
}

/// A save on two ranks.
std::optional<Law> saved_on_two_ranks(Scenario const& scenario) {
  std::int64_t ranks = scenario.world.rank_count();
  for (Operation const& operation : scenario.program) {
    if (auto const* load = std::get_if<Load>(&operation.action); load != nullptr && load->world)
      ranks = load->world->rank_count();
    bool const large = scenario.params.front().shape == std::vector<std::int64_t>{3, 3};
    if (std::holds_alternative<Save>(operation.action) && ranks == 2 && large)
      return Law::checkpoint_roundtrip;
  }
  return std::nullopt;
}

TEST(Minimize, EndsInTheWorldThatALoadLedTo) {
  Scenario saved = small_scenario();
  saved.world = {.shard = 2};
  saved.params = {parameter("w", {3, 3})};
  saved.program = {operation(Save{"a"})};
  Scenario loaded = saved;
  loaded.world = {.shard = 1};
  loaded.program = {operation(Save{"a"}), operation(Load{.from = "a", .world = World{.shard = 2}}),
                    operation(Save{"b"})};
  expect_one_end(saved, loaded, saved_on_two_ranks);
}

TEST(Minimize, WithoutACataloguedBugAnAlternativeHasToLookAlike) {
  // The same law is broken by two defects, and the one that was not found has the smaller scenario.
  Judge const judge = [](std::span<Scenario const> scenarios) {
    std::vector<RunResult> results;
    for (Scenario const& scenario : scenarios) {
      results.push_back(judged(scenario, narrow_or_shared));
      if (results.back().violations.empty()) continue;
      results.back().violations.front().breach =
          steps(scenario) ? Breach(Breach::other_digest) : Breach::unordered_accesses;
    }
    return results;
  };
  Scenario scenario = small_scenario();
  scenario.params.resize(1);
  scenario.world = {.shard = 2};
  scenario.microbatches = 1;
  scenario.program = {operation(Backward{}), operation(Backward{})};
  RunResult const first = judge(std::span(&scenario, 1)).front();
  Minimized const minimized =
      minimize(scenario, first, *symptom_of(first), judge, with_alternatives());
  EXPECT_EQ(minimized.result.violations.front().breach, Breach::unordered_accesses);
  EXPECT_FALSE(steps(minimized.scenario));
}

TEST(Minimize, DoesNotTakeAnotherLawForTheOneToKeep) {
  auto const rule = [](Scenario const& scenario) -> std::optional<Law> {
    if (scenario.world.shard == 1) return Law::memory_budget;  // a smaller way to fail, but another
    return step_on_two_ranks(scenario);
  };
  Minimized const minimized = minimized_by(small_scenario(), rule);
  EXPECT_EQ(minimized.scenario.world.shard, 2);
  EXPECT_EQ(minimized.result.violations.front().law, Law::values_bitwise);
}

TEST(Minimize, ChangesWhatBelongsTogetherAtOnce) {
  // A parameter that is left out of a backward cannot go without its name there.
  auto const rule = [](Scenario const& scenario) -> std::optional<Law> {
    bool const leaves_out = has(scenario, [](Action const& action) {
      auto const* const backward = std::get_if<Backward>(&action);
      return backward != nullptr && backward->without.size() == 1;
    });
    return leaves_out ? std::optional(Law::values_bitwise) : std::nullopt;
  };
  Scenario const smallest = minimized_by(small_scenario(), rule).scenario;
  ASSERT_EQ(smallest.params.size(), 1U);
  ASSERT_EQ(smallest.program.size(), 1U);
  EXPECT_EQ(smallest.program[0].action, Action(Backward{.without = {"p0"}}));
}

TEST(Minimize, RecordsAScheduleOnlyWhereTheDefaultDoesNotFail) {
  Scenario scenario = small_scenario();
  scenario.schedule = {.strategy = Schedule::Strategy::random, .seed = 99};
  EXPECT_EQ(minimized_by(scenario, step_on_two_ranks).scenario.schedule, Schedule{});

  auto const needs_schedule = [](Scenario const& tried) -> std::optional<Law> {
    auto const& choices = tried.schedule.choices;
    bool const drawn = tried.schedule.strategy != Schedule::Strategy::fifo;
    bool const third = choices && choices->size() > 2 && (*choices)[2] > 0;
    return drawn || third ? std::optional(Law::order_race) : std::nullopt;
  };
  Minimized const recorded = minimized_by(scenario, needs_schedule);
  EXPECT_EQ(recorded.scenario.schedule.choices, (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(Minimize, StopsWithTheBestWhenTheBudgetIsSpent) {
  Minimized const minimized = minimized_by(small_scenario(), step_on_two_ranks, {.runs_max = 5});
  EXPECT_FALSE(minimized.complete);
  EXPECT_LE(minimized.runs, 5U);
  EXPECT_EQ(step_on_two_ranks(minimized.scenario), Law::values_bitwise);
}

TEST(Minimize, StopsWithTheBestWhenTheJudgeGivesUp) {
  int calls = 0;
  Judge const judge = [&](std::span<Scenario const> scenarios) {
    return ++calls > 12 ? std::vector<RunResult>() : judge_by(step_on_two_ranks)(scenarios);
  };
  Scenario const scenario = small_scenario();
  RunResult const first = judged(scenario, step_on_two_ranks);
  Minimized const minimized = minimize(scenario, first, *symptom_of(first), judge);
  EXPECT_FALSE(minimized.complete);
  EXPECT_EQ(step_on_two_ranks(minimized.scenario), Law::values_bitwise);
  EXPECT_LT(weight_of(minimized.scenario), weight_of(scenario));
}

TEST(Minimize, ALargeProgramIsCutInFewRuns) {
  Scenario scenario = small_scenario();
  scenario.program.assign(10'000, operation(Check{}));
  for (std::size_t i = 0; i < 8; ++i) scenario.program[i * 1'111].action = Step{};
  auto const rule = [](Scenario const& tried) -> std::optional<Law> {
    auto const count = std::count_if(
        tried.program.begin(), tried.program.end(),
        [](Operation const& each) { return std::holds_alternative<Step>(each.action); });
    return count >= 8 ? std::optional(Law::values_bitwise) : std::nullopt;
  };
  Minimized const minimized = minimized_by(scenario, rule);
  EXPECT_EQ(minimized.scenario.program.size(), 8U);
  EXPECT_LT(minimized.runs, 1'500U);
}

}  // namespace
}  // namespace adamant::scenarios
