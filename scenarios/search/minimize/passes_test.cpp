#include "scenarios/search/minimize/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scenarios/language/further_runs.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/refusals.h"
#include "scenarios/seam/testing/peer_capabilities.h"
#include "scenarios/search/generate/generate.h"
#include "scenarios/search/minimize/usual.h"

namespace adamant::scenarios {
namespace {

std::vector<Action> actions_of(Scenario const& scenario) {
  std::vector<Action> actions;
  for (Operation const& operation : scenario.program) actions.push_back(operation.action);
  return actions;
}

Scenario with_program(std::vector<Operation> program) {
  Scenario scenario = small_scenario();
  scenario.program = std::move(program);
  return scenario;
}

TEST(Passes, ProposeWhatIsLighterSupportedAndReadsBack) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    Scenario const scenario = generate_scenario(12, 37 * i);
    for (Pass const& pass : passes()) {
      for (Scenario const& candidate : proposed_by(pass, scenario)) {
        ASSERT_LT(weight_of(candidate), weight_of(scenario)) << pass.name;
        ASSERT_FALSE(refuse(candidate, capabilities_of_simulation())) << pass.name;
        std::string const text = write_scenario(candidate);
        ASSERT_EQ(load_scenario_text(text, "candidate.yaml"), candidate) << pass.name << text;
      }
    }
  }
}

TEST(Passes, EachProposesSomethingForSomeScenario) {
  std::set<std::string_view> silent;
  for (Pass const& pass : passes()) silent.insert(pass.name);
  for (std::uint64_t i = 0; i < 400; ++i) {
    Scenario const scenario = generate_scenario(13, i);
    for (Pass const& pass : passes())
      if (silent.contains(pass.name) && !proposed_by(pass, scenario).empty())
        silent.erase(pass.name);
  }
  // What the generators do not draw has tests of its own.
  for (char const* const later :
       {"precision", "faults", "eager replays", "usual precision", "further runs"})
    silent.erase(later);
  EXPECT_TRUE(silent.empty()) << *silent.begin();
}

TEST(UsualPlace, OfUnusualSettingsIsByTheirNumber) {
  EXPECT_LT(usual_place(AdamOverride{.lr = 0.123F}),
            usual_place(AdamOverride{.lr = 0.123F, .eps = 0.2F}));
}

TEST(Passes, OtherOrdersAreTriedOnlyWhereTheyAreDrawn) {
  Pass const pass{"", passes_of::shrink_with_other_seed};
  Scenario scenario = small_scenario();
  scenario.schedule = {.strategy = Schedule::Strategy::random, .seed = 7};
  std::size_t const drawn = proposed_by(pass, scenario).size();
  scenario.schedule.choices = {1, 2};
  for (Scenario const& each : proposed_by(pass, scenario))
    EXPECT_EQ(each.schedule, scenario.schedule);
  EXPECT_LT(proposed_by(pass, scenario).size(), drawn);
}

bool proposes(Scenario const& from, Scenario const& wanted, Capabilities const& capabilities) {
  for (Pass const& pass : passes())
    for (Scenario const& candidate : proposed_by(pass, from, capabilities))
      if (candidate == wanted) return true;
  return false;
}

/// `from` with one thing changed is proposed for it.
void expect_proposed(Scenario const& from, void (*change)(Scenario&)) {
  Scenario wanted = from;
  change(wanted);
  ASSERT_NE(wanted, from);
  EXPECT_TRUE(proposes(from, wanted, capabilities_of_simulation())) << write_scenario(wanted);
}

TEST(Passes, TakeBackPartsOtherNamesMeshesAndLayouts) {
  Scenario scenario = with_program(
      {operation(Train{1}), operation(Save{"a"}),
       operation(Load{.from = "a",
                      .world = World{.shard = 1, .replicate = 2, .outer = Outer::optim},
                      .layout = Layout::bucketed})});
  scenario.world = {.shard = 2, .replicate = 2, .outer = Outer::optim};
  scenario.layout = Layout::flat;
  scenario.params = {{.name = "p0", .shape = {4}, .parts = {"k", "v"}},
                     {.name = "p1", .tied = "p0"}};
  ASSERT_FALSE(refuse(scenario, capabilities_of_simulation()));
  expect_proposed(scenario, [](Scenario& s) { s.params.front().parts.clear(); });
  expect_proposed(scenario, [](Scenario& s) { s.params.front().parts = {"part0", "part1"}; });
  expect_proposed(scenario, [](Scenario& s) { s.params.pop_back(); });
  expect_proposed(scenario, [](Scenario& s) { s.world.outer = Outer::none; });
  expect_proposed(scenario, [](Scenario& s) { s.world = {.shard = 2}; });
  expect_proposed(scenario, [](Scenario& s) { s.world = {.shard = 4}; });
  expect_proposed(scenario, [](Scenario& s) { s.layout = Layout::fsdp2; });
  expect_proposed(scenario, [](Scenario& s) {
    std::get<Load>(s.program.back().action).world->outer = Outer::none;
  });
  expect_proposed(scenario, [](Scenario& s) {
    std::get<Load>(s.program.back().action).layout = Layout::fsdp2;
  });
}

