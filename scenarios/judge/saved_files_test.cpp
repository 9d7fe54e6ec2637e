// What the oracle reads in files that another program wrote, and what it makes of them.
#include "scenarios/judge/saved/files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/judge/reference.h"
#include "scenarios/judge/testing/saved_entries.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

using Values = std::vector<float>;

SavedFiles read(Entries const& entries, std::vector<SavedName> const& names) {
  std::vector<std::byte> const bytes = file_of(entries);
  StoredFile const file{.name = "a.safetensors", .bytes = bytes};
  return read_saved_files({&file, 1}, names);
}

template <typename Number>
SavedEntry typed(std::string const& dtype, Shape const& shape, std::vector<Number> const& numbers) {
  SavedEntry made = entry(shape, numbers);
  made.dtype = dtype;
  return made;
}

TEST(SavedFiles, AStepIsReadInItsType) {
  std::string const key = "optim.state.w.step";
  std::vector<SavedName> const names = {{"w"}};
  std::int64_t const large = (std::int64_t{1} << 53) - 1;
  EXPECT_EQ(read({{key, typed("F32", {}, Values{3})}}, names).step("w"), 3.0);
  EXPECT_EQ(read({{key, typed("I64", {}, std::vector{large})}}, names).step("w"),
            static_cast<double>(large));
  EXPECT_EQ(read({{key, typed("F64", {}, std::vector{16777217.0})}}, names).step("w"), 16777217.0);
  EXPECT_FALSE(read({{key, typed("F32", {2}, Values{3, 3})}}, names).step("w"));
  EXPECT_FALSE(read({}, names).step("w"));
}

TEST(SavedFiles, ThoseThatNameNoRankAreOfOneEach) {
  std::vector<std::byte> const low = file_of({{"model.w", entry({1}, Values{1})}});
  SavedEntry const second = {
      .dtype = "F32", .shape = {1}, .offsets = {1}, .bytes = entry({1}, Values{2}).bytes};
  std::vector<std::byte> const high = file_of({{"model.w", second}});
  std::vector<StoredFile> const files = {{.name = "a.safetensors", .bytes = low},
                                         {.name = "b.safetensors", .bytes = high}};
  std::vector<SavedName> const names = {{"w"}};
  SavedFiles const saved = read_saved_files(files, names);
  auto const& boxes = *saved.tensor("w", TensorKind::parameter).values;
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_NE(boxes[0].rank, boxes[1].rank);
}

TEST(SavedFiles, AnotherPrefixIsOneThatAllKeysHave) {
  std::vector<SavedName> const names = {{"w"}, {"a.w"}};
  Entries entries = {{"net.w", typed("F32", {1}, Values{1})},
                     {"net.a.w", typed("F32", {1}, Values{2})}};
  for (auto const& [name, parts] : names)
    for (char const* const what : {".exp_avg", ".exp_avg_sq", ".step"})
      entries[name + what] = typed("F32", {}, Values{static_cast<float>(name.size())});
  SavedFiles const saved = read(entries, names);
  auto const weight = [&](std::string const& name) {
    auto const* const boxes = saved.tensor(name, TensorKind::parameter).values;
    return boxes == nullptr ? Values() : boxes->front().values;
  };
  EXPECT_EQ(weight("w"), Values{1});
  EXPECT_EQ(weight("a.w"), Values{2});
  EXPECT_EQ(saved.step("w"), 1.0);
  EXPECT_EQ(saved.step("a.w"), 3.0);
  entries.erase("net.a.w");
  EXPECT_EQ(read(entries, names).tensor("w", TensorKind::parameter).values, nullptr);
}

// ---- raw beside other values --------------------------------------------------------------------

Scenario scenario_of(StateType exp_avg, ParamType param) {
  Scenario scenario = small_scenario();
  scenario.world = {};
  scenario.groups = {};
  scenario.params = {parameter("w", {3})};
  scenario.precision = {.param = param, .main = MainType::fp32, .exp_avg = exp_avg};
  if (param == ParamType::fp32) scenario.precision.main = MainType::none;
  return scenario;
}

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
Values const under_keys = {not_a_number, 5, 0.1F};
Values const stored = {1, -2, 3};  // as which it is in raw

