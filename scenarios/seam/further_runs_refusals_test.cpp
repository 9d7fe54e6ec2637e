// Law:        further runs that need not come to the same, or cannot be made, are refused; others
//             are not.
#include "scenarios/seam/refusal_parts.h"

#include <gtest/gtest.h>

#include <string>

#include "scenarios/language/yaml/load.h"
#include "scenarios/seam/engine.h"
#include "scenarios/seam/refusals.h"
#include "scenarios/seam/testing/peer_capabilities.h"

namespace adamant::scenarios {
namespace {

struct Case {
  std::string program;
  std::string keys;
  std::string said;  // a part of the message; empty: nothing is refused
};

std::optional<Refusal> refusal_of(Case const& each) {
  std::string const worlds =
      each.keys.find("worlds:") == std::string::npos ? "world: {shard: 2}\n" : "";
  Scenario const scenario =
      load_scenario_text("adamant: 1\nname: x\n" + worlds +
                             "params: [{name: w, shape: [64, 64]}]\nprogram: " + each.program +
                             "\n" + each.keys + "\n",
                         "x.yaml");
  return refuse(scenario, *capabilities_in_process("sim"));
}

void expect(Case const& each) {
  auto const refusal = refusal_of(each);
  if (each.said.empty()) {
    EXPECT_FALSE(refusal) << each.program << each.keys << refusal->message;
    return;
  }
  ASSERT_TRUE(refusal) << each.program << each.keys;
  EXPECT_EQ(refusal->id, "unsupported.again") << refusal->message;
  EXPECT_NE(refusal->message.find(each.said), std::string::npos) << refusal->message;
}

TEST(FurtherRunsSupport, OtherWorldsNeedSumsThatDoNotRound) {
  expect({"[{train: 1}]", "worlds: [1, 2]", ""});
  expect({"[{train: 1}]", "worlds: [1, 2]\ngradients: normal", "exact gradients"});
  expect({"[{train: 1}]", "worlds: [1, 2]\noptimizer: {clip: 1.0}", "a norm"});
  expect({"[{set: {clip: 1.0}}, {train: 1}]", "worlds: [1, 2]", "a norm"});
  expect({"[{train: 1}]", "worlds: [1, 2]\noptimizer: {loss_scale: 1000}", "loss scale round"});
  expect({"[overflow, {train: 1}]", "worlds: [1, 2]", "an overflow"});
  expect({"[overflow, {train: 1}]", "worlds: [1, 2]\noptimizer: {loss_scale: 2}", ""});
}

// At 65536 a gradient of one rank overflows in fp16 by how many microbatches are in it.
TEST(FurtherRunsSupport, OtherWorldsNeedGradientsOfRanksThatDoNotOverflow) {
  auto const with_scale = [](std::string const& scale) {
    return load_scenario_text(
        "adamant: 1\nname: x\nworlds: [4, 1]\n"
        "params: [{name: w, shape: [4]}]\nprogram: [{train: 1}]\n"
        "precision: {param: fp16, main: fp32}\nengine: {name: torch}\n"
        "optimizer: {loss_scale: " +
            scale + "}\n",
        "x.yaml");
  };
  Capabilities peer = capable_peer();
  peer.promises = {Promise::worlds};
  for (auto const type : {GradientType::param, GradientType::both}) {
    peer.gradient_type = type;
    auto const refusal = refuse(with_scale("65536"), peer);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->id, "unsupported.again") << refusal->message;
    EXPECT_FALSE(refuse(with_scale("8"), peer));
  }
  peer.gradient_type = GradientType::grad;
  EXPECT_FALSE(refuse(with_scale("65536"), peer));
}

TEST(FurtherRunsSupport, ScalesOfRanksAreNotTheSameInOtherWorlds) {
  std::string const local = "precision: {exp_avg: fp8, state_scale: local}\n";
  expect({"[{train: 1}]", local + "worlds: [1, 2]", "a scale"});
  expect({"[{train: 1}]", "precision: {exp_avg: fp8}\nworlds: [1, 2]", ""});
  expect({"[{train: 1}]", local + "again: [{resumed_after: 1, through: [1]}]", "a scale"});
  expect({"[{train: 1}]", local + "again: [{resumed_after: 1}]", ""});
  expect({"[{train: 1}]", "precision: {param: mxfp8, main: fp32}\nworlds: [1, 2]", "a scale"});
  expect(
      {"[{train: 1}, {save: a}, {load: {from: a, precision: {exp_avg: fp8, state_scale: "
       "local}}}]",
       "worlds: [1, 2]", "a scale"});
}

TEST(FurtherRunsSupport, AResumptionNeedsAllOfTheStateInACheckpoint) {
  std::string const program = "[backward, step, zero_grad, {train: 1}]";
  for (char const* const entry : {"0", "3", "4"})
    expect({program, std::string("again: [{resumed_after: ") + entry + "}]", ""});
  for (char const* const entry : {"1", "2"})
    expect({program, std::string("again: [{resumed_after: ") + entry + "}]", "after entry"});
  expect({"[backward, {zero_grad: {set_to_none: false}}, step]", "again: [{resumed_after: 2}]",
          "the gradients"});
  expect({"[{zero_grad: {set_to_none: false}}, step]", "again: [{resumed_after: 1}]",
          "the gradients"});
  expect({"[overflow, {train: 1}]", "optimizer: {loss_scale: 2}\nagain: [{resumed_after: 1}]",
          "its overflow"});
  expect({"[{capture: [step]}, {replay: 1}]",
          "optimizer: {capturable: true}\nagain: [{resumed_after: 0}]", "a graph"});
  expect({"[{train: 1}, offload, reload]", "offload: {states: {}}\nagain: [{resumed_after: 1}]",
          "back to the device"});
}

TEST(FurtherRunsSupport, NormsAndRoundedSumsDependOnTheOrderOfRegistration) {
  std::string const reversed = "again: [{resumed_after: 1, order: reversed}]";
  expect({"[{train: 2}]", reversed, ""});
  expect({"[{train: 2}]", "optimizer: {clip: 1.0}\nagain: [{resumed_after: 1}]", ""});
  expect({"[{train: 2}]", "optimizer: {clip: 1.0}\n" + reversed, "a norm"});
  expect({"[{train: 1}, {set: {clip: 1.0}}, {train: 1}]", reversed, "a norm"});
  expect({"[{train: 2}]", "gradients: normal\nagain: [{resumed_after: 1}]", ""});
  expect({"[{train: 2}]", "gradients: wild\n" + reversed, "sums round"});
  expect({"[{train: 2}]", "optimizer: {loss_scale: 3}\n" + reversed, "sums round"});
}

TEST(FurtherRunsSupport, FaultsHappenToOneRun) {
  expect({"[{save: a}, {load: a}]", "again: [{}]\nfaults: [{at: load, file: 0, then: remove_file}]",
          "faults"});
}

TEST(FurtherRunsSupport, EachHasToBeOneThatTheEngineRuns) {
  Scenario const scenario = load_scenario_text(
      "adamant: 1\nname: x\nworlds: [1, 9]\nparams: [{name: w, shape: [4]}]\n"
      "program: [{train: 1}]\nengine: {name: torch}\n",
      "x.yaml");
  Capabilities peer = capable_peer();
  auto const refusal = refuse(scenario, peer);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->id, "unsupported.ranks");
  peer.ranks_max = 9;
  EXPECT_FALSE(refuse(scenario, peer));
}

}  // namespace
}  // namespace adamant::scenarios
