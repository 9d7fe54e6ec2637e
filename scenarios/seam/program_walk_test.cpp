#include "scenarios/seam/program_walk.h"

#include <gtest/gtest.h>

#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

/// Words of what is executed.
using Words = std::vector<std::string_view>;

Words words_of(Program const& program) {
  Words words;
  ProgramWalk walk(program);
  while (auto const primitive = walk.next()) words.push_back(name_of(*primitive));
  return words;
}

/// What comes next. REQUIRES: it is of that kind.
template <typename Verb>
Verb next(ProgramWalk& walk) {
  return std::get<Verb>(walk.next()->what);
}

Scenario with_program(std::vector<Operation> program) {
  Scenario scenario = small_scenario();
  scenario.program = std::move(program);
  return scenario;
}

TEST(ProgramWalk, TrainIsBackwardStepZeroGradAsOftenAsItSays) {
  Program const program(with_program({operation(Train{2}), operation(Check{})}));
  EXPECT_EQ(words_of(program),
            (Words{"backward", "step", "zero_grad", "backward", "step", "zero_grad", "check"}));
}

TEST(ProgramWalk, TrainClipsWhereTheOptimizerHasANorm) {
  SettingsChange norm;
  norm.clip = Clip(0.5F);
  SettingsChange no_norm;
  no_norm.clip = Clip();
  Program const program(
      with_program({operation(Train{1}), operation(Set{norm}), operation(Train{1}),
                    operation(ClipNorm{}), operation(Set{no_norm}), operation(Train{1})}));
  EXPECT_EQ(words_of(program), (Words{"backward", "step", "zero_grad", "set",                  //
                                      "backward", "clip", "step", "zero_grad", "clip", "set",  //
                                      "backward", "step", "zero_grad"}));
}

TEST(ProgramWalk, TrainClipsWhereALoadHasPutANormInForce) {
  SettingsChange no_norm;
  no_norm.clip = Clip();
  Capture const capture{{operation(Train{1})}};
  Scenario scenario =
      with_program({operation(Load{.from = "a"}), operation(Train{1}), operation(capture),
                    operation(Set{no_norm}), operation(capture), operation(Load{.from = "a"})});
  scenario.optimizer.clip = 1.0F;
  Program const program(scenario);
  ProgramWalk walk(program);
  EXPECT_EQ(next<resolved::Load>(walk).clip, Clip(1.0F));
  walk.put_in_force(Clip(2.0F));
  for (auto const word : {"backward", "clip", "step", "zero_grad"})
    EXPECT_EQ(name_of(*walk.next()), word);
  EXPECT_TRUE(clips(*walk.next()));
  EXPECT_EQ(name_of(*walk.next()), "set");
  EXPECT_FALSE(clips(*walk.next()));
  EXPECT_EQ(next<resolved::Load>(walk).clip, Clip());
  EXPECT_EQ(walk.forget_settings(), Clip(1.0F));
}

TEST(ProgramWalk, AReplayNumbersItsBackwardsAndItsFirstOneOverflows) {
  Capture const capture{{operation(Train{2}), operation(ZeroGrad{})}};
  Program const program(with_program(
      {operation(capture), operation(Backward{}), operation(Overflow{}), operation(Replay{2})}));
  ProgramWalk walk(program);
  for (int i = 0; i < 3; ++i) walk.next();
  std::vector<std::int64_t> numbers;
  std::vector<bool> struck;
  while (auto const replay = walk.next())
    for (Recorded const& operation : replayed(*replay->as<resolved::Replay>()))
      if (auto const* backward = std::get_if<resolved::Backward>(&operation)) {
        numbers.push_back(backward->index);
        struck.push_back(backward->overflow);
      }
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(struck, (std::vector{true, false, false, false}));
}

TEST(ProgramWalk, AnOverflowStrikesTheNextBackwardAlone) {
  Program const program(
      with_program({operation(Overflow{}), operation(Overflow{}), operation(Check{}),
                    operation(Train{2}), operation(Overflow{}), operation(Backward{})}));
  std::vector<bool> struck;
  ProgramWalk walk(program);
  while (auto const primitive = walk.next())
    if (auto const* backward = primitive->as<resolved::Backward>())
      struck.push_back(backward->overflow);
  EXPECT_EQ(struck, (std::vector{true, false, true}));
}

TEST(ProgramWalk, ASetOfTheLossScaleIsToldApartFromOthers) {
  SettingsChange scale;
  scale.loss_scale = LossScale{.kind = LossScale::Kind::fixed, .value = 8.0F};
  Program const program(with_program({operation(Set{scale}), operation(Set{})}));
  ProgramWalk walk(program);
  EXPECT_EQ(next<resolved::Set>(walk).change.loss_scale, scale.loss_scale);
  EXPECT_FALSE(next<resolved::Set>(walk).change.loss_scale.has_value());
}

