// Files that an engine has saved are what the oracle expects, and one wrong thing in them is found,
// wherever it is.
#include "scenarios/judge/saved_judge.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/judge/registration.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/runner.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

using Json = nlohmann::json;

struct File {
  std::string name;
  std::vector<std::byte> bytes;
};

/// Two parameters in two groups, one of them in parts, with numbers that are not stored in fp32.
Scenario saving() {
  Scenario scenario = small_scenario();
  scenario.world.shard = 2;
  scenario.params = {parameter("a", {4, 2}), parameter("b", {6, 2}, "no_decay")};
  scenario.params.back().parts = {"left", "right"};
  scenario.precision.param = ParamType::bf16;
  scenario.precision.main = MainType::fp16;
  scenario.precision.exp_avg_sq = StateType::fp8;
  scenario.optimizer.clip = 1.0F;
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::fixed, .value = 4};
  scenario.program = {operation(Save{"x"})};
  return scenario;
}

class SavedJudge : public ::testing::Test {
 protected:
  SavedJudge() {
    RunOptions const options;
    Runner runner(scenario_, options, 7, 1);
    runner.watch([this](Primitive const&, WorldView const& world) {
      for (StoredFile const& file : world.checkpoint("x"))
        files_.push_back({file.name, {file.bytes.begin(), file.bytes.end()}});
    });
    EXPECT_EQ(runner.run({}, false).outcome, Outcome::pass);
  }

  /// With the ranks swapped that hold this tensor of the second parameter.
  std::string fault(std::optional<TensorKind> swapped = {}) {
    std::vector<StoredFile> stored;
    for (File const& file : files_) stored.push_back({.name = file.name, .bytes = file.bytes});
    oracle::Layout const layout = layout_of(scenario_, parameters_);
    SavingWorld const world{.mesh = layout.mesh(),
                            .held = [&](int parameter, int rank, TensorKind kind) {
                              bool const swaps = parameter == 1 && kind == swapped;
                              return layout.ranges(parameter, swaps ? 1 - rank : rank, kind);
                            }};
    auto const found = fault_of_saved(stored, Reference(scenario_, parameters_, 7), world);
    return found ? in_one_line(*found) : "";
  }

  /// Changes the last bit of the tensor's first element, wherever it is.
  void spoil(std::string const& key) {
    bool done = false;
    for (File& file : files_) {
      std::uint64_t length = 0;
      std::memcpy(&length, file.bytes.data(), sizeof length);
      if (!file.name.ends_with(".safetensors")) continue;
      auto const* const text = reinterpret_cast<char const*>(file.bytes.data() + sizeof length);
      Json const header = Json::parse(text, text + length);
      if (!header.contains(key)) continue;
      auto const begin = header[key].at("data_offsets").at(0).get<std::size_t>();
      file.bytes[sizeof length + length + begin] ^= std::byte{1};
      done = true;
    }
    EXPECT_TRUE(done) << key;
  }

  void edit_manifest(std::function<void(Json& body)> const& edit) {
    for (File& file : files_) {
      if (file.name != "adamant.json") continue;
      auto const* const text = reinterpret_cast<char const*>(file.bytes.data());
      Json manifest = Json::parse(text, text + file.bytes.size());
      edit(manifest.at("body"));
      std::string const changed = manifest.dump();
      auto const* const bytes = reinterpret_cast<std::byte const*>(changed.data());
      file.bytes.assign(bytes, bytes + changed.size());
    }
  }

  Scenario const scenario_ = saving();
  std::vector<ParameterSpec> const parameters_ = parameter_specs(scenario_);
  std::vector<File> files_;
};

TEST_F(SavedJudge, NothingWhereAllIsAsItShouldBe) {
  EXPECT_EQ(fault(), "");
}

TEST_F(SavedJudge, ValuesBesideNumbersThatAreNotStoredInFp32) {
  auto const right = files_;
  for (std::string const key :
       {"model.a", "optim.state.a.exp_avg_sq", "optim.state.a.main", "model.b.right",
        "optim.state.b.right.exp_avg_sq", "optim.state.b.left.main"}) {
    files_ = right;
    spoil(key);
    EXPECT_NE(fault(), "") << key;
  }
}

TEST_F(SavedJudge, WhoHasWrittenALaterParameter) {
  for (TensorKind const kind :
       {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq})
    EXPECT_NE(fault(kind), "") << name_of(kind);
}

TEST_F(SavedJudge, EverythingThatTheManifestSays) {
  auto const right = files_;
  std::vector<std::pair<std::string, std::function<void(Json&)>>> const edits = {
      {"settings of the first group", [](Json& body) { body["groups"][0]["lr"] = 1.0; }},
      {"settings of the second group", [](Json& body) { body["groups"][1]["eps"] = 1.0; }},
      {"a group is not there", [](Json& body) { body["groups"].erase(1); }},
      {"members",
       [](Json& body) { body["groups"][0]["parameters"].swap(body["groups"][1]["parameters"]); }},
      {"a group's step", [](Json& body) { body["groups"][1]["step"] = 1; }},
      {"a parameter's steps", [](Json& body) { body["parameter_steps"]["b"] = 1; }},
      {"parts", [](Json& body) { body["parts"]["b"] = {"right", "left"}; }},
      {"norm", [](Json& body) { body["numbers"]["clip"] = 2.0; }},
      {"no norm", [](Json& body) { body["numbers"].erase("clip"); }},
      {"loss scale", [](Json& body) { body["numbers"]["loss_scale"] = 8.0; }},
      {"no loss scale", [](Json& body) { body["numbers"].erase("loss_scale"); }},
  };
  for (auto const& [what, edit] : edits) {
    files_ = right;
    edit_manifest(edit);
    EXPECT_NE(fault(), "") << what;
  }
}

}  // namespace
}  // namespace adamant::scenarios
