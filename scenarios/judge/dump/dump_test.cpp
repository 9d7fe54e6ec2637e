#include "scenarios/judge/dump/dump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "oracle/formats/formats.h"
#include "scenarios/judge/dump/output_error.h"
#include "scenarios/judge/dump/safetensors.h"
#include "scenarios/judge/testing/dumped_file.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/scratch.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/runner/testing/stand_in_world.h"

namespace adamant::scenarios {
namespace {

std::map<std::string, std::vector<float>> read_safetensors(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), sizeof length);
  EXPECT_EQ(length % 8, 0U);
  std::map<std::string, std::vector<float>> tensors;
  auto const header = nlohmann::json::parse(text.substr(8, length));
  for (auto const& [name, about] : header.items()) {
    if (name == "__metadata__") continue;
    std::size_t const begin = about["data_offsets"][0];
    std::size_t const end = about["data_offsets"][1];
    auto& values = tensors[name];
    values.resize((end - begin + sizeof(float) - 1) / sizeof(float));  // of shorter numbers, too
    std::copy_n(text.data() + 8 + length + begin, end - begin,
                reinterpret_cast<char*>(values.data()));
  }
  return tensors;
}

RunOptions dumped_to(std::filesystem::path const& directory) {
  RunOptions options;
  options.dump = directory;
  return options;
}

TEST(Safetensors, AreWrittenInPartsAndReadBack) {
  Scratch const scratch;
  std::vector<float> const first = {1.0F, 2.0F};
  std::vector<float> const second = {-0.0F};
  write_safetensors(scratch / "file",
                    {{.name = "a",
                      .shape = {3},
                      .parts = {std::as_bytes(std::span(first)), std::as_bytes(std::span(second))}},
                     {.name = "b", .shape = {0, 2}}});
  auto const tensors = read_safetensors(scratch / "file");
  EXPECT_EQ(tensors.at("a"), (std::vector{1.0F, 2.0F, -0.0F}));
  EXPECT_TRUE(tensors.at("b").empty());
}