TEST(ProgramWalk, EveryPrimitiveKnowsItsEntryAndBackwardsCountOn) {
  Program const program(with_program({operation(Train{1}), operation(Backward{})}));
  ProgramWalk walk(program);
  for (int const entry : {0, 0, 0}) EXPECT_EQ(walk.next()->entry, entry);
  auto const backward = walk.next();
  EXPECT_EQ(backward->entry, 1);
  EXPECT_EQ(backward->as<resolved::Backward>()->index, 1);
  EXPECT_FALSE(walk.next());
}

// All names of embed.weight, and one of two of h.0.weight.
TEST(ProgramWalk, AParameterIsWithoutGradientWhereAllOfItsNamesAre) {
  Scenario scenario = small_scenario();
  std::string const first = scenario.params[0].name;
  std::string const second = scenario.params[1].name;
  scenario.params.insert(scenario.params.begin() + 2, {.name = "again", .tied = first});
  scenario.params.push_back({.name = "other", .tied = second});
  int const last = static_cast<int>(scenario.params.size()) - 1;
  Backward const without{.without = {"other", "again", first}};
  scenario.program = {operation(without), operation(Capture{{operation(without)}})};
  Program const program(scenario);
  ProgramWalk walk(program);
  auto const expect = [&](resolved::Backward const& backward) {
    EXPECT_EQ(std::vector<int>(backward.without.begin(), backward.without.end()), std::vector{0});
    EXPECT_EQ(std::vector<int>(backward.left_out.begin(), backward.left_out.end()),
              (std::vector{0, 2, last}));
  };
  expect(next<resolved::Backward>(walk));
  expect(std::get<resolved::Backward>(next<resolved::Capture>(walk).body.front()));
}

TEST(ProgramWalk, NamesBecomeNumbers) {
  Program const program(
      with_program({operation(Backward{.without = {"h.1.weight", "h.0.weight"}})}));
  ProgramWalk walk(program);
  auto const without = next<resolved::Backward>(walk).without;
  EXPECT_EQ(std::vector<int>(without.begin(), without.end()), (std::vector{1, 3}));
}

TEST(ProgramWalk, ASetIsToldApartByGroupsAndAGroupsOwnValueWins) {
  SettingsChange change;
  change.adam.lr = 0.5F;
  change.adam.weight_decay = 0.25F;
  Program const program(with_program({operation(Set{change})}));
  ProgramWalk walk(program);
  auto const set = next<resolved::Set>(walk);
  ASSERT_EQ(set.group_count(), 2U);
  EXPECT_EQ(set.of_group(0), change.adam);
  EXPECT_EQ(set.of_group(1).lr, 0.5F);
  EXPECT_EQ(set.of_group(1).weight_decay, std::nullopt);
}

TEST(ProgramWalk, ALoadLeadsToASettingThatStays) {
  Scenario scenario = with_program({operation(Save{"a"}), operation(Load{.from = "a"}),
                                    operation(Load{.from = "a", .world = World{.shard = 2}}),
                                    operation(Load{.from = "a"})});
  scenario.microbatches.reset();
  Program const program(scenario);
  EXPECT_EQ(program.setting(1).world.shard, 2);
  EXPECT_EQ(program.setting(1).microbatch_count(), 4) << "as many as the first world's ranks";
  ProgramWalk walk(program);
  EXPECT_EQ(next<Save>(walk).checkpoint, "a");
  for (auto const& [setting, anew] :
       {std::pair(0, false), std::pair(1, true), std::pair(1, false)}) {
    auto const load = next<resolved::Load>(walk);
    EXPECT_EQ(load.checkpoint, "a");
    EXPECT_EQ(load.setting, setting);
    EXPECT_EQ(load.sets_anew, anew);
  }
}

TEST(ProgramWalk, ALoadKeepsTheOrderAndTypesOfTheOneBefore) {
  Program const program(with_program(
      {operation(Save{"a"}),
       operation(Load{.from = "a",
                      .precision = PrecisionOverride{.grad = GradType::bf16},
                      .order = ParamOrder::reversed}),
       operation(Load{.from = "a"}), operation(Load{.from = "a", .order = ParamOrder::listed}),
       operation(Load{.from = "a", .anew = true})}));
  EXPECT_EQ(program.setting(1).order, ParamOrder::reversed);
  EXPECT_EQ(program.setting(2).order, ParamOrder::listed);
  for (int const setting : {1, 2})
    EXPECT_EQ(program.setting(setting).precision.grad, GradType::bf16);
  ProgramWalk walk(program);
  EXPECT_FALSE(sets_anew(*walk.next())) << "a save";
  EXPECT_TRUE(sets_anew(*walk.next()));
  EXPECT_FALSE(sets_anew(*walk.next()));
  EXPECT_TRUE(sets_anew(*walk.next()));
  EXPECT_TRUE(sets_anew(*walk.next())) << "into a world like the one before";
}

