// What engines outside the process refuse, by what they say of themselves.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "scenarios/language/laws.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/seam/refusals.h"
#include "scenarios/seam/testing/peer_capabilities.h"

namespace adamant::scenarios {
namespace {

struct PeerRow {
  std::string_view program;  // in flow style, on line 7
  std::string_view rest;     // after the program, from line 8 on
  std::string_view id;       // empty: supported
  int line;
};

Scenario scenario_of(PeerRow const& row, std::string_view world = "{shard: 2}") {
  return load_scenario_text(
      "adamant: 1\nname: n\nworld: " + std::string(world) +
          "\nparams:\n  - {name: w, shape: [4, 2]}\n  - {name: v, shape: [3]}\nprogram: " +
          std::string(row.program) + "\n" + std::string(row.rest) + "\n",
      "file.yaml");
}

void expect(PeerRow const& row, Capabilities const& peer) {
  auto const refusal = refuse(scenario_of(row), peer);
  ASSERT_EQ(refusal.has_value(), !row.id.empty())
      << row.program << row.rest << (refusal ? refusal->message : "");
  if (!refusal) return;
  EXPECT_EQ(refusal->id, row.id) << row.program << row.rest;
  EXPECT_EQ(refusal->line, row.line) << row.program << row.rest;
  EXPECT_TRUE(is_known(refusal->id, refusal_reasons())) << refusal->id;
}

PeerRow const rows_of_capable[] = {
    {"[{train: 2}]", "", "", 0},
    {"[backward, clip, step]", "optimizer: {clip: 1, loss_scale: dynamic}", "", 0},
    {"[step]", "optimizer: {step_counter: parameter}", "", 0},
    {"[step]", "", "unsupported.step_counter", 7},
    {"[{backward: {without: [w]}}, step]", "", "unsupported.step_counter", 7},
    {"[{backward: {without: [w]}}, {backward: {without: [v]}}, step]", "", "", 0},
    {"[backward, zero_grad, step]", "", "unsupported.step_counter", 7},
    {"[backward, {zero_grad: {set_to_none: false}}, step]", "", "", 0},
    {"[backward, {save: a}, {load: a}, step]", "", "unsupported.step_counter", 7},
    {"[{train: 1}]", "optimizer: {decoupled_grad: false}", "", 0},
    {"[{train: 1}]", "optimizer: {decoupled_grad: false}\nprecision: {grad: bf16}",
     "unsupported.decoupled_grad", 8},
    {"[{train: 1}]", "optimizer: {bias_correction: false}", "unsupported.bias_correction", 8},
    {"[{train: 1}]", "groups: {g: {bias_correction: false}}", "unsupported.bias_correction", 0},
    {"[{train: 1}]", "optimizer: {capturable: true}", "unsupported.capturable", 8},
    {"[{train: 1}]", "layout: flat", "unsupported.layout", 8},
    {"[{save: a}, {load: {from: a, layout: bucketed}}]", "", "unsupported.layout", 7},
    {"[{save: a}, {load: {from: a, world: {shard: 2, replicate: 2, outer: optim}}}]", "",
     "unsupported.outer", 7},
    {"[{train: 1}]", "offload: {states: {}}", "unsupported.offload", 8},
    {"[offload]", "", "unsupported.offload", 7},
    {"[{train: 1}]", "precision: {exp_avg: bf16}", "unsupported.precision", 8},
    {"[{train: 1}]", "schedule: {strategy: random}", "unsupported.schedule", 8},
    {"[{train: 1}]", "schedule: {choices: [1]}", "unsupported.schedule", 8},
    {"[{train: 1}]", "bug: mean_not_divided", "unsupported.bug", 8},
    {"[{train: 1}]", "faults: [{at: malloc, then: out_of_memory}]", "unsupported.faults", 8},
    {"[{save: a}]", "faults: [{at: save, then: crash, after_bytes: 3}]", "", 0},
    {"[{save: a}, {load: a}]", "faults: [{at: load, then: flip_byte}]", "", 0},
    {"[{train: 1}]", "engine: {options: {async_save: true, implementation: fused}}", "", 0},
    {"[{train: 1}]", "engine: {options: {async_save: maybe}}", "unsupported.engine_options", 8},
    {"[{train: 1}]", "engine: {options: {format: dcp}}", "unsupported.engine_options", 8},
    {"[{save: a}, {load: {from: a, world: {shard: 2, replicate: 4}}}]", "", "", 0},
    {"[{save: a}, {load: {from: a, world: {shard: 1, replicate: 5}}}]", "", "unsupported.replicate",
     7},
    {"[{save: a}, {load: {from: a, world: {shard: 9}}}]", "", "unsupported.ranks", 7},
    {"[{save: a}, {load: {from: a, order: reversed}}]", "", "", 0},
    {"[{save: a}, {load: {from: a, precision: {param: bf16, main: fp32}}}]", "", "", 0},
    {"[{save: a}, {load: {from: a, precision: {param: bf16}}}]", "", "unsupported.precision", 7},
    {"[{save: a}, {load: {from: a, precision: {main: fp32}}}]", "", "unsupported.duplicate_main",
     7},
    {"[{save: a}, {load: {from: a, precision: {grad: bf16}}}]",
     "optimizer: {decoupled_grad: false}", "unsupported.decoupled_grad", 7},
    // Gradients that the scaler has divided where they are.
    {"[backward, step, step]", "optimizer: {loss_scale: 2}", "unsupported.reused_gradients", 7},
    {"[backward, step, clip]", "optimizer: {loss_scale: 2, clip: 1}",
     "unsupported.reused_gradients", 7},
    {"[backward, step, backward]", "optimizer: {loss_scale: 2}", "unsupported.reused_gradients", 7},
    {"[backward, clip, backward]", "optimizer: {loss_scale: 2, clip: 1}",
     "unsupported.reused_gradients", 7},
    {"[backward, step, {train: 1}]", "optimizer: {loss_scale: 2}", "unsupported.reused_gradients",
     7},
    {"[backward, clip, {set: {loss_scale: 4}}, step]", "optimizer: {loss_scale: 2, clip: 1}",
     "unsupported.reused_gradients", 7},
    {"[backward, step, {set: {loss_scale: none}}, step]", "optimizer: {loss_scale: 2}",
     "unsupported.reused_gradients", 7},
    {"[{set: {loss_scale: none}}, backward, step, backward]", "optimizer: {loss_scale: 2}", "", 0},
    {"[{set: {loss_scale: none}}, {save: a}, {load: a}, backward, step, backward]",
     "optimizer: {loss_scale: 2}", "unsupported.reused_gradients", 7},
    {"[{save: a}, {load: a}, backward, step, backward]", "", "", 0},
    {"[backward, step, zero_grad, backward, step]", "optimizer: {loss_scale: 2}", "", 0},
    {"[backward, step, {save: a}, {load: a}, backward, step]", "optimizer: {loss_scale: 2}", "", 0},
    {"[backward, clip, zero_grad, backward, clip]", "optimizer: {loss_scale: 2, clip: 1}",
     "unsupported.reused_gradients", 7},
    {"[{save: a}, backward, clip, {load: a}]", "optimizer: {loss_scale: 2, clip: 1}",
     "unsupported.reused_gradients", 7},
    {"[clip, zero_grad, backward, clip, step]", "optimizer: {loss_scale: 2, clip: 1}", "", 0},
    {"[backward, clip, step, zero_grad, backward, clip, step]",
     "optimizer: {loss_scale: 2, clip: 1}", "", 0},
    {"[backward, clip, zero_grad]", "optimizer: {clip: 1}", "", 0},
    {"[backward, step, step]", "", "", 0},
    // Gradients whose type a scaler does not divide.
    {"[{train: 1}]", "precision: {param: fp16, grad: fp16}", "", 0},
    {"[{train: 1}]",
     "precision: {param: fp16, grad: fp16}\n"
     "optimizer: {loss_scale: dynamic}",
     "unsupported.loss_scale", 8},
    {"[{set: {loss_scale: 2}}]", "precision: {param: fp16, grad: fp16}", "unsupported.loss_scale",
     8},
    {"[{save: a}, {load: {from: a, precision: {param: fp16, grad: fp16}}}]",
     "optimizer: {loss_scale: 2}", "unsupported.loss_scale", 7},
};

PeerRow const rows_of_modest[] = {
    {"[{train: 1}, {set: {lr: 1}}]", "", "", 0},
    {"[{train: 1}]", "optimizer: {mode: adamw}", "unsupported.optimizer", 8},
    {"[step]", "optimizer: {step_counter: parameter}", "unsupported.step_counter", 7},
    {"[{train: 1}]", "optimizer: {step_counter: parameter}", "", 0},
    {"[{train: 1}]", "optimizer: {clip: 1}", "unsupported.clip", 8},
    {"[{train: 1}]", "optimizer: {loss_scale: 2}", "unsupported.loss_scale", 8},
    {"[{train: 1}]", "gradients: exact", "unsupported.gradients", 8},
    {"[{set: {eps: 1}}]", "", "unsupported.set", 7},
    {"[{set: {clip: 1}}]", "", "unsupported.set", 7},
    {"[{zero_grad: {set_to_none: false}}]", "", "unsupported.zero_grad", 7},
    {"[{save: a}]", "", "unsupported.save", 7},
    {"[{train: 1}]", "faults: [{at: save, then: crash}]", "unsupported.faults", 8},
    {"[{train: 1}]", "engine: {options: {format: dcp}}", "unsupported.engine_options", 8},
};

TEST(PeerSupport, OfACapableEngineIsWhatItSays) {
  for (PeerRow const& row : rows_of_capable) expect(row, capable_peer());
}

TEST(PeerSupport, RefusesParametersInAnotherOrderOfOneThatLoadsThemAsListed) {
  Capabilities peer = capable_peer();
  peer.loads_in_any_order = false;
  expect({"[{save: a}, {load: {from: a, order: reversed}}]", "", "unsupported.order", 7}, peer);
  expect({"[{save: a}, {load: {from: a, order: listed}}]", "", "", 0}, peer);
}

TEST(PeerSupport, OfAModestEngineIsWhatItSays) {
  for (PeerRow row : rows_of_modest) {
    std::string rest(row.rest);
    if (rest.find("gradients:") == std::string::npos) rest += "\ngradients: normal";
    if (rest.find("optimizer:") == std::string::npos) rest += "\noptimizer: {mode: adam}";
    if (auto const at = rest.find("optimizer: {"); rest.find("mode:") == std::string::npos)
      rest.insert(at + 12, "mode: adam, ");
    row.rest = rest;
    expect(row, modest_peer());
  }
}

TEST(PeerSupport, OfWorldsEndsAtTheirLargest) {
  PeerRow const row{"[{train: 1}]", "", "", 0};
  EXPECT_FALSE(refuse(scenario_of(row, "{shard: 2, replicate: 4}"), capable_peer()));
  EXPECT_EQ(refuse(scenario_of(row, "{shard: 3, replicate: 3}"), capable_peer())->id,
            "unsupported.ranks");
  EXPECT_EQ(refuse(scenario_of(row, "{shard: 1, replicate: 5}"), capable_peer())->id,
            "unsupported.replicate");
}

TEST(PeerSupport, SaysWhichOptionsThereAre) {
  PeerRow const row{"[{train: 1}]", "engine: {options: {async_save: maybe}}", "", 0};
  EXPECT_EQ(refuse(scenario_of(row), capable_peer())->message,
            "async_save: maybe is asked for; supported: implementation: single, foreach, fused; "
            "async_save: false, true");
}

TEST(PeerSupport, SaysWhichTypesStandTogether) {
  PeerRow const row{"[{train: 1}]", "precision: {param: bf16}", "", 0};
  std::string const message = refuse(scenario_of(row), capable_peer())->message;
  EXPECT_NE(message.find("supported: param fp32, grad fp32 or bf16, main none, exp_avg and "
                         "exp_avg_sq fp32; or param bf16,"),
            std::string::npos)
      << message;
}

TEST(PeerSupport, KnowsEmptyTensorsAndOwnTypes) {
  PeerRow const row{"[{train: 1}]", "gradients: normal\noptimizer: {mode: adam}", "", 0};
  Scenario scenario = scenario_of(row);
  scenario.params[1].shape = {0, 2};
  EXPECT_FALSE(refuse(scenario, capable_peer()));
  EXPECT_EQ(refuse(scenario, modest_peer())->id, "unsupported.empty_tensor");
  scenario.params[1].precision.grad = GradType::bf16;
  auto const refusal = refuse(scenario, capable_peer());
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->id, "unsupported.precision");
  EXPECT_EQ(refusal->line, 6);
}

TEST(PeerSupport, RefusesWhatParametersAndReplicasAreBesideWhatItOffers) {
  PeerRow const row = {"[{train: 1}]", "", "", 0};
  Scenario scenario = scenario_of(row);
  scenario.params[0].parts = {"a", "b"};
  EXPECT_EQ(refuse(scenario, capable_peer())->id, "unsupported.parts");
  EXPECT_EQ(refuse(scenario, capable_peer())->line, 5);
  scenario.params[0].parts.clear();
  scenario.params[1] = {.name = "v", .tied = "w", .line = {6}};
  EXPECT_EQ(refuse(scenario, capable_peer())->id, "unsupported.tied");
  EXPECT_EQ(refuse(scenario, capable_peer())->line, 6);
  EXPECT_EQ(refuse(scenario_of(row, "{shard: 1, replicate: 2, outer: optim}"), capable_peer())->id,
            "unsupported.outer");
  Capabilities able = capable_peer();
  able.parts = able.tied = true;
  able.outers = {Outer::none, Outer::optim};
  scenario.params[0].parts = {"a", "b"};
  scenario.world = {.shard = 1, .replicate = 2, .outer = Outer::optim};
  EXPECT_FALSE(refuse(scenario, able));
}

}  // namespace
}  // namespace adamant::scenarios
