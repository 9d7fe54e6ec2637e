#include "scenarios/search/known_defects.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "scenarios/language/yaml/load.h"
#include "scenarios/runner/testing/scratch.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

constexpr char const* shows =
    "adamant: 1\nname: a\nworld: {shard: 2}\nparams: [{name: w, shape: [3]}]\n"
    "program: [train: 1]\nexpect: {violates: values.bitwise}\n";

class KnownDefects : public testing::Test {
 protected:
  void write(std::string const& name, std::string const& text) const {
    std::ofstream(folder_ / name.c_str()) << text;
  }
  std::vector<KnownDefect> read(std::string const& text) const {
    write("known.yaml", text);
    return read_known_defects(folder_ / "known.yaml");
  }
  std::string error_of(std::string const& text) const {
    try {
      read(text);
    } catch (LoadError const& error) {
      return error.what();
    }
    return "no error";
  }

  Scratch folder_;
};

TEST_F(KnownDefects, AreReadWithTheirScenarios) {
  write("a.yaml", shows);
  auto const defects = read(
      "known:\n"
      "  - {name: first, cause: It is wrong., versions: 2.13.0, thread: none, shown_by: [a.yaml]}\n"
      "  - name: second\n    cause: Other.\n    effect: Much.\n    versions: all\n"
      "    thread: https://x.invalid/1\n"
      "    avoid: {saves: anew, step: vector}\n    met: seldom\n    shown_by: [a.yaml, a.yaml]\n");
  ASSERT_EQ(defects.size(), 2U);
  EXPECT_EQ(defects[0].name, "first");
  EXPECT_EQ(defects[0].versions, "2.13.0");
  EXPECT_EQ(defects[0].thread, "");
  EXPECT_TRUE(defects[0].avoid.empty());
  EXPECT_EQ(defects[0].effect, "");
  EXPECT_EQ(defects[1].effect, "Much.");
  EXPECT_EQ(defects[1].thread, "https://x.invalid/1");
  EXPECT_EQ(defects[1].avoid, (EngineOptions{{"saves", "anew"}, {"step", "vector"}}));
  EXPECT_FALSE(defects[0].seldom_met);
  EXPECT_TRUE(defects[1].seldom_met);
  ASSERT_EQ(defects[1].shown_by.size(), 2U);
  EXPECT_EQ(defects[1].shown_by[0].world.shard, 2);
}

TEST_F(KnownDefects, SayWhereTheyAreWrong) {
  write("a.yaml", shows);
  write("passes.yaml", std::string(shows).substr(0, std::string(shows).find("expect")));
  std::string const rest = ", cause: c, versions: v, thread: none, shown_by: [a.yaml]}\n";
  struct Wrong {
    std::string text;
    char const* message;
  };
  Wrong const wrongs[] = {
      {"", "known.yaml:1: document: expected known defects, found nothing"},
      {"known: 3\n", "known.yaml:1: known: expected a list of known defects, found"},
      {"known:\n  - {name: a, met: never" + rest,
       "known[0].met: expected often or seldom, found `never`"},
      {"known:\n  - {name: a" + rest + "  - {name: a" + rest,
       "known.yaml:3: known[1].name: another defect has this name"},
      {"known: [{name: a, avoid: {}" + rest.substr(0, rest.size() - 1) + "]\n",
       "known[0].avoid: names no option"},
      {"known:\n  - {name: a, effect: []" + rest, "known[0].effect: expected text, found a list"},
      {"known: [{name: a, cause: c, versions: v, thread: none, shown_by: []}]\n",
       "known[0].shown_by: names no scenario"},
      {"known: [{name: a, cause: c, versions: v, thread: none, shown_by: [passes.yaml]}]\n",
       "known[0].shown_by[0]: `passes.yaml` expects to pass"},
      {"known: [{name: a, cause: c, versions: v, thread: none, shown_by: [gone.yaml]}]\n",
       "gone.yaml:1: document: cannot be read"},
      {"known: [{cause: c, versions: v, thread: none, shown_by: [a.yaml], see: x}]\n",
       "known[0].see: unknown key"},
      {"known: [{cause: c, versions: v, thread: none, shown_by: [a.yaml]}]\n",
       "known[0].name: this key is required"},
  };
  for (Wrong const& wrong : wrongs)
    EXPECT_NE(error_of(wrong.text).find(wrong.message), std::string::npos)
        << wrong.text << error_of(wrong.text);
}