TEST(ProgramWalk, ANewJobHasTheNormOfTheScenario) {
  SettingsChange none;
  none.clip = Clip();
  Scenario scenario =
      with_program({operation(Save{"a"}), operation(Set{none}), operation(Load{.from = "a"}),
                    operation(Load{.from = "a", .anew = true})});
  scenario.optimizer.clip = 1.0F;
  Program const program(scenario);
  ProgramWalk walk(program);
  for (int i = 0; i < 2; ++i) walk.next();
  EXPECT_EQ(next<resolved::Load>(walk).clip, Clip()) << "in place what the set has left";
  EXPECT_EQ(next<resolved::Load>(walk).clip, Clip(1.0F));
  EXPECT_EQ(walk.clip(), Clip(1.0F));
}

TEST(ProgramWalk, AReplayHasWhatWasCapturedLastAndItsBackwardsCount) {
  Capture const once{.body = {operation(Step{})}};
  Capture const twice{.body = {operation(Backward{}), operation(Train{1})}};
  Program const program(with_program(
      {operation(once), operation(twice), operation(Replay{2}), operation(Backward{})}));
  ProgramWalk walk(program);
  EXPECT_EQ(next<resolved::Capture>(walk).body.size(), 1U);
  EXPECT_EQ(next<resolved::Capture>(walk).body.size(), 4U);
  for (std::int64_t const first : {0, 2}) {
    auto const replay = next<resolved::Replay>(walk);
    EXPECT_EQ(replay.index, first);
    EXPECT_EQ(backward_count(replay.body), 2);
  }
  EXPECT_EQ(program.captured_backwards(), 2);
  EXPECT_EQ(next<resolved::Backward>(walk).index, 4);
  EXPECT_FALSE(walk.next());
}

// A parameter's own types win over those of a load, and so do their names.
TEST(ProgramWalk, ALoadMayRoundWhatItNamesAndNoParameterSaysOfItself) {
  Load load{.from = "a"};
  PrecisionOverride& types = load.precision.emplace();
  types.exp_avg = StateType::bf16;
  types.main = MainType::fp32;
  types.grad = GradType::bf16;
  Scenario scenario = with_program({operation(Save{"a"}), operation(load)});
  scenario.params.resize(2);
  scenario.params[1].precision.exp_avg = StateType::fp32;
  Program const program(scenario);
  ProgramWalk walk(program);
  walk.next();
  auto const may_round = next<resolved::Load>(walk).may_round;
  ASSERT_EQ(may_round.size(), 2U);
  EXPECT_EQ(may_round[0], (std::vector{TensorKind::main, TensorKind::exp_avg}));
  EXPECT_EQ(may_round[1], std::vector{TensorKind::main});
}

TEST(ProgramWalk, NamesWhatIsExecutedByItsVerb) {
  Scenario scenario = with_program(
      {operation(Backward{}), operation(ClipNorm{}), operation(Step{}), operation(ZeroGrad{}),
       operation(Set{}), operation(Overflow{}), operation(OffloadStates{}),
       operation(ReloadStates{}), operation(Capture{{operation(Step{})}}), operation(Replay{}),
       operation(Save{"a"}), operation(Load{.from = "a"}), operation(Check{})});
  Words expected;
  for (Operation const& each : scenario.program) expected.push_back(word_of(each.action));
  ASSERT_EQ(expected.size(), std::variant_size_v<Resolved>);
  EXPECT_EQ(words_of(Program(scenario)), expected);
}

// What primitives lead into stays where it is.
TEST(ProgramWalk, AProgramMayBeMoved) {
  static_assert(!std::is_copy_constructible_v<Program>);
  Scenario const scenario = with_program(
      {operation(Backward{.without = {"h.1.weight"}}), operation(Capture{{operation(Step{})}}),
       operation(Load{.from = "a", .world = World{.shard = 2}})});
  Program program(scenario);
  ProgramWalk first(program);
  auto const without = next<resolved::Backward>(first).without;
  auto const body = next<resolved::Capture>(first).body;
  auto const load = next<resolved::Load>(first);
  Program const moved = std::move(program);
  ProgramWalk second(moved);
  EXPECT_EQ(next<resolved::Backward>(second).without.data(), without.data());
  EXPECT_EQ(next<resolved::Capture>(second).body.data(), body.data());
  EXPECT_EQ(next<resolved::Load>(second).offload, load.offload);
}

}  // namespace
}  // namespace adamant::scenarios
