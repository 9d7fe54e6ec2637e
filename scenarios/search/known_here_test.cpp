// What is known is told from what is new by runs that a test makes up: the scenarios that show
// defects run in the simulator, with bugs of the catalogue.
#include "scenarios/search/known_here.h"

#include <gtest/gtest.h>

#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

/// Of the simulated engine, which gets options that it does not look at.
SearchEngine engine() {
  SearchEngine engine;
  engine.capabilities.options = {{"saves", {"in_place", "anew"}}, {"step", {"scalar", "vector"}}};
  return engine;
}

Scenario scenario_of(std::string const& bug) {
  Scenario scenario = small_scenario();
  scenario.bug = bug;
  scenario.expect = {.kind = Expectation::Kind::violates, .id = "any"};
  return scenario;
}

KnownDefect defect(std::string name, EngineOptions avoid, std::string const& bug) {
  RunResult const result = run_scenario(scenario_of(bug));
  Scenario shows = scenario_of(bug);
  shows.expect.id = id_of(result.violations.at(0).law);
  return {.name = std::move(name),
          .cause = {},
          .versions = {},
          .thread = {},
          .avoid = std::move(avoid),
          .shown_by = {shows},
          .files = {}};
}

RunResult failed(std::string const& bug) {
  Scenario scenario = scenario_of(bug);
  scenario.expect = {};
  return run_scenario(scenario);
}

RunResult passed() {
  RunResult result;
  result.outcome = Outcome::pass;
  result.met = true;
  return result;
}

EngineOptions const anew{{"saves", "anew"}};
EngineOptions const vector{{"step", "vector"}};
constexpr char const* loud = "mean_not_divided";
constexpr char const* other = "zero_grad_keeps_memory";

KnownHere known_of(std::vector<KnownDefect> defects) {
  return {std::move(defects), engine(), {}, 1};
}

RunOne never() {
  return [](Scenario const&) -> RunResult {
    ADD_FAILURE() << "nothing is to run";
    return {};
  };
}

/// An engine of which every run with these options passes, and any other fails by `bug`.
RunOne passing_with(EngineOptions const& options, std::string const& bug) {
  return [=](Scenario const& scenario) {
    return has_options(scenario, options) ? passed() : failed(bug);
  };
}

TEST(KnownHere, AFailureThatAWayAroundEndsIsKnown) {
  KnownHere const known = known_of({defect("torn", anew, loud)});
  Unmasked const unmasked = known.unmask(small_scenario(), failed(loud), passing_with(anew, loud));
  EXPECT_EQ(unmasked.known, std::set<std::string>{"torn"});
  EXPECT_EQ(unmasked.avoided, anew);
  EXPECT_FALSE(unmasked.fails);
}

TEST(KnownHere, OneThatFailsOnIsNew) {
  KnownHere const known = known_of({defect("torn", anew, loud)});
  Unmasked const unmasked =
      known.unmask(small_scenario(), failed(loud), [](Scenario const&) { return failed(loud); });
  EXPECT_TRUE(unmasked.known.empty());
  EXPECT_TRUE(unmasked.avoided.empty());
  EXPECT_TRUE(unmasked.fails);
}

TEST(KnownHere, OneThatLooksOtherwiseIsKnownByItsCauseAlone) {
  KnownHere const known = known_of({defect("torn", anew, loud), defect("shaped", vector, loud)});
  RunOne const failing = [](Scenario const&) { return failed(other); };
  EXPECT_FALSE(known.is_known(small_scenario(), failed(other), failing));
  Unmasked const unmasked =
      known.unmask(small_scenario(), failed(other), passing_with(vector, other));
  EXPECT_EQ(unmasked.known, std::set<std::string>{"shaped"}) << "alone it is enough";
  EngineOptions both = anew;
  both.insert(both.end(), vector.begin(), vector.end());
  EXPECT_EQ(known.unmask(small_scenario(), failed(other), passing_with(both, other)).known,
            (std::set<std::string>{"torn", "shaped"}));
  Scenario shorter = small_scenario();
  shorter.program.resize(2);
  EXPECT_TRUE(known.unmask(shorter, failed(other), never()).fails) << "it does none of them";
}