TEST(KnownDefect, OptionsTakeThePlaceOfOthersOfTheirNames) {
  Scenario scenario = small_scenario();
  scenario.engine.options = {{"format", "dcp"}, {"saves", "in_place"}};
  Scenario const around = with_options(scenario, {{"saves", "anew"}, {"step", "vector"}});
  EXPECT_EQ(around.engine.options,
            (EngineOptions{{"format", "dcp"}, {"saves", "anew"}, {"step", "vector"}}));
  EXPECT_TRUE(has_options(around, {{"saves", "anew"}}));
  EXPECT_FALSE(has_options(scenario, {{"saves", "anew"}}));
}

TEST(KnownDefect, IsInsideWhatDoesAllThatItDoes) {
  Scenario smaller;
  smaller.world.shard = 2;
  smaller.program = {operation(Backward{}), operation(Step{}), operation(Save{"a"})};
  Scenario larger = small_scenario();
  EXPECT_FALSE(has_inside(larger, smaller)) << "it saves nothing";
  larger.program.push_back(operation(Save{"b"}));
  EXPECT_TRUE(has_inside(larger, smaller));
  larger.program = {operation(Train{3}), operation(Save{"b"})};
  EXPECT_TRUE(has_inside(larger, smaller)) << "train is backward, step and zero_grad";
  smaller.program.insert(smaller.program.begin() + 1, 2, operation(Step{}));
  EXPECT_TRUE(has_inside(larger, smaller)) << "and each of its iterations counts";
  larger.program.front() = operation(Train{2});
  EXPECT_FALSE(has_inside(larger, smaller));
  smaller.program.erase(smaller.program.begin() + 1, smaller.program.begin() + 3);
  smaller.program.insert(smaller.program.begin() + 1, operation(ClipNorm{}));
  EXPECT_FALSE(has_inside(larger, smaller));
  larger.optimizer.clip = 1.0F;
  EXPECT_TRUE(has_inside(larger, smaller)) << "with a norm it clips, too";
  smaller.program.erase(smaller.program.begin() + 1);
  larger.program = {operation(Save{"b"}), operation(Train{3})};
  EXPECT_FALSE(has_inside(larger, smaller)) << "in another order";
  larger.program = {operation(Train{3}), operation(Save{"b"})};
  smaller.engine.options = {{"format", "dcp"}};
  EXPECT_FALSE(has_inside(larger, smaller));
  larger.engine.options = {{"async", "true"}, {"format", "hf"}};
  EXPECT_FALSE(has_inside(larger, smaller));
  larger.again = {{}, {.options = {{"format", "dcp"}}}};
  EXPECT_TRUE(has_inside(larger, smaller)) << "in a further run";
  larger.again.clear();
  larger.engine.options = {{"async", "true"}, {"format", "dcp"}};
  EXPECT_TRUE(has_inside(larger, smaller));
  smaller.faults = {{.then = Fault::Then::truncate}};
  EXPECT_FALSE(has_inside(larger, smaller));
  larger.faults = {{.then = Fault::Then::crash}, {.then = Fault::Then::truncate}};
  EXPECT_TRUE(has_inside(larger, smaller));
  larger.world.shard = 1;
  EXPECT_FALSE(has_inside(larger, smaller));
  larger.program.push_back(operation(Load{.from = "b", .world = World{.shard = 2}}));
  EXPECT_TRUE(has_inside(larger, smaller)) << "since a load on two ranks";
}