// Nothing is dropped there: the parameter stays what it was but for what makes it another one's.
TEST(Passes, TakeBackTiesAndPartsOneByOne) {
  Scenario scenario = with_program({operation(Train{1})});
  scenario.params = {{.name = "p0", .shape = {4}, .parts = {"part0", "part1"}},
                     {.name = "p1", .shape = {4}},
                     {.name = "p2", .tied = "p1"},
                     {.name = "p3", .shape = {6}, .parts = {"part0", "part1", "part2"}},
                     {.name = "p4", .tied = "p1"}};
  scenario.groups = {};
  ASSERT_FALSE(refuse(scenario, capabilities_of_simulation()));
  expect_proposed(scenario, [](Scenario& s) {
    s.params[2].shape = {4};
    s.params[2].tied.clear();
  });
  expect_proposed(scenario, [](Scenario& s) { s.params[2].tied = "p0"; });
  expect_proposed(scenario, [](Scenario& s) { s.params[0].parts.clear(); });
  expect_proposed(scenario, [](Scenario& s) { s.params[3].parts.clear(); });
  expect_proposed(scenario, [](Scenario& s) { s.params[3].parts.pop_back(); });
  expect_proposed(scenario, [](Scenario& s) {
    for (Param& param : s.params) param.parts.clear();
  });
  expect_proposed(scenario, [](Scenario& s) {
    std::erase_if(s.params, [](Param const& param) { return param.is_tied(); });
  });
  expect_proposed(scenario, [](Scenario& s) {
    for (Param& param : s.params) param.parts.clear();
    std::erase_if(s.params, [](Param const& param) { return param.is_tied(); });
  });
}

TEST(Passes, TiesFollowTheNamesThatTheyAreTo) {
  Scenario scenario = with_program({operation(Train{1})});
  scenario.params = {{.name = "embed", .shape = {4}}, {.name = "head", .tied = "embed"}};
  scenario.groups = {};
  expect_proposed(scenario, [](Scenario& s) {
    s.params[0].name = "p0";
    s.params[1] = {.name = "p1", .tied = "p0"};
  });
}

// Parts without a shape that they cut, and names of what is gone, would not read back.
TEST(Passes, RepairWhatRefersToARemovedShapeOrParameter) {
  Scenario scenario = small_scenario();
  scenario.params = {{.name = "p0", .shape = {3}, .parts = {"a", "b"}},
                     {.name = "p1", .tied = "gone"},
                     {.name = "p2", .shape = {4}, .tied = "p0"}};
  scenario.program = {operation(Backward{.without = {"p1", "p2"}})};
  Scenario const repaired_one = repaired(scenario, {});
  ASSERT_EQ(repaired_one.params.size(), 2U);
  EXPECT_TRUE(repaired_one.params.front().parts.empty());
  EXPECT_TRUE(repaired_one.params.back().shape.empty());
  EXPECT_EQ(std::get<Backward>(repaired_one.program.front().action).without,
            std::vector<std::string>{"p2"});
}

TEST(Passes, DropReplaysOfAGraphThatALoadHasEnded) {
  Scenario scenario =
      with_program({operation(Capture{{operation(Step{})}}), operation(Save{"a"}),
                    operation(Load{.from = "a", .layout = Layout::flat}), operation(Replay{1})});
  scenario.optimizer.capturable = true;
  EXPECT_EQ(repaired(scenario, {}).program.size(), 3U);
  scenario.program[2] = operation(Load{.from = "a"});
  EXPECT_EQ(repaired(scenario, {}).program.size(), 4U);
}

/// What only engines outside the process offer.
Scenario for_a_peer() {
  Scenario scenario =
      with_program({operation(Train{1}), operation(Save{"a"}),
                    operation(Load{.from = "a",
                                   .world = World{.shard = 1, .replicate = 2},
                                   .precision = PrecisionOverride{.grad = GradType::bf16},
                                   .order = ParamOrder::reversed})});
  scenario.world = {.shard = 2, .replicate = 2};
  scenario.engine.options = {{"implementation", "fused"}, {"async_save", "true"}};
  return scenario;
}