TEST(Dump, HasTheInitialParametersAndEachStepsGradientAndState) {
  Scratch const scratch;
  EXPECT_EQ(run_scenario(small_scenario(), dumped_to(scratch / "out")).outcome, Outcome::pass);
  EXPECT_EQ(scratch.names(), std::set<std::string>{"out"});

  auto const initial = read_safetensors(scratch / "out/initial.safetensors");
  EXPECT_EQ(initial.size(), 5U);
  EXPECT_EQ(initial.at("embed.weight").size(), 30U);
  auto const state = read_safetensors(scratch / "out/state_001.safetensors");
  EXPECT_EQ(state.size(), 15U);
  EXPECT_NE(state.at("embed.weight"), initial.at("embed.weight"));
  EXPECT_EQ(state.at("h.0.weight/exp_avg").size(), 35U);
  EXPECT_TRUE(std::filesystem::exists(scratch / "out/state_005.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "out/state_006.safetensors"));
}

// Everything in fp32, and once more as it is stored where that is another format.
TEST(Dump, ShortFormatsAreWrittenWidenedAndRaw) {
  Scratch const scratch;
  Scenario scenario = small_scenario();
  scenario.precision = {.param = ParamType::bf16, .main = MainType::fp32};
  scenario.program = {operation(Backward{}), operation(Step{})};
  EXPECT_EQ(run_scenario(scenario, dumped_to(scratch / "out")).outcome, Outcome::pass);
  auto const state = read_safetensors(scratch / "out/state_001.safetensors");
  EXPECT_EQ(state.size(), 5U * 5U);  // the parameter twice, main weight and moments
  EXPECT_FALSE(state.contains("embed.weight/main/raw"));
  auto const& widened = state.at("embed.weight");
  auto const& raw = state.at("embed.weight/raw");
  ASSERT_EQ(widened.size(), 30U);
  ASSERT_EQ(raw.size(), 15U);  // half of the bytes
  std::vector<float> decoded(widened.size());
  oracle::decode(NumberFormat::bf16, std::as_bytes(std::span(raw)), decoded);
  EXPECT_EQ(decoded, widened);
  auto main = state.at("embed.weight/main");
  EXPECT_NE(main, widened);
  oracle::round_to(NumberFormat::bf16, main);
  EXPECT_EQ(main, widened);
}

/// What is dumped of a parameter of 4 x 3 whose ranks own this; nothing where that makes up none.
std::vector<float> dumped(std::vector<std::vector<ElementRange>> const& owned) {
  Scenario scenario = small_scenario();
  scenario.groups = {};
  scenario.params = {parameter("w", {4, 3})};
  auto const parameters = parameter_specs(scenario);
  auto const ranks = static_cast<int>(owned.size());
  StandInWorld world(scenario, parameters, {.shards = ranks});
  world.write(0, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  oracle::Layout layout({.shards = ranks});
  for (auto const& ranges : owned) layout.add(ranges);
  world.lay_out(layout);
  DumpedFile const file = dumped_initial(parameters, world);
  return file.header.contains("w") ? file.numbers("w", NumberFormat::fp32) : std::vector<float>();
}

TEST(Dump, PutsTensorsTogetherOfWhateverRangesRanksOwn) {
  EXPECT_EQ(dumped({{{0, 2}, {5, 6}, {9, 12}}, {{2, 5}, {6, 9}}}),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(dumped({{{6, 12}}, {}, {{0, 6}, {12, 12}}}),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(Dump, LeavesOutATensorOfWhichElementsAreMissingOrThereTwice) {
  EXPECT_TRUE(dumped({{{0, 2}, {5, 6}, {9, 12}}, {{2, 5}, {7, 9}}}).empty());
  EXPECT_TRUE(dumped({{{0, 2}, {5, 6}, {9, 12}}, {{2, 6}, {6, 9}}}).empty());
  EXPECT_TRUE(dumped({{{0, 5}}, {{5, 11}}}).empty());
}

TEST(Dump, LeavesOutParametersWithoutGradient) {
  Scratch const scratch;
  Scenario scenario = small_scenario();
  scenario.program = {operation(Backward{.without = {"h.0.bias"}}), operation(Step{})};
  run_scenario(scenario, dumped_to(scratch / "out"));
  auto const gradients = read_safetensors(scratch / "out/grad_001.safetensors");
  EXPECT_FALSE(gradients.contains("h.0.bias"));
  EXPECT_TRUE(gradients.contains("h.0.weight"));
}

// Both runs step on the same numbers: one has them in its dump times 4 and clipped again.
TEST(Dump, HasGradientsAsStepsConsumeThem) {
  Scratch const scratch;
  Scenario scenario = small_scenario();
  scenario.program = {operation(Backward{}), operation(ClipNorm{}), operation(Step{})};
  scenario.optimizer.clip = 1e9F;
  run_scenario(scenario, dumped_to(scratch / "plain"));
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::fixed, .value = 4.0F};
  run_scenario(scenario, dumped_to(scratch / "scaled"));
  auto const plain = read_safetensors(scratch / "plain/grad_001.safetensors");
  EXPECT_EQ(read_safetensors(scratch / "scaled/grad_001.safetensors"), plain);

  scenario.optimizer.clip = 1e-3F;
  run_scenario(scenario, dumped_to(scratch / "clipped"));
  auto const clipped = read_safetensors(scratch / "clipped/grad_001.safetensors");
  double squares = 0;
  for (auto const& [name, values] : clipped)
    for (float const value : values) squares += static_cast<double>(value) * double{value};
  EXPECT_NEAR(std::sqrt(squares), 1e-3, 1e-6);  // 1e-6 beside the norm makes it a little smaller
}

TEST(Dump, SkippedStepsCount) {
  Scratch const scratch;
  Scenario scenario = small_scenario();
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::fixed, .value = 4.0F};
  scenario.program = {operation(Overflow{}), operation(Train{2})};
  run_scenario(scenario, dumped_to(scratch / "out"));
  auto const initial = read_safetensors(scratch / "out/initial.safetensors");
  auto const skipped = read_safetensors(scratch / "out/state_001.safetensors");
  auto const stepped = read_safetensors(scratch / "out/state_002.safetensors");
  EXPECT_EQ(skipped.at("embed.weight"), initial.at("embed.weight"));
  EXPECT_NE(stepped.at("embed.weight"), initial.at("embed.weight"));
}

// A graph of two steps, replayed twice, is four steps, with the same numbers as one by one.
TEST(Dump, StepsOfReplaysCountAndAreTheSame) {
  Scratch const scratch;
  Scenario scenario = small_scenario();
  scenario.precision.param = ParamType::bf16;
  scenario.precision.main = MainType::fp32;
  scenario.program = {operation(Train{4})};
  EXPECT_EQ(run_scenario(scenario, dumped_to(scratch / "eager")).outcome, Outcome::pass);
  scenario.optimizer.capturable = true;
  scenario.program = {operation(Capture{.body = {operation(Train{2})}}), operation(Replay{2})};
  EXPECT_EQ(run_scenario(scenario, dumped_to(scratch / "replayed")).outcome, Outcome::pass);
  for (char const* const number : {"001", "002", "003", "004"}) {
    for (std::string const stem : {"grad_", "state_"}) {
      auto const file = stem + number + ".safetensors";
      EXPECT_EQ(read_safetensors(scratch / ("replayed/" + file).c_str()),
                read_safetensors(scratch / ("eager/" + file).c_str()))
          << file;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "replayed/state_005.safetensors"));
}

TEST(Dump, ReplacesADumpAndNothingElse) {
  Scratch const scratch;
  RunOptions const options = dumped_to(scratch / "out");
  run_scenario(small_scenario(), options);
  Scenario shorter = small_scenario();
  shorter.program.resize(1);
  EXPECT_NO_THROW(run_scenario(shorter, options));
  EXPECT_FALSE(std::filesystem::exists(scratch / "out/state_003.safetensors"));

  std::filesystem::create_directories(scratch / "mine");
  std::ofstream(scratch / "mine/notes") << "keep";
  EXPECT_THROW(run_scenario(shorter, dumped_to(scratch / "mine")), OutputError);
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"mine", "out"}));
  EXPECT_TRUE(std::filesystem::exists(scratch / "mine/notes"));
}

TEST(Dump, TakesTheirPlaceWhereNothingIs) {
  Scratch const scratch;
  std::filesystem::create_directories(scratch / "empty");
  EXPECT_NO_THROW(run_scenario(small_scenario(), dumped_to(scratch / "empty")));
  EXPECT_TRUE(std::filesystem::exists(scratch / "empty/state_001.safetensors"));
}

TEST(Dump, KeepsItsFilesFromACheckpointOfTheirName) {
  Scratch const scratch;
  for (char const* const name :
       {"initial.safetensors", "state_001.safetensors", "grad_1000.safetensors", "adamant-dump"}) {
    Scenario scenario = small_scenario();
    scenario.program.push_back(operation(Save{.checkpoint = name}));
    EXPECT_THROW(run_scenario(scenario, dumped_to(scratch / "out")), OutputError) << name;
    EXPECT_EQ(run_scenario(scenario).outcome, Outcome::pass) << name;
  }
}

/// One step, and one more after a load that changes types.
Scenario retyped(PrecisionOverride const& change) {
  Scenario scenario = small_scenario();
  scenario.precision = {
      .param = ParamType::bf16, .main = MainType::fp32, .exp_avg = StateType::fp8};
  scenario.optimizer.decoupled_grad = false;
  scenario.program = {operation(Train{}), operation(Save{.checkpoint = "a"}),
                      operation(Load{.from = "a", .precision = change}), operation(Backward{}),
                      operation(Step{})};
  return scenario;
}

TEST(Dump, HasTheTypesThatALoadLeadsTo) {
  Scratch const scratch;
  PrecisionOverride const change{.param = ParamType::fp16,
                                 .grad = GradType::bf16,
                                 .main = MainType::none,
                                 .exp_avg = StateType::bf16,
                                 .exp_avg_sq = StateType::fp16,
                                 .state_scale = StateScale::local};
  Scenario const scenario = retyped(change);
  ASSERT_EQ(run_scenario(scenario, dumped_to(scratch / "out")).outcome, Outcome::pass);
  auto const before = read_dumped(scratch / "out/state_001.safetensors");
  auto const after = read_dumped(scratch / "out/state_002.safetensors");
  std::string const name = scenario.params[0].name;
  EXPECT_TRUE(before.header.contains(name + "/main"));
  EXPECT_FALSE(after.header.contains(name + "/main"));
  EXPECT_EQ(after.header[name + "/raw"]["dtype"], "F16");
  EXPECT_EQ(before.header[name + "/exp_avg/raw"]["dtype"], "U8");
  EXPECT_EQ(after.header[name + "/exp_avg/raw"]["dtype"], "BF16");
  EXPECT_FALSE(after.header.contains(name + "/exp_avg/scale"));
  EXPECT_EQ(after.header[name + "/exp_avg_sq/raw"]["dtype"], "F16");
  EXPECT_EQ(after.header[name + "/exp_avg_sq/scale"]["shape"][0], scenario.world.rank_count());
  // What the step consumed is the copy in the parameter's new type.
  auto const gradient = read_dumped(scratch / "out/grad_002.safetensors");
  auto const values = gradient.numbers(name, NumberFormat::fp32);
  std::vector<float> rounded = values;
  oracle::round_to(NumberFormat::fp16, rounded);
  EXPECT_FALSE(values.empty());
  EXPECT_EQ(values, rounded);
}

TEST(Dump, FollowsALinkAndKeepsIt) {
  Scratch const scratch;
  run_scenario(small_scenario(), dumped_to(scratch / "out"));
  std::filesystem::create_directory_symlink("out", scratch / "link");
  Scenario shorter = small_scenario();
  shorter.program.resize(1);
  EXPECT_NO_THROW(run_scenario(shorter, dumped_to(scratch / "link")));
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "out/state_003.safetensors"));
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"link", "out"}));

  std::filesystem::create_directory_symlink("nowhere", scratch / "dangling");
  EXPECT_THROW(run_scenario(shorter, dumped_to(scratch / "dangling")), OutputError);
}

