// What is refused, with which id and at which line; read from YAML so that lines are those of a
// file.
#include "scenarios/seam/refusals.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "scenarios/language/laws.h"
#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {
namespace {

struct Row {
  std::string_view params;   // lines 4 and following; empty: the usual two
  std::string_view program;  // in flow style
  std::string_view rest;     // after the program, on line 7
  std::string_view id;       // empty: supported
  int line;
};

std::string text_of(Row const& row) {
  auto const params = row.params.empty() ? "{name: w, shape: [4, 2]}" : row.params;
  return "adamant: 1\nname: n\nworld: {shard: 2}\nparams:\n  - " + std::string(params) +
         "\nprogram: " + std::string(row.program) + "\n" + std::string(row.rest) + "\n";
}

Row const rows[] = {
    {"", "[step]", "", "", 0},
    {"", "[{backward: {without: [w]}}, step, zero_grad, {train: 2}, {set: {lr: 1}}, check]", "", "",
     0},
    {"", "[step]", "optimizer: {mode: adam, step_counter: parameter, decoupled_grad: false}", "",
     0},
    {"", "[step]", "precision: {param: fp32, state_scale: local}", "", 0},
    {"", "[step]", "engine: {name: sim-unchecked}", "", 0},
    {"", "[step]", "engine: {name: cuda}", "", 0},
    {"", "[step]", "schedule: {strategy: pct, seed: 1, depth: 3}", "", 0},
    {"", "[step]", "schedule: {choices: [1, 2]}", "", 0},
    {"", "[{set: {clip: none}}]", "gradients: wild", "", 0},
    {"", "[clip]", "optimizer: {clip: 1.0}", "", 0},
    {"", "[{set: {clip: 1}}, clip, overflow]", "", "", 0},
    {"", "[step]", "optimizer: {loss_scale: dynamic}", "", 0},
    {"", "[{set: {loss_scale: 2}}]", "", "", 0},
    {"{name: s, shape: []}", "[step]", "", "scalar_parameter", 5},
    {"{name: s, shape: []}", "[clip]", "layout: flat", "scalar_parameter", 5},
    {"", "[step]", "precision: {main: fp32}", "unsupported.duplicate_main", 7},
    {"", "[step]", "precision: {param: bf16, main: bf16}", "unsupported.duplicate_main", 7},
    {"{name: w, shape: [2], precision: {main: fp32}}", "[step]", "", "unsupported.duplicate_main",
     5},
    {"{name: w, shape: [2], precision: {param: bf16}}", "[step]", "", "", 0},
    {"", "[step]", "precision: {grad: bf16}", "", 0},
    {"", "[step]", "precision: {param: bf16, main: fp32}", "", 0},
    {"", "[step]", "precision: {param: fp16, grad: bf16, exp_avg: bf16}", "", 0},
    {"{name: w, shape: [2], precision: {param: mxfp8}}", "[step]", "", "unsupported.quantised_main",
     5},
    {"", "[step]", "precision: {param: bf16, main: remainder}", "", 0},
    {"", "[step]", "precision: {exp_avg: fp8, state_scale: none}", "unsupported.state_scale", 7},
    {"", "[step]", "precision: {exp_avg: fp16, state_scale: none}", "unsupported.precision", 7},
    {"", "[step]", "precision: {exp_avg: bf16, state_scale: none}", "", 0},
    {"", "[step]", "precision: {param: fp32, main: bf16}", "unsupported.narrow_main", 7},
    {"", "[step]", "precision: {param: fp32, main: fp16}", "unsupported.narrow_main", 7},
    {"", "[step]", "precision: {param: fp16, main: bf16}", "", 0},
    {"", "[{save: a}, {load: {from: a, precision: {param: fp16, main: remainder}}}]", "",
     "unsupported.remainder", 6},
    {"", "[{save: a}, {load: {from: a, precision: {main: bf16}}}]", "", "unsupported.narrow_main",
     6},
    {"", "[step]", "precision: {param: bf16, main: fp16}", "", 0},
    {"", "[step]", "precision: {param: fp16, main: fp16}", "unsupported.duplicate_main", 7},
    {"", "[step]", "precision: {param: fp32, main: remainder}", "unsupported.remainder", 7},
    {"", "[step]", "precision: {param: nvfp4, main: remainder}", "unsupported.remainder", 7},
    {"{name: w, shape: [2], precision: {main: fp32}}\n"
     "  - {name: x, shape: [2], precision: {main: remainder}}",
     "[step]", "", "unsupported.remainder", 6},
    {"{name: w, shape: [4], precision: {param: mxfp8, main: fp32}}\n"
     "  - {name: x, shape: [2], precision: {main: fp32}}",
     "[step]", "", "unsupported.duplicate_main", 6},
    {"", "[step]", "precision: {param: nvfp4, main: bf16}", "unsupported.quantised_main", 7},
    {"", "[step]", "precision: {param: fp8_delayed}", "unsupported.quantised_main", 7},
    {"", "[step]", "precision: {param: fp8_current, main: fp32}", "", 0},
    {"{name: w, shape: [32, 16], precision: {param: mxfp8, main: fp32}}", "[step]", "",
     "unsupported.recipe_shape", 5},
    {"{name: w, shape: [4], precision: {param: fp8_current, main: fp32}}", "[step]", "",
     "unsupported.recipe_shape", 5},
    {"{name: w, shape: [4, 8, 32], precision: {param: mxfp8, main: fp32}}", "[step]", "", "", 0},
    {"{name: w, shape: [4], precision: {param: mxfp8}}", "[step]", "", "unsupported.quantised_main",
     5},
    {"", "[step]", "precision: {exp_avg: fp16}", "", 0},
    {"", "[step]", "precision: {exp_avg_sq: fp8}", "", 0},
    {"", "[backward, clip]", "", "unsupported.clip_without_norm", 6},
    {"", "[{set: {clip: none}}, clip]", "optimizer: {clip: 1.0}", "unsupported.clip_without_norm",
     6},
    {"", "[{replay: 1}]", "optimizer: {capturable: true}", "unsupported.replay_without_capture", 6},
    {"", "[{capture: [step]}]", "", "unsupported.capture_not_capturable", 6},
    {"", "[{capture: [{capture: [step]}]}]", "optimizer: {capturable: true}",
     "unsupported.nested_capture", 6},
    {"", "[{capture: [{set: {lr: 1}}]}]", "optimizer: {capturable: true}",
     "unsupported.captured_operation", 6},
    {"", "[{capture: [backward]}]", "optimizer: {capturable: true}\ngradients: normal",
     "unsupported.captured_gradients", 6},
    {"", "[{capture: [step]}]",
     "optimizer: {capturable: true, decoupled_grad: false}\nprecision: {grad: bf16}",
     "unsupported.captured_cast_gradient", 6},
    {"", "[reload]", "", "unsupported.reload_resident", 6},
    {"", "[offload, reload, reload]", "", "unsupported.reload_resident", 6},
    {"", "[offload]", "offload: {hybrid: {}}", "unsupported.both_offloads", 6},
    {"", "[reload]", "offload: {hybrid: {}}", "unsupported.both_offloads", 6},
    {"", "[step]", "offload: {states: {moments: false, main: false}}", "unsupported.offload", 7},
    {"", "[step]", "layout: flat", "", 0},
    {"", "[step]", "layout: bucketed", "", 0},
    {"{name: w, shape: [4, 536870912]}", "[step]", "layout: bucketed", "", 0},
    {"{name: w, shape: [1, 1073741827]}", "[step]", "layout: flat", "", 0},
    {"{name: w, shape: [1, 1073741827]}\n  - {name: v, shape: [1, 11]}", "[step]",
     "layout: bucketed", "unsupported.layout_padding", 8},
    {"{name: w, shape: [1, 1073741827]}\n  - {name: h.0.v, shape: [1, 11]}", "[step]",
     "layout: bucketed", "", 0},
    {"{name: w, shape: [1, 1073741827]}\n  - {name: v, shape: [1, 11]}",
     "[{save: a}, {load: {from: a, layout: bucketed}}]", "", "unsupported.layout_padding", 7},
    {"{name: w, shape: [4], parts: [a, b]}\n  - {name: v, tied: w}", "[{train: 1}]", "", "", 0},
    {"", "[{capture: [overflow]}]", "optimizer: {capturable: true}",
     "unsupported.captured_operation", 6},
    {"", "[{capture: [clip, {train: 2}]}, overflow, {replay: 1}]",
     "optimizer: {capturable: true, clip: 1, loss_scale: dynamic}", "", 0},
    {"", "[{capture: [clip]}, {set: {clip: none}}, {replay: 1}]",
     "optimizer: {capturable: true, clip: 1}", "unsupported.clip_without_norm", 6},
    {"", "[{capture: [train: 1]}, {set: {clip: none}}, {replay: 1}]",
     "optimizer: {capturable: true, clip: 1}", "unsupported.clip_without_norm", 6},
    {"", "[{capture: [backward]}]", "optimizer: {capturable: true, loss_scale: 3}",
     "unsupported.captured_gradients", 6},
    {"", "[{capture: [step]}]", "optimizer: {capturable: true, loss_scale: 3}", "", 0},
    {"", "[{capture: [backward]}, {set: {loss_scale: 0.1}}]", "optimizer: {capturable: true}",
     "unsupported.captured_gradients", 6},
    {"", "[step]", "engine: {name: torch}", "unsupported.engine", 7},
    {"", "[step]", "engine: {name: 'exec:./mine --fast'}", "unsupported.engine", 7},
    {"", "[step]", "engine: {options: {format: dcp}}", "unsupported.engine_options", 7},
    {"", "[step]", "schedule: {strategy: exhaustive}", "unsupported.schedule", 7},
    {"", "[step]", "faults: [{at: malloc, then: out_of_memory}]", "", 0},
    {"", "[step]", "faults: [{at: malloc, then: crash}]", "unsupported.faults", 7},
    {"", "[{save: a}, {load: a}]", "faults: [{at: load, then: flip_byte}]", "", 0},
    {"", "[{save: a}, {load: a}]", "faults: [{at: load, then: crash}]", "unsupported.faults", 7},
    {"", "[{save: a}, {load: a}]", "faults: [{at: load, then: stale_file}]", "unsupported.faults",
     7},
    {"", "[{save: a}, {save: a}, {load: a}]", "faults: [{at: load, then: stale_file}]", "", 0},
    {"", "[{save: a}, {load: {from: a, layout: flat}}]", "", "", 0},
    {"", "[{save: a}, {load: {from: a, world: {shard: 2, replicate: 2, outer: optim}}}]", "", "",
     0},
    {"", "[{capture: [{train: 1}]}, {save: a}, {load: a}, {replay: 1}]",
     "optimizer: {capturable: true}", "", 0},
    {"", "[{capture: [{train: 1}]}, {save: a}, {load: {from: a, world: {shard: 2}}}, {replay: 1}]",
     "optimizer: {capturable: true}", "unsupported.replay_without_capture", 6},
    {"", "[{capture: [{train: 1}]}, {save: a}, {load: {from: a, layout: flat}}, {replay: 1}]",
     "optimizer: {capturable: true}", "unsupported.replay_without_capture", 6},
    {"", "[{capture: [{train: 1}]}, {save: a}, {load: {from: a, order: listed}}, {replay: 1}]",
     "optimizer: {capturable: true}", "unsupported.replay_without_capture", 6},
    {"", "[{capture: [{train: 1}]}, {save: a}, {load: {from: a, precision: {}}}, {replay: 1}]",
     "optimizer: {capturable: true}", "unsupported.replay_without_capture", 6},
    {"", "[{capture: [{train: 1}]}, {save: a}, {load: {from: a, offload: none}}, {replay: 1}]",
     "optimizer: {capturable: true}", "unsupported.replay_without_capture", 6},
    {"",
     "[{capture: [{train: 1}]}, {save: a}, {load: {from: a, precision: {param: bf16}}}, "
     "{replay: 1}]",
     "optimizer: {capturable: true}", "unsupported.replay_without_capture", 6},
    {"",
     "[{capture: [{train: 1}]}, {save: a}, {load: {from: a, order: reversed}}, {capture: [step]}, "
     "{replay: 1}]",
     "optimizer: {capturable: true}", "", 0},
    {"", "[{save: a}, {load: {from: a, offload: {states: {}}}}]", "optimizer: {capturable: true}",
     "unsupported.capturable", 6},
    {"", "[{save: a}, offload]", "optimizer: {capturable: true}", "unsupported.capturable", 6},
    {"", "[{save: a}, {load: {from: a, precision: {grad: bf16}}}, {capture: [step]}]",
     "optimizer: {capturable: true, decoupled_grad: false}", "unsupported.captured_cast_gradient",
     6},
    {"", "[offload, reload, {save: a}, {load: {from: a, layout: flat}}, reload]",
     "offload: {states: {}}", "", 0},
    {"", "[{save: a}, {load: {from: a, precision: {param: bf16}}}]", "", "", 0},
    {"", "[{save: a}, {load: {from: a, offload: {states: {moments: false, main: false}}}}]", "",
     "unsupported.offload", 6},
    {"", "[{save: a}, {load: {from: a, offload: {hybrid: {}}}}, offload]", "",
     "unsupported.both_offloads", 6},
    {"", "[{save: a}, offload, {load: {from: a, world: {shard: 3}}}, reload]", "",
     "unsupported.reload_resident", 6},
    {"", "[{save: a}, {load: {from: a, offload: {states: {}}}}, reload]", "", "", 0},
    {"", "[{save: a}, {load: {from: a, offload: none}}, offload]", "offload: {hybrid: {}}", "", 0},
    {"", "[{save: a}, {load: {from: a, order: reversed}}]", "", "", 0},
    {"", "[{save: a}, {load: {from: a, order: listed}}]", "", "", 0},
    {"", "[{save: a}]", "engine: {name: cuda}", "", 0},
    {"", "[step]", "engine: {name: cuda}\nschedule: {strategy: random}", "unsupported.schedule", 8},
    {"", "[{save: a}]", "", "", 0},
    {"", "[{save: a}, {load: {from: a, world: {shard: 3}}}]", "", "", 0},
    {"", "[{save: a}, {load: a}]", "optimizer: {clip: 1, loss_scale: dynamic}", "", 0},
    {"", "[{save: a}, {load: a}, {set: {clip: 2, loss_scale: 3}}]", "optimizer: {clip: 1}", "", 0},
    {"", "[{save: a}, {load: a}, {set: {clip: none}}]", "optimizer: {clip: 1}", "", 0},
    {"", "[{save: a}, {set: {clip: none}}, {load: a}, clip]", "optimizer: {clip: 1}", "", 0},
    {"", "[{set: {clip: none}}, {save: a}, {set: {clip: 2}}, {load: a}, clip]",
     "optimizer: {clip: 1}", "unsupported.clip_without_norm", 6},
    {"", "[{save: a}, {set: {clip: 1}}, {save: a}, {load: a}, clip]", "", "", 0},
    {"", "[{save: a}, {set: {clip: 1}}, {save: a}, {load: a}, clip]",
     "faults: [{at: save, nth: 2, then: crash}]", "", 0},  // it shows when it is reached
    {"", "[{capture: [clip]}, {save: a}, {set: {clip: none}}, {load: a}, {replay: 1}]",
     "optimizer: {capturable: true, clip: 1}", "", 0},
    {"", "[{save: a}, {set: {clip: 1}}, {capture: [train: 1]}, {load: a}, {replay: 1}]",
     "optimizer: {capturable: true}", "unsupported.clip_without_norm", 6},
    {"", "[{set: {loss_scale: 2}}, {save: a}]", "", "", 0},
};

/// By the engine that the scenario names, which need not be known.
std::optional<Refusal> refuse_here(Scenario const& scenario) {
  auto const* const capabilities = capabilities_in_process(scenario.engine.name);
  return refuse(scenario, capabilities == nullptr ? Capabilities() : *capabilities);
}

TEST(Support, RefusesWithTheMostTellingReasonAtItsLine) {
  for (Row const& row : rows) {
    auto const refusal = refuse_here(load_scenario_text(text_of(row), "file.yaml"));
    ASSERT_EQ(refusal.has_value(), !row.id.empty()) << text_of(row);
    if (!refusal) continue;
    EXPECT_EQ(refusal->id, row.id) << text_of(row);
    EXPECT_EQ(refusal->line, row.line) << text_of(row);
    EXPECT_TRUE(is_known(refusal->id, refusal_reasons())) << refusal->id;
    EXPECT_FALSE(refusal->message.empty());
  }
}

TEST(Support, NamesTheParameterWhoseTypesALoadCannotLeadTo) {
  Row const row = {
      "{name: w, shape: [2], precision: {param: bf16, main: fp32}}\n"
      "  - {name: x, shape: [2]}",
      "[{save: a}, {load: {from: a, precision: {main: bf16}}}]", "", "", 0};
  std::string const message = refuse_here(load_scenario_text(text_of(row), "file.yaml"))->message;
  EXPECT_TRUE(message.starts_with("after a load, parameter `x`: ")) << message;
}

TEST(Support, ADirectorysManifestSaysWhetherThereIsANormToClipTo) {
  Scenario scenario;
  scenario.params.push_back({.name = "w", .shape = {4}});
  scenario.program = {{.action = Load{.from = "theirs"}, .line = {}},
                      {.action = ClipNorm{}, .line = {}}};
  auto const refusal_with = [&](Clip const& before, std::optional<FoundManifest> const& found) {
    scenario.optimizer.clip = before;
    std::get<Load>(scenario.program.front().action).found = found;
    auto const refusal = refuse_here(scenario);
    return refusal ? refusal->id : "";
  };
  EXPECT_EQ(refusal_with({}, {}), "unsupported.clip_without_norm");
  EXPECT_EQ(refusal_with(1.0F, {}), "");
  EXPECT_EQ(refusal_with(1.0F, FoundManifest{}), "unsupported.clip_without_norm");
  EXPECT_EQ(refusal_with({}, FoundManifest{.clip = 2.0F}), "");
  SettingsChange norm;
  norm.clip = Clip(2.0F);
  scenario.program.insert(scenario.program.begin(), {.action = Set{norm}, .line = {}});
  auto& load = std::get<Load>(scenario.program[1].action);
  load.found.reset();
  scenario.optimizer.clip.reset();
  EXPECT_FALSE(refuse_here(scenario).has_value()) << "it stays in force";
  load.anew = true;
  EXPECT_TRUE(refuse_here(scenario).has_value()) << "a new job has the scenario's";
}

TEST(Support, RefusesGraphsBehindALoadThatMayBringALossScaleThatRounds) {
  Scenario scenario;
  scenario.params.push_back({.name = "w", .shape = {4}});
  scenario.optimizer.capturable = true;
  scenario.program = {{.action = Capture{.body = {{.action = Train{}}}}},
                      {.action = Load{.from = "theirs"}}};
  EXPECT_FALSE(refuse_here(scenario).has_value());
  scenario.program.push_back({.action = Replay{}});
  auto const refusal = refuse_here(scenario);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->id, "unsupported.captured_gradients");
}

TEST(Support, TakesReplicasThatShareOutStates) {
  EXPECT_FALSE(refuse_here(
      load_scenario_text("adamant: 1\nname: n\nworld: {shard: 2, replicate: 2, outer: optim}\n"
                         "params: [{name: w, shape: [1]}]\nprogram: [step]\n",
                         "file.yaml")));
}

}  // namespace
}  // namespace adamant::scenarios