TEST(Passes, TakeBackWhatEnginesOutsideTheProcessOffer) {
  Capabilities const peer = capable_peer();
  Scenario const scenario = for_a_peer();
  ASSERT_FALSE(refuse(scenario, peer)) << refuse(scenario, peer)->message;
  auto const without = [&](auto const& change) {
    Scenario simpler = scenario;
    change(simpler, std::get<Load>(simpler.program[2].action));
    return proposes(scenario, simpler, peer);
  };
  EXPECT_TRUE(without([](Scenario& s, Load&) { s.engine.options.clear(); }));
  EXPECT_TRUE(
      without([](Scenario& s, Load&) { s.engine.options.erase(s.engine.options.begin()); }));
  EXPECT_TRUE(without([](Scenario& s, Load&) { s.engine.options.pop_back(); }));
  EXPECT_TRUE(without([](Scenario& s, Load&) { s.world.replicate = 1; }));
  EXPECT_TRUE(without([](Scenario&, Load& load) { load.world->replicate = 1; }));
  EXPECT_TRUE(without([](Scenario&, Load& load) { load.order.reset(); }));
  EXPECT_TRUE(without([](Scenario&, Load& load) { load.precision->grad.reset(); }));
}

TEST(Passes, TakeBackFurtherRuns) {
  Capabilities const peer = capable_peer();
  Scenario from = with_program({operation(Train{1}), operation(Train{1})});
  from.params = {parameter("w", {4, 3})};
  from.groups.clear();
  from.world = {.shard = 2};
  from.optimizer.step_counter = StepCounter::parameter;
  from.other_worlds = {{.shard = 3}, {.shard = 4, .replicate = 2}, {.shard = 5}};
  from.again = {{.options = {{"async_save", "true"}, {"implementation", "fused"}}},
                {.resumed_after = 2, .through = {{.shard = 4}}, .order = ParamOrder::reversed}};
  ASSERT_FALSE(refuse(from, peer)) << refuse(from, peer)->message;
  auto const expect_proposed = [&](auto const& change) {
    Scenario wanted = from;
    change(wanted);
    EXPECT_TRUE(proposes(from, wanted, peer)) << write_scenario(wanted);
  };
  expect_proposed([](Scenario& s) { s.other_worlds.clear(); });
  for (std::size_t w = 0; w < from.other_worlds.size(); ++w) {
    expect_proposed([&](Scenario& s) { s.other_worlds = {from.other_worlds[w]}; });
    expect_proposed([&](Scenario& s) { std::erase(s.other_worlds, from.other_worlds[w]); });
  }
  expect_proposed([](Scenario& s) { s.other_worlds[0].shard = 1; });
  expect_proposed([](Scenario& s) { s.other_worlds[1].replicate = 1; });
  expect_proposed([](Scenario& s) { s.again.clear(); });
  expect_proposed([](Scenario& s) { s.again.pop_back(); });
  expect_proposed([](Scenario& s) { s.again[0].options.clear(); });
  expect_proposed([](Scenario& s) { s.again[0].options.pop_back(); });
  expect_proposed([](Scenario& s) { s.again[0].options.erase(s.again[0].options.begin()); });
  expect_proposed([](Scenario& s) { s.again[1].resumed_after = 0; });
  expect_proposed([](Scenario& s) { s.again[1].through.clear(); });
  expect_proposed([](Scenario& s) { s.again[1].through[0].shard = 2; });
  expect_proposed([](Scenario& s) { s.again[1].order = ParamOrder::listed; });
  expect_proposed([](Scenario& s) { s = further_runs(s)[1].scenario; });
  auto const all = simpler(from, peer);
  for (Scenario const& candidate : all)
    for (Again const& again : candidate.again)
      ASSERT_LE(again.resumed_after.value_or(0), std::ssize(candidate.program));
  // Of a failure that either shows one form is kept: that of a run once more.
  auto const first = [&](auto const& is_one) { return std::ranges::find_if(all, is_one); };
  EXPECT_LT(
      first([&](Scenario const& s) { return s.other_worlds.empty() && s.again == from.again; }),
      first([&](Scenario const& s) { return s.again.empty() && !s.other_worlds.empty(); }));
}

TEST(Passes, NameCheckpointsInTheOrderOfTheirFirstSave) {
  auto const scenario = [](std::string const& first, std::string const& second) {
    return with_program({operation(Load{.from = "a"}), operation(Save{first}),
                         operation(Save{second}), operation(Load{.from = first}),
                         operation(Load{.from = second})});
  };
  Scenario const from = scenario("late", "b");
  Scenario renamed = scenario("b", "c");
  EXPECT_LT(weight_of(renamed), weight_of(from)) << "a is a directory and keeps its name";
  renamed.program[2].action = Save{"b"};
  EXPECT_EQ(canonical_checkpoints(renamed).size(), 1U);
  EXPECT_TRUE(proposes(from, scenario("b", "c"), capabilities_of_simulation()));
}