// Another program meets it, too, if its options say so: what its scenario does besides is one way
// to see it. Files are another matter, as what is wrong with them needs a save or a load.
TEST(KnownHere, OneThatOptionsChooseNeedsNoProgramOfItsOwn) {
  EngineOptions const in_place{{"saves", "in_place"}};
  KnownDefect torn = defect("torn", anew, loud);
  torn.shown_by[0] = with_options(torn.shown_by[0], in_place);
  torn.shown_by[0].expect = {.kind = Expectation::Kind::refused,
                             .id = "unsupported.engine_options"};
  KnownHere const known = known_of({torn});
  Scenario shorter = small_scenario();
  shorter.program.resize(2);
  EXPECT_TRUE(known.unmask(shorter, failed(other), never()).fails) << "it does not choose it";
  shorter = with_options(shorter, in_place);
  EXPECT_EQ(known.unmask(shorter, failed(other), passing_with(anew, other)).known,
            std::set<std::string>{"torn"});
  RunOne const failing = [](Scenario const&) { return failed(other); };
  EXPECT_TRUE(known.unmask(shorter, failed(other), failing).fails);
  torn.shown_by[0].program.push_back({.action = Save{"a"}});
  EXPECT_TRUE(known_of({torn}).unmask(shorter, failed(other), never()).fails) << "it saves nothing";
}

TEST(KnownHere, EitherLawAboutValuesMayJudge) {
  KnownHere const known = known_of({defect("torn", anew, loud)});
  RunResult result = failed(loud);
  Violation& first = result.violations.front();
  ASSERT_EQ(first.law, Law::values_bitwise);
  first.law = Law::values_interval;
  EXPECT_TRUE(known.is_known(small_scenario(), result, passing_with(anew, loud)));
  first.law = Law::ranks_agree;
  Scenario shorter = small_scenario();
  shorter.program.resize(2);
  EXPECT_FALSE(known.is_known(shorter, result, never()));
}

TEST(KnownHere, OneThatIsAroundItAlreadyIsNewWithoutARun) {
  KnownHere const known = known_of({defect("torn", anew, loud)});
  EXPECT_TRUE(known.unmask(with_options(small_scenario(), anew), failed(loud), never()).fails);
}

TEST(KnownHere, WhatIsBehindItIsLookedAt) {
  KnownHere const known = known_of({defect("torn", anew, loud), defect("shaped", vector, other)});
  RunOne const behind = [](Scenario const& scenario) {
    if (has_options(scenario, vector)) return passed();
    return failed(has_options(scenario, anew) ? other : loud);
  };
  Unmasked const both = known.unmask(small_scenario(), failed(loud), behind);
  EXPECT_EQ(both.known, (std::set<std::string>{"torn", "shaped"}));
  EXPECT_FALSE(both.fails);
  KnownHere const one = known_of({defect("torn", anew, loud)});
  Unmasked const unmasked = one.unmask(small_scenario(), failed(loud), behind);
  EXPECT_EQ(unmasked.known, std::set<std::string>{"torn"});
  EXPECT_TRUE(unmasked.fails);
  EXPECT_EQ(signature_of(unmasked.result), signature_of(failed(other)));
}

TEST(KnownHere, TwoThatDoTheSameAreMetTogether) {
  KnownHere const known = known_of({defect("torn", anew, loud), defect("shaped", vector, loud)});
  EngineOptions both = anew;
  both.push_back(vector.front());
  Unmasked const unmasked = known.unmask(small_scenario(), failed(loud), passing_with(both, loud));
  EXPECT_EQ(unmasked.known, (std::set<std::string>{"torn", "shaped"}));
  EXPECT_FALSE(unmasked.fails);
}