/// Raw numbers and a scale of which the values under their keys know nothing.
Entries edited(float scale) {
  return {{"model.w", entry({3}, under_keys)},
          {"model.w/raw", typed("BF16", {3}, std::vector<std::uint16_t>{0x3f80, 0xc000, 0x4040})},
          {"optim.state.w.main", entry({3}, Values{7, 8, 9})},
          {"optim.state.w.exp_avg", entry({3}, under_keys)},
          {"optim.state.w.exp_avg/raw", entry({3}, std::vector<std::uint8_t>{0x38, 0xc0, 0x44})},
          {"optim.state.w.exp_avg/scale", entry({1}, Values{scale})},
          {"optim.state.w.exp_avg_sq", entry({3}, Values(3))},
          {"optim.state.w.step", entry({}, Values{1})}};
}

Values loaded(Entries const& entries, Scenario const& scenario, TensorKind kind) {
  Reference reference(scenario, parameter_specs(scenario), 7);
  std::vector<std::byte> const bytes = file_of(entries);
  StoredFile const file{.name = "a.safetensors", .bytes = bytes};
  reference.take_from("other", {&file, 1});
  reference.model().load(*reference.checkpoint("other").candidates.front());
  auto const numbers = reference.model().tensor(0, kind);
  return {numbers.begin(), numbers.end()};
}

TEST(SavedFiles, ALoadOfTheSameTypeHasWhatRawIsWorth) {
  Scenario const same = scenario_of(StateType::fp8, ParamType::bf16);
  EXPECT_EQ(loaded(edited(0.5F), same, TensorKind::exp_avg), (Values{0.5F, -1, 1.5F}));
  EXPECT_EQ(loaded(edited(0.5F), same, TensorKind::parameter), stored);
  EXPECT_EQ(loaded(edited(0.5F), same, TensorKind::main), (Values{7, 8, 9}));
  EXPECT_EQ(loaded(edited(0x1p-149F), same, TensorKind::exp_avg),
            (Values{0x1p-149F, -0x1p-148F, 0x1.8p-148F}));
}

TEST(SavedFiles, OnesThatLackSomethingOrHaveItTwiceAreRefused) {
  Scenario const scenario = scenario_of(StateType::fp8, ParamType::bf16);
  EXPECT_NO_THROW(loaded(edited(1), scenario, TensorKind::main));
  for (char const* const key :
       {"model.w", "optim.state.w.exp_avg", "optim.state.w.exp_avg_sq", "optim.state.w.step"}) {
    Entries less = edited(1);
    less.erase(key);
    EXPECT_THROW(loaded(less, scenario, TensorKind::main), std::runtime_error) << key;
  }
  Scenario in_parts = scenario;
  in_parts.params.front().parts = {"left", "right"};
  Entries twice = edited(1);
  twice["model.w.left"] = twice["model.w.right"] = entry({3}, Values{1, 2, 3});
  try {
    loaded(twice, in_parts, TensorKind::main);
    ADD_FAILURE() << "w is there twice";
  } catch (std::runtime_error const& error) {
    EXPECT_STREQ(error.what(), "w is saved as a whole and in parts");
  }
}

/// Codes of two parts, each of so many rows of 32: with a scale for each row, or where two codes
/// share a byte, for each block of 16 x 16. `other` is what the second part has for scales.
Entries codes_in_parts(std::int64_t rows, bool half_codes, std::uint8_t other = 7) {
  auto const bytes = [](Shape const& shape, std::uint8_t value) {
    return entry(shape, std::vector(static_cast<std::size_t>(shape[0] * shape[1]), value));
  };
  Entries entries;
  for (std::string const part : {"up", "gate"}) {
    std::string const key = "model.w." + part;
    entries[key] = entry({rows, 32}, Values(static_cast<std::size_t>(rows) * 32));
    entries[key + "/raw"] = bytes({rows, half_codes ? 16 : 32}, 1);
    entries[key + "/scale"] = bytes(half_codes ? Shape{(rows + 15) / 16, 2} : Shape{rows, 1},
                                    part == "up" ? std::uint8_t{7} : other);
  }
  return entries;
}

std::vector<SavedName> const in_two_parts = {{"w", {"up", "gate"}}};