TEST(Passes, NameTheCheckpointAfterZWithTwoLetters) {
  Scenario scenario;
  for (int i = 0; i < 28; ++i)
    scenario.program.push_back(operation(Save{"saved" + std::to_string(i)}));
  auto const names = canonical_checkpoints(scenario);
  EXPECT_EQ(names.at("saved25"), "z");
  EXPECT_EQ(names.at("saved26"), "aa");
  EXPECT_EQ(names.at("saved27"), "ab");
}

TEST(Passes, ProposeNothingThatAPeerRefuses) {
  Capabilities const peer = capable_peer();
  for (std::uint64_t i = 0; i < 6; ++i) {
    Scenario const scenario = generate_scenario(12, 37 * i, {.faults = true, .capabilities = peer});
    for (Scenario const& candidate : simpler(scenario, peer)) {
      ASSERT_LT(weight_of(candidate), weight_of(scenario));
      ASSERT_FALSE(refuse(candidate, peer)) << write_scenario(candidate);
    }
  }
}

TEST(Repaired, DropsWhatRefersToNothing) {
  Scenario scenario = with_program(
      {operation(Backward{.without = {"gone", "h.0.bias"}}), operation(Replay{2}),
       operation(ReloadStates{}), operation(ClipNorm{}), operation(Set{}),
       operation(Capture{{operation(Step{})}}), operation(Save{"a"}), operation(Load{.from = "a"}),
       operation(Load{.from = "b"}), operation(Load{.from = "outside"})});
  scenario.params[1].group = "gone";
  scenario = repaired(scenario, {"outside"});
  EXPECT_EQ(actions_of(scenario),
            (std::vector<Action>{Backward{.without = {"h.0.bias"}}, Save{"a"}, Load{.from = "a"},
                                 Load{.from = "outside"}}));
  EXPECT_EQ(scenario.params[1].group, "");
  EXPECT_EQ(scenario.params[2].group, "no_decay");
}

TEST(Repaired, KeepsWhatHasSense) {
  Scenario scenario =
      with_program({operation(Capture{{operation(Backward{}), operation(ClipNorm{})}}),
                    operation(Replay{2}), operation(OffloadStates{}), operation(ReloadStates{})});
  scenario.optimizer.capturable = true;
  scenario.optimizer.clip = 1.0F;
  EXPECT_EQ(repaired(scenario, {}), scenario);
  scenario.optimizer.clip.reset();
  EXPECT_EQ(std::get<Capture>(repaired(scenario, {}).program[0].action).body.size(), 1U);
  scenario.optimizer.capturable = false;
  EXPECT_EQ(repaired(scenario, {}).program.size(), 2U) << "neither the capture nor its replay";
}

TEST(Repaired, KeepsFaultsWithinTheWorld) {
  Scenario scenario = with_program({operation(Save{"a"})});
  scenario.faults = {{.at = Fault::Where::save, .rank = 7}, {.at = Fault::Where::load}};
  scenario = repaired(scenario, {});
  ASSERT_EQ(scenario.faults.size(), 1U);
  EXPECT_EQ(scenario.faults[0].rank, 3);
}

TEST(Weight, CountsWhatIsExecutedBeforeWhatIsWritten) {
  Scenario const trained = with_program({operation(Train{1})});
  Scenario const spelled =
      with_program({operation(Backward{}), operation(Step{}), operation(ZeroGrad{})});
  Scenario const shorter = with_program({operation(Backward{}), operation(Step{})});
  EXPECT_LT(weight_of(trained), weight_of(spelled));
  EXPECT_LT(weight_of(shorter), weight_of(trained));
}

TEST(Weight, OfReplaysIsThatOfWhatTheyReplay) {
  auto const replayed = [](std::int64_t count) {
    return weight_of(with_program({operation(Capture{{operation(Backward{}), operation(Step{})}}),
                                   operation(Replay{count})}))[Digit::executed];
  };
  EXPECT_EQ(replayed(3), 2U + 6U);
  EXPECT_EQ(replayed(1), 2U + 2U);
}

TEST(Weight, ALongScheduleIsHeavierThanAShortOne) {
  Scenario scenario = small_scenario();
  auto const with_choices = [&](std::vector<std::uint32_t> choices) {
    scenario.schedule = {.choices = std::move(choices)};
    return weight_of(scenario);
  };
  Weight const plain = weight_of(scenario);
  EXPECT_LT(plain, with_choices({1}));
  EXPECT_LT(with_choices({1, 2}), with_choices({0, 0, 1}));
  EXPECT_LT(with_choices({0, 2}), with_choices({1, 2}));
  Weight const recorded = with_choices({9, 9, 9});
  scenario.schedule = {.strategy = Schedule::Strategy::random, .seed = 0};
  EXPECT_LT(recorded, weight_of(scenario));
}

}  // namespace
}  // namespace adamant::scenarios