TEST(KnownHere, WhereThereIsNoWayAroundItsScenarioHasToBeInside) {
  KnownHere const known = known_of({defect("deep", {}, loud)});
  EXPECT_TRUE(known.is_known(small_scenario(), failed(loud), never()));
  EXPECT_FALSE(known.unmask(small_scenario(), failed(loud), never()).fails);
  Scenario shorter = small_scenario();
  shorter.program.resize(2);
  EXPECT_TRUE(known.unmask(shorter, failed(loud), never()).fails);
}

// The cause is what the scenario does. That it was seen in fp16 is no part of it where it shows in
// other types.
TEST(KnownHere, WhatShowsInTheTypesOfAFailureIsKnownThere) {
  KnownDefect deep = defect("deep", {}, loud);
  deep.shown_by[0].precision = {.param = ParamType::bf16, .main = MainType::fp32};
  Scenario wide = small_scenario();
  wide.precision = {};
  auto const showing = [](Scenario const& scenario) {
    return scenario.precision.param == ParamType::fp32 ? failed(loud) : passed();
  };
  KnownHere const known = known_of({deep});
  ASSERT_FALSE(known.empty());
  EXPECT_TRUE(known.is_known(wide, failed(loud), showing));
  EXPECT_TRUE(known.is_known(wide, failed(loud), never())) << "once tried it is remembered";
  auto const passing = [](Scenario const&) { return passed(); };
  EXPECT_FALSE(known_of({deep}).is_known(wide, failed(loud), passing));
  EXPECT_FALSE(known_of({deep}).is_known(wide, failed(other), showing)) << "it looks otherwise";
}

TEST(KnownHere, ADefectOfAnotherVersionIsNamedWhereItShows) {
  KnownDefect old = defect("old", {}, loud);
  old.versions = "0.9";
  KnownDefect gone = defect("gone", {}, loud);
  gone.versions = "0.9";
  gone.shown_by[0].bug.reset();
  EXPECT_EQ(known_of({old, gone, defect("any", anew, loud)}).of_other_versions(),
            std::vector<std::string>{"old"});
}

/// Its only save is damaged before it is loaded.
Scenario damaged() {
  Scenario scenario;
  scenario.name = "damaged";
  scenario.params = {parameter("w", {1000})};
  scenario.program = {operation(Save{.checkpoint = "c"}), operation(Load{.from = "c"})};
  scenario.faults = {
      {.at = Fault::Where::load, .then = Fault::Then::flip_byte, .file = 1, .byte = 9000}};
  scenario.bug = "checksums_ignored";
  scenario.expect = {.kind = Expectation::Kind::violates, .id = "checkpoint.integrity"};
  return scenario;
}

/// The same damage read in another way.
RunResult failed_to_load() {
  RunResult result = passed();
  result.met = false;
  result.outcome = Outcome::violated;
  result.violations.push_back({.law = Law::checkpoint_integrity,
                               .breach = Breach::failed,
                               .subject = Call{.verb = "load"},
                               .text = "IndexError"});
  return result;
}

/// As a save ends that reads what is there.
RunResult failed_to_save(std::string const& verb = "save") {
  RunResult result = failed_to_load();
  result.violations.front().law = Law::error_clean;
  result.violations.front().subject = Call{.verb = verb};
  return result;
}