TEST(SavedFiles, ScalesOfPartsStandBelowEachOtherUnlessABlockHasRowsOfBoth) {
  auto const first_rows = [](Entries const& entries) {
    std::vector<std::int64_t> rows;
    SavedFiles const saved = read(entries, in_two_parts);
    for (SavedBox const& box : saved.tensors.at("model.w/scale"))
      rows.push_back(box.offsets.front());
    return rows;
  };
  EXPECT_EQ(first_rows(codes_in_parts(2, false, 8)), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(first_rows(codes_in_parts(16, true, 8)), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(first_rows(codes_in_parts(2, true)), (std::vector<std::int64_t>{0}));
  EXPECT_THROW(read(codes_in_parts(2, true, 8), in_two_parts), std::runtime_error);
}

TEST(SavedFiles, APartOfFewerDimensionsIsRefused) {
  std::vector<std::byte> const right = file_of(codes_in_parts(2, false));
  std::vector<std::byte> const scalar = file_of({{"model.w.up", entry({}, Values{1})}});
  std::vector<StoredFile> const files = {{.name = "a.safetensors", .bytes = right},
                                         {.name = "b.safetensors", .bytes = scalar}};
  auto const read_whole = [&] {
    SavedFiles const saved = read_saved_files(files, in_two_parts);
    put_together(*saved.tensor("w", TensorKind::parameter).values, {4, 32});
  };
  EXPECT_THROW(read_whole(), std::runtime_error);
}

// As an engine that does not know them passes over them.
TEST(SavedFiles, TensorsOfOtherTypesArePassedOver) {
  Scenario const scenario = scenario_of(StateType::fp8, ParamType::bf16);
  Values const main = loaded(edited(1), scenario, TensorKind::main);
  for (char const* const dtype : {"BOOL", "I8", "F8_E4M3", "I32", "F4", "X9"}) {
    Entries more = edited(1);
    more["further"] = typed(dtype, {3}, std::vector<std::uint8_t>{1, 2, 3});
    EXPECT_EQ(loaded(more, scenario, TensorKind::main), main) << dtype;
    more["optim.state.w.main"] = more.at("further");
    EXPECT_THROW(loaded(more, scenario, TensorKind::main), std::runtime_error) << dtype;
  }
}

TEST(SavedFiles, OnesWhoseNumbersCannotBeAreRefused) {
  Scenario const scenario = scenario_of(StateType::fp8, ParamType::bf16);
  auto const expect_refused = [&](std::string const& key, SavedEntry const& is) {
    Entries other = edited(1);
    other[key] = is;
    EXPECT_THROW(loaded(other, scenario, TensorKind::main), std::exception) << key << is.dtype;
  };
  expect_refused("optim.state.w.exp_avg/scale", entry({0}, Values()));
  expect_refused("optim.state.w.exp_avg/raw", entry({}, std::vector<std::uint8_t>{0x38}));
  expect_refused("optim.state.w.step", entry({}, Values{not_a_number}));
  expect_refused("optim.state.w.step", entry({}, Values{-1}));
  expect_refused("optim.state.w.step", typed("F64", {}, std::vector{1e300}));
  expect_refused("optim.state.w.main", entry({3}, std::vector<std::uint8_t>{1, 2, 3}));
  SavedEntry beyond = entry({3}, Values{1, 2, 3});
  beyond.offsets = {1};
  expect_refused("optim.state.w.main", beyond);
}

TEST(SavedFiles, PartsThatHaveNoRowsOrOtherStepsAreRefused) {
  std::vector<SavedName> const names = {{"w", {"a", "b"}}};
  Entries entries;
  for (std::string const part : {"a", "b"}) {
    entries["model.w." + part] = entry({2}, Values{1, 2});
    entries["optim.state.w." + part + ".step"] = entry({}, Values{3});
  }
  entries["optim.state.w.a.step/raw"] = entry({}, Values{5});
  EXPECT_EQ(read(entries, names).step("w"), 3.0);
  for (char const* const part : {"a", "b"}) {  // either is one number
    entries["optim.state.w." + std::string(part) + ".step"] = entry({1}, Values{3});
    EXPECT_EQ(read(entries, names).step("w"), 3.0) << part;
  }
  Entries wide = entries;
  wide["optim.state.w.a.step"] = typed("F64", {}, std::vector{16777216.0});
  wide["optim.state.w.b.step"] = typed("F64", {1}, std::vector{16777217.0});
  EXPECT_THROW(read(wide, names), std::runtime_error) << "no fp32 tells them apart";
  Entries scalar = entries;
  scalar["model.w.b"] = entry({}, Values{1});
  EXPECT_THROW(read(scalar, names), std::runtime_error);
  entries["optim.state.w.b.step"] = entry({}, Values{4});
  try {
    read(entries, names);
    ADD_FAILURE() << "steps differ";
  } catch (std::runtime_error const& error) {
    EXPECT_STREQ(error.what(), "parts differ in w.step");
  }
}

TEST(SavedFiles, ScalesAreOfTheRankThatWroteThem) {
  std::vector<std::vector<std::byte>> bytes;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    Entries entries = edited(static_cast<float>(2 + rank));
    std::erase_if(entries,
                  [](auto const& one) { return !one.first.starts_with("optim.state.w.exp_avg"); });
    for (auto& [key, entry] : entries)
      if (!key.ends_with("/scale")) entry.offsets = {3 * rank};
    bytes.push_back(file_of(entries));
  }
  std::vector<StoredFile> const files = {
      {.name = "shard-00001-model-00001-of-00001.safetensors", .bytes = bytes[0]},
      {.name = "shard-00002-model-00001-of-00001.safetensors", .bytes = bytes[1]}};
  std::vector<SavedName> const names = {{"w"}};
  SavedFiles const saved = read_saved_files(files, names);
  SavedScales const together = put_together(saved.tensor("w", TensorKind::exp_avg), {6});
  EXPECT_EQ(together.scales, (Values{2, 3}));
}

TEST(SavedFiles, ABoxWithoutElementsIsNoPartOfAShardThatHasSome) {
  std::vector<SavedBox> const raw = {{.shape = {0}, .offsets = {6}, .values = {}},
                                     {.shape = {3}, .offsets = {1}, .values = {1, 2, 3}},
                                     {.shape = {0}, .offsets = {6}, .values = {}, .rank = 1}};
  std::vector<SavedBox> const scale = {{.shape = {1}, .offsets = {0}, .values = {2}},
                                       {.shape = {1}, .offsets = {0}, .values = {3}, .rank = 1}};
  SavedScales const together = put_together(SavedTensor{.raw = &raw, .scale = &scale}, {6});
  using Shards = std::vector<std::vector<ElementRange>>;
  EXPECT_EQ(together.shards, (Shards{{{1, 4}}, {{6, 6}}}));
}

TEST(SavedFiles, AManifestSaysTheStepsOfTheCounterThatIsKept) {
  std::string const manifest = R"({"body":{"parameter_steps":{"w":3},"numbers":{},"groups":[
      {"name":"","step":5,"mode":"adam","lr":1,"betas":[0,0],"eps":0,"weight_decay":0,
       "bias_correction":true,"parameters":["w"]}]}})";
  std::vector<std::byte> const bytes = file_of(edited(1));
  std::vector<StoredFile> const files = {
      {.name = "a.safetensors", .bytes = bytes},
      {.name = "adamant.json", .bytes = std::as_bytes(std::span(manifest))}};
  for (StepCounter const counter : {StepCounter::group, StepCounter::parameter}) {
    Scenario scenario = scenario_of(StateType::fp8, ParamType::bf16);
    scenario.optimizer.step_counter = counter;
    Reference reference(scenario, parameter_specs(scenario), 7);
    reference.take_from("other", files);
    reference.model().load(*reference.checkpoint("other").candidates.front());
    EXPECT_EQ(reference.model().step_count(0), counter == StepCounter::group ? 5 : 3);
  }
}

TEST(SavedFiles, ALoadOfAnotherTypeHasTheValues) {
  Scenario const other = scenario_of(StateType::fp32, ParamType::fp32);
  Values const moments = loaded(edited(0.5F), other, TensorKind::exp_avg);
  EXPECT_TRUE(std::isnan(moments[0]));
  EXPECT_EQ(moments[1], 5);
  EXPECT_EQ(loaded(edited(0.5F), other, TensorKind::parameter), (Values{7, 8, 9}));
}

}  // namespace
}  // namespace adamant::scenarios