// A further run that is resumed has a save and a load that its scenario has not.
TEST(KnownDefect, IsInsideAFurtherRun) {
  Scenario smaller;
  smaller.world.shard = 2;
  smaller.program = {operation(Save{"a"}), operation(Load{.from = "a"}), operation(Step{})};
  Scenario larger = small_scenario();
  larger.world.shard = 1;
  larger.program = {operation(Backward{}), operation(Step{})};
  EXPECT_FALSE(does_all_of(larger, smaller));
  larger.again = {{.resumed_after = 1}};
  EXPECT_TRUE(does_all_of(larger, smaller));
  EXPECT_TRUE(has_files_inside(larger, smaller));
  EXPECT_FALSE(has_inside(larger, smaller)) << "it has one rank";
  EXPECT_EQ(put_into(larger, smaller).front().world.shard, 1);
  larger.again[0].through = {World{.shard = 2}};
  EXPECT_TRUE(has_inside(larger, smaller)) << "it is resumed on two";
  EXPECT_EQ(put_into(larger, smaller).front().world.shard, 2);
  larger.again[0].resumed_after = 2;
  EXPECT_FALSE(does_all_of(larger, smaller)) << "no step follows";
  EXPECT_TRUE(has_files_inside(larger, smaller));
}

TEST(KnownDefect, ClipsByANormThatASetHasPutInForce) {
  Scenario smaller;
  smaller.program = {operation(Backward{}), operation(ClipNorm{})};
  Scenario larger = small_scenario();
  SettingsChange norm;
  norm.clip = Clip(1.0F);
  larger.program = {operation(Set{norm}), operation(Train{1})};
  EXPECT_TRUE(does_all_of(larger, smaller));
  norm.clip = Clip();
  larger.optimizer.clip = 1.0F;
  larger.program = {operation(Set{norm}), operation(Train{1})};
  EXPECT_FALSE(does_all_of(larger, smaller));
}

TEST(KnownDefect, IsPutIntoTypesScaleAndWorldOfAnother) {
  Scenario smaller;
  smaller.world.shard = 2;
  smaller.precision.param = ParamType::fp16;
  smaller.optimizer.loss_scale = {.kind = LossScale::Kind::fixed, .value = 65536.0F};
  Scenario larger = small_scenario();
  larger.world.shard = 1;
  larger.precision = {};
  PrecisionOverride narrow;
  narrow.param = ParamType::bf16;
  larger.program = {operation(Load{.from = "b", .precision = narrow})};
  auto const there = put_into(larger, smaller);
  ASSERT_EQ(there.size(), 4U);
  for (Scenario const& one : there) EXPECT_EQ(one.world.shard, 1);
  EXPECT_EQ(there[0].precision.param, ParamType::fp32);
  EXPECT_EQ(there[0].optimizer.loss_scale, smaller.optimizer.loss_scale);
  EXPECT_EQ(there[3].precision.param, ParamType::bf16);
  EXPECT_EQ(there[3].optimizer.loss_scale, LossScale{});
  EXPECT_TRUE(put_into(smaller, smaller).empty());
}

TEST(KnownDefect, IsOfVersionsThatAreAllHere) {
  KnownDefect defect;
  defect.versions = "1.15.0 with PyTorch 2.13.0";
  EXPECT_TRUE(is_of_versions(defect, "accelerate 1.15.0, python 3.11.2, torch 2.13.0+cpu"));
  EXPECT_FALSE(is_of_versions(defect, "accelerate 1.15.1, python 3.11.2, torch 2.13.0"));
  EXPECT_FALSE(is_of_versions(defect, "python 3.11.2, torch 2.13.0"));
  defect.versions = "2.8.0, 2.13.0";
  EXPECT_TRUE(is_of_versions(defect, "python 3.11.2, torch 2.13.0"));
  defect.versions = "all";
  EXPECT_TRUE(is_of_versions(defect, ""));
}

TEST(KnownDefect, InNarrowTypesIsInsideWhatHasSomeInTheSamePlace) {
  Scenario smaller;
  smaller.precision.grad = GradType::fp16;
  smaller.program = {operation(Backward{})};
  Scenario larger = small_scenario();
  EXPECT_FALSE(has_inside(larger, smaller));
  larger.precision.param = ParamType::bf16;
  EXPECT_FALSE(has_inside(larger, smaller)) << "its gradients are not narrow";
  larger.precision.grad = GradType::bf16;
  EXPECT_TRUE(has_inside(larger, smaller));
  larger.precision.grad = GradType::fp32;
  PrecisionOverride narrow;
  narrow.grad = GradType::fp16;
  larger.program.push_back(operation(Load{.from = "b", .precision = narrow}));
  EXPECT_TRUE(has_inside(larger, smaller)) << "since a load";
}

}  // namespace
}  // namespace adamant::scenarios