TEST(KnownHere, WhatAFaultLeavesMayLookOtherwise) {
  KnownDefect torn = defect("torn", anew, loud);
  torn.shown_by = {damaged()};
  KnownHere const known = known_of({torn});
  auto const passing = [](Scenario const& scenario) {
    return has_options(scenario, anew) ? passed() : failed_to_load();
  };
  EXPECT_TRUE(known.is_known(damaged(), failed_to_load(), passing));
  auto const failing = [](Scenario const&) { return failed_to_load(); };
  EXPECT_FALSE(known.is_known(damaged(), failed_to_load(), failing));
  RunResult hanging = failed_to_load();
  hanging.violations.front().law = Law::order_deadlock;
  hanging.violations.front().breach = Breach::no_answer;
  EXPECT_TRUE(known.is_known(damaged(), hanging, passing));
  hanging.violations.front().subject = Call{.verb = "step"};
  EXPECT_FALSE(known.is_known(damaged(), hanging, failing)) << "it is not about a load";
  Scenario another = small_scenario();
  another.faults = damaged().faults;
  EXPECT_FALSE(known.is_known(another, failed_to_load(), never())) << "it saves nothing";
  another.program.push_back(operation(Save{.checkpoint = "a"}));
  another.program.push_back(operation(Load{.from = "a"}));
  EXPECT_TRUE(known.is_known(another, failed_to_load(), passing)) << "whatever it does beside";
  Scenario sound = damaged();
  sound.faults.clear();
  EXPECT_FALSE(known.is_known(sound, failed_to_load(), never()));
  EXPECT_FALSE(known.is_known(damaged(), failed(loud), failing)) << "it is not about a load";
}

/// A save on one rank over that of two, which leaves a file of theirs.
Scenario left_over() {
  Scenario scenario = small_scenario();
  scenario.world = {.shard = 2};
  Load on_one{.from = "a"};
  on_one.world = World{.shard = 1};
  scenario.program = {operation(Save{.checkpoint = "a"}),
                      operation(on_one),
                      operation(Backward{}),
                      operation(Step{}),
                      operation(Save{.checkpoint = "a"}),
                      operation(Load{.from = "a"})};
  scenario.bug = "leftover_files_loaded";
  scenario.expect = {.kind = Expectation::Kind::violates, .id = "checkpoint.roundtrip"};
  return scenario;
}

TEST(KnownHere, WhatAnOlderSaveLeavesMayLookOtherwise) {
  KnownDefect left = defect("left over", anew, loud);
  left.shown_by = {left_over()};
  KnownHere const known = known_of({left});
  EXPECT_TRUE(known.not_shown().empty());
  auto const passing = [](Scenario const& scenario) {
    return has_options(scenario, anew) ? passed() : failed_to_load();
  };
  EXPECT_TRUE(known.is_known(left_over(), failed_to_load(), passing));
  auto const failing = [](Scenario const&) { return failed_to_load(); };
  EXPECT_FALSE(known.is_known(left_over(), failed_to_load(), failing));
  auto const saving = [](Scenario const& scenario) {
    return has_options(scenario, anew) ? passed() : failed_to_save();
  };
  EXPECT_TRUE(known.is_known(left_over(), failed_to_save(), saving));
  EXPECT_TRUE(known.is_known(left_over(), failed_to_save("finish"), saving)) << "in the background";
  EXPECT_FALSE(known.is_known(left_over(), failed_to_save("step"), failing));
  Scenario beside = left_over();
  beside.program[4] = operation(Save{.checkpoint = "b"});
  EXPECT_FALSE(known.is_known(beside, failed_to_load(), failing)) << "nothing is saved twice";
  EXPECT_FALSE(known.is_known(left_over(), failed(loud), failing)) << "it is not about files";
}

TEST(KnownHere, WhatNeedsAFaultIsNotMetWithoutIt) {
  KnownDefect torn = defect("torn", anew, loud);
  torn.shown_by = {damaged()};
  KnownDefect twice = torn;
  twice.name = "needs two";
  twice.shown_by.front().faults.push_back(damaged().faults.front());
  twice.shown_by.front().faults.back().byte = 9001;
  KnownHere const known = known_of({twice, torn});
  Scenario seen = damaged();
  seen.expect = {};
  RunResult const differs = run_scenario(seen);
  auto const passing = [&](Scenario const& scenario) {
    return has_options(scenario, anew) ? passed() : differs;
  };
  EXPECT_EQ(known.unmask(seen, differs, passing).known, std::set<std::string>{"torn"});
  seen.faults.clear();
  EXPECT_FALSE(known.is_known(seen, differs, never()));
}