TEST(Dump, WhatLiesInItsWayIsNeitherFollowedNorRemoved) {
  Scratch const scratch;
  std::string const name = "out.tmp-" + std::to_string(::getpid());
  std::filesystem::path const temporary = scratch / name.c_str();
  std::filesystem::create_directories(scratch / "other");
  std::filesystem::create_directory_symlink("other", temporary);
  EXPECT_THROW(run_scenario(small_scenario(), dumped_to(scratch / "out")), OutputError);
  EXPECT_TRUE(std::filesystem::is_empty(scratch / "other"));
  std::filesystem::remove(temporary);
  std::filesystem::create_directories(temporary / "of somebody");
  EXPECT_THROW(run_scenario(small_scenario(), dumped_to(scratch / "out")), OutputError);
  remove_unfinished_dump(scratch / "out", ::getpid());
  EXPECT_TRUE(std::filesystem::exists(temporary / "of somebody"));
}

TEST(Dump, WhatAKilledWriterLeftIsRemovedAndTheOldDumpPutBack) {
  Scratch const scratch;
  run_scenario(small_scenario(), dumped_to(scratch / "out"));
  std::filesystem::rename(scratch / "out", scratch / "out.tmp-7-old");
  std::filesystem::create_directories(scratch / "out.tmp-7");
  std::filesystem::create_directories(scratch / "out.tmp-8");
  remove_unfinished_dump(scratch / "out", 7);
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"out", "out.tmp-8"}));
  EXPECT_TRUE(std::filesystem::exists(scratch / "out/state_005.safetensors"));
}

TEST(Dump, LeavesNothingOfARunThatWasRefused) {
  Scratch const scratch;
  RunOptions options = dumped_to(scratch / "out");
  options.device_bytes = 1024;
  EXPECT_EQ(run_scenario(small_scenario(), options).outcome, Outcome::refused);
  EXPECT_TRUE(scratch.names().empty());
}

TEST(Dump, AFullDiskIsAnOutputErrorAndLeavesNoFile) {
  std::vector<float> const values(1 << 20);
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  Scratch const scratch;
  std::filesystem::create_symlink("/dev/full", scratch / "file");
  EXPECT_THROW(
      write_safetensors(
          scratch / "file",
          {{.name = "a", .shape = {1 << 20}, .parts = {std::as_bytes(std::span(values))}}}),
      OutputError);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(scratch / "file")));
}

TEST(Dump, ADirectoryThatCannotBeMadeIsAnOutputError) {
  EXPECT_THROW(run_scenario(small_scenario(), dumped_to("/proc/no/such/place")), OutputError);
}

}  // namespace
}  // namespace adamant::scenarios
