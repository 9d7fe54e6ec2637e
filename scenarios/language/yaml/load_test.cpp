#include "scenarios/language/yaml/load.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace adamant::scenarios {
namespace {

namespace fs = std::filesystem;

/// A directory of this test alone, gone afterwards.
class Directory {
 public:
  Directory()
      : path_(fs::path(testing::TempDir()) /
              (std::string("adamant_load_") +
               testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Directory() { fs::remove_all(path_); }
  Directory(Directory const&) = delete;
  Directory& operator=(Directory const&) = delete;

  fs::path write(std::string const& name, std::string const& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  fs::path const& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr char const* smallest =
    "adamant: 1\nname: n\nworld: {shard: 3}\nparams: [{name: w, shape: [2]}]\nprogram: [step]\n";

std::string message_from(auto&& call) {
  try {
    call();
  } catch (LoadError const& error) {
    return error.what();
  }
  return "no error";
}

TEST(Load, WhatIsLeftOutHasTheDefaultsOfTheFormat) {
  Scenario const scenario = load_scenario_text(smallest, "f");
  EXPECT_EQ(scenario.layout, Layout::fsdp2);
  EXPECT_EQ(scenario.precision, Precision{});
  EXPECT_EQ(scenario.precision.main, MainType::none);
  EXPECT_EQ(scenario.optimizer.adam,
            (AdamConfig{AdamMode::adamw, 1e-3F, 0.9F, 0.999F, 1e-8F, 0.01F, true}));
  EXPECT_TRUE(scenario.optimizer.decoupled_grad);
  EXPECT_EQ(scenario.optimizer.step_counter, StepCounter::group);
  EXPECT_EQ(scenario.gradients, GradientClass::exact);
  EXPECT_EQ(scenario.microbatch_count(), 3);
  EXPECT_EQ(scenario.seed, std::nullopt);
  EXPECT_EQ(scenario.engine.name, "sim");
  EXPECT_EQ(scenario.expect, Expectation{});
}

TEST(Load, EveryKeyOfTheFormatIsRead) {
  Scenario const s = load_scenario_text(R"(
adamant: 1
name: Optimizer states survive resharding from 4 ranks to 2
about: One paragraph.
source: https://github.com/example/issues/1
seed: 18446744073709551615
world: {shard: 4, replicate: 2}
layout: flat
params:
  - {name: embed.weight, shape: [10, 3]}
  - {name: head.bias, shape: [5], group: no_decay, precision: {param: bf16}}
groups: {no_decay: {weight_decay: 0.0}}
precision:
  param: bf16
  grad: fp32
  main: fp32
  exp_avg: fp16
  exp_avg_sq: fp8
  state_scale: local
optimizer:
  mode: adam
  lr: 2.0e-3
  betas: [0.8, 0.99]
  eps: 1.0e-6
  weight_decay: 0.5
  bias_correction: false
  decoupled_grad: false
  keep_cast_grad: true
  step_counter: parameter
  capturable: true
  clip: 1.5
  loss_scale: 1024
offload: {hybrid: {fraction: 0.25, overlap: false, pin_grads: false}}
gradients: wild
microbatches: 5
program:
  - train: 2
  - backward: {without: [head.bias]}
  - clip
  - step
  - zero_grad: {set_to_none: false}
  - set: {lr: 5.0e-4, clip: none, loss_scale: dynamic}
  - overflow
  - offload
  - reload
  - capture: [backward, step, zero_grad]
  - replay: 3
  - save: ckpt
  - load: {from: ckpt, world: {shard: 2}, layout: bucketed, precision: {main: none}, offload: none}
  - load: ckpt
  - check
engine: {name: torch, options: {implementation: fused, async_save: false}}
schedule: {choices: [0, 4294967295]}
faults:
  - {at: save, rank: 3, after_bytes: 4096, then: crash}
  - {at: load, nth: 1, file: 0, then: flip_byte, byte: 4242}
bug: te_2795
expect: {violates: checkpoint.roundtrip}
)",
                                        "f");
  EXPECT_EQ(s.seed, 18446744073709551615U);
  EXPECT_EQ(s.world, (World{4, 2}));
  EXPECT_EQ(s.params[1].group, "no_decay");
  EXPECT_EQ(s.params[1].line.value, 11);
  EXPECT_EQ(s.groups[0].settings.weight_decay, 0.0F);
  EXPECT_EQ(s.precision, (Precision{ParamType::bf16, GradType::fp32, MainType::fp32,
                                    StateType::fp16, StateType::fp8, StateScale::local}));
  EXPECT_EQ(s.optimizer.adam, (AdamConfig{AdamMode::adam, 2e-3F, 0.8F, 0.99F, 1e-6F, 0.5F, false}));
  EXPECT_EQ(s.optimizer.clip, Clip(1.5F));
  EXPECT_EQ(s.optimizer.loss_scale, (LossScale{LossScale::Kind::fixed, 1024}));
  EXPECT_EQ(s.offload, Offload(HybridOffload{0.25, false, false, true}));
  EXPECT_EQ(s.microbatch_count(), 5);
  ASSERT_EQ(s.program.size(), 15U);
  EXPECT_EQ(s.program[1].action, Action(Backward{{"head.bias"}}));
  EXPECT_EQ(s.program[4].action, Action(ZeroGrad{false}));
  EXPECT_EQ(s.program[4].line.value, 41);
  auto const& change = std::get<Set>(s.program[5].action).change;
  ASSERT_TRUE(change.clip);
  EXPECT_EQ(*change.clip, Clip());
  EXPECT_EQ(change.loss_scale->kind, LossScale::Kind::dynamic);
  EXPECT_EQ(std::get<Capture>(s.program[9].action).body.size(), 3U);
  auto const& load = std::get<Load>(s.program[12].action);
  EXPECT_EQ(load.world, (World{2, 1}));
  EXPECT_EQ(load.offload, Offload());
  EXPECT_EQ(load.types().main, MainType::none);
  EXPECT_EQ(s.engine.options.at(1), std::pair(std::string("async_save"), std::string("false")));
  EXPECT_EQ(s.schedule.choices->at(1), 4294967295U);
  EXPECT_EQ(s.faults[1].byte, 4242);
  EXPECT_EQ(s.bug, "te_2795");
  EXPECT_EQ(s.expect.id, "checkpoint.roundtrip");
}

TEST(Load, AnAliasStandsForWhatItRefersTo) {
  Scenario const s = load_scenario_text(
      "adamant: 1\nname: n\nworld: {shard: 3}\n"
      "params: [{name: a, shape: &s [2, 3]}, {name: b, shape: *s}]\nprogram: [step]\n",
      "f");
  EXPECT_EQ(s.params[1].shape, s.params[0].shape);
}

TEST(Load, ACheckpointBesideTheFileMayBeLoaded) {
  Directory const directory;
  std::string const text = std::string(smallest) + "about: x\n";
  auto const path =
      directory.write("a.yaml", text.substr(0, text.find("program")) + "program: [{load: old}]\n");
  EXPECT_NE(message_from([&] { load_scenario_file(path); }).find("nothing to load"),
            std::string::npos);
  directory.write("old/manifest", "");
  EXPECT_EQ(message_from([&] { load_scenario_file(path); }), "no error");
}

TEST(Load, AFileThatCannotBeReadSaysWhy) {
  Directory const directory;
  auto const missing = (directory.path() / "missing.yaml").string();
  EXPECT_EQ(message_from([&] { load_scenario_file(missing); }),
            missing + ":1: document: cannot be read: No such file or directory");
  EXPECT_EQ(message_from([&] { load_scenario_file(directory.path()); }),
            directory.path().string() + ":1: document: cannot be read: Is a directory");
  auto const large = directory.write("large.yaml", std::string((8U << 20U) + 1, '#'));
  EXPECT_NE(message_from([&] { load_scenario_file(large); }).find("more than 8 MiB"),
            std::string::npos);
}

TEST(Find, DirectoriesAreSearchedForScenariosInOrder) {
  Directory const directory;
  auto const b = directory.write("b.yaml", smallest);
  auto const a = directory.write("sub/a.yml", smallest);
  auto const broken = directory.write("c.yaml", "{{{");
  directory.write("model.yaml",
                  "model: x\nnested: {adamant: 1}\nlist: [adamant]\nvalue: adamant\n");
  directory.write("list.yaml", "- adamant\n");
  directory.write("empty.yaml", "");
  directory.write("notes.txt", smallest);
  EXPECT_EQ(find_scenarios(directory.path()), (std::vector<fs::path>{b, broken, a}));
  EXPECT_EQ(find_scenarios(directory.path() / "notes.txt"),
            std::vector{directory.path() / "notes.txt"});
}

TEST(Find, ADirectoryWithoutScenariosIsAnError) {
  Directory const directory;
  EXPECT_NE(message_from([&] { find_scenarios(directory.path()); }).find("no scenario"),
            std::string::npos);
  EXPECT_NE(message_from([&] { find_scenarios("/nonexistent"); }).find("no such file"),
            std::string::npos);
}

}  // namespace
}  // namespace adamant::scenarios