TEST(KnownHere, WhatIsInsideHasToLookLikeTheFailure) {
  KnownDefect deep = defect("deep", {}, loud);
  Scenario shorter = small_scenario();
  shorter.program.resize(2);
  deep.shown_by.push_back(defect("deep", {}, other).shown_by.front());
  KnownHere const known = known_of({deep});
  EXPECT_FALSE(known.is_known(shorter, failed(loud), never()));
  EXPECT_TRUE(known.is_known(small_scenario(), failed(other), never()));
  deep.shown_by.back().program.resize(2);
  deep.shown_by.back().bug.reset();
  deep.shown_by.back().expect = {};
  EXPECT_FALSE(known_of({deep}).is_known(shorter, failed(loud), never()))
      << "the one inside passes, and so looks otherwise";
}

TEST(KnownHere, WhatDoesNotShowHereIsNotKnownHere) {
  KnownDefect mended = defect("mended", anew, loud);
  mended.shown_by[0].bug.reset();
  KnownDefect unoffered = defect("unoffered", {{"moods", "calm"}}, loud);
  KnownHere const known = known_of({mended, unoffered});
  EXPECT_TRUE(known.empty());
  EXPECT_EQ(known.not_shown(), (std::vector<std::string>{"mended", "unoffered"}));
  EXPECT_EQ(known.defects().size(), 2U);
  EXPECT_EQ(ways_around(known.defects(), engine().capabilities),
            (std::vector<UsualOption>{{anew.front().first, anew.front().second, false}}));
}

TEST(KnownHere, AnOptionIsNeededAsOftenAsForAnyOfItsDefects) {
  KnownDefect seldom = defect("seldom", anew, loud);
  seldom.seldom_met = true;
  KnownDefect const often = defect("often", anew, loud);
  auto const needed = [](std::vector<KnownDefect> const& defects) {
    return !ways_around(defects, engine().capabilities).front().seldom_needed;
  };
  EXPECT_FALSE(needed({seldom, seldom}));
  EXPECT_TRUE(needed({seldom, often}));
  EXPECT_TRUE(needed({often, seldom}));
}

/// Of 4,000 cases, how many go around what `anew` avoids and around what `vector` avoids?
int cases_around(SearchEngine const& engine, bool has_anew, bool has_vector) {
  int cases = 0;
  for (std::uint64_t i = 200; i < 4200; ++i) {
    Scenario const one = search_case(7, i, {}, engine);
    cases += has_options(one, anew) == has_anew && has_options(one, vector) == has_vector ? 1 : 0;
  }
  return cases;
}

TEST(KnownHere, MostCasesHaveTheWaysAroundAndTheRestSomeOfThem) {
  SearchEngine searched = engine();
  EXPECT_LT(cases_around(searched, true, true), 800);
  searched.usual_options = {{anew.front().first, anew.front().second},
                            {vector.front().first, vector.front().second}};
  EXPECT_GT(cases_around(searched, true, true), 3600);
  EXPECT_GT(cases_around(searched, true, false), 32);
  EXPECT_GT(cases_around(searched, false, true), 32);
  EXPECT_GT(cases_around(searched, false, false), 32);
}

TEST(KnownHere, HalfOfAllCasesHaveAWayAroundThatIsSeldomNeeded) {
  SearchEngine searched = engine();
  searched.usual_options = {{anew.front().first, anew.front().second},
                            {vector.front().first, vector.front().second, true}};
  EXPECT_GT(cases_around(searched, true, true), 1600);
  EXPECT_GT(cases_around(searched, true, false), 1600);
  EXPECT_LT(cases_around(searched, true, false), 2200);
}

}  // namespace
}  // namespace adamant::scenarios
