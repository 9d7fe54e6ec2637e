// Malformed scenarios, one row each: what is changed in a good one, and the line, key and words
// that the message must then have.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {
namespace {

std::vector<std::string> good_lines() {
  return {"adamant: 1",
          "name: A good one",
          "world: {shard: 2}",
          "params:",
          "  - {name: w, shape: [4, 2]}",
          "program:",
          "  - step"};
}

struct Row {
  int line;                   // which line is replaced; 8: one is added
  std::string_view text;      // by what; empty: by nothing
  int reported_line;          // where the message must point
  std::string_view key;       // at which key
  std::string_view fragment;  // and some of its words
};

std::string source_of(Row const& row) {
  auto lines = good_lines();
  lines.resize(8);
  lines[static_cast<std::size_t>(row.line) - 1] = row.text;
  std::string text;
  for (std::string const& line : lines) {
    if (!line.empty()) text += line + "\n";
  }
  return text;
}

std::string message_of(std::string const& text) {
  try {
    load_scenario_text(text, "file.yaml");
  } catch (LoadError const& error) {
    return error.what();
  }
  return "no error";
}

std::string first_line(std::string const& text) {
  return text.substr(0, text.find('\n'));
}

using std::string_view_literals::operator""sv;

Row const rows[] = {
    // the document
    {1, "adamant: 2", 1, "adamant",
     "expected 1, the only version of the format, found the integer `2`"},
    {1, "adamant: one", 1, "adamant", "found the text `one`"},
    {1, "adamant: 1.0", 1, "adamant", "found the number `1.0`"},
    {1, "", 1, "adamant", "required but missing"},
    {2, "", 1, "name", "required but missing"},
    {3, "", 1, "world", "required but missing"},
    {2, "name: 5", 2, "name",
     "expected text (put it in quotes to make it text), found the integer `5`"},
    {2, "name: true", 2, "name", "found the boolean `true`"},
    {2, "name:", 2, "name", "expected text, found nothing"},
    {2, "name: [a]", 2, "name", "expected text, found a list"},
    {8, "colour: red", 8, "colour", "unknown key; known: adamant, name"},
    {8, "optimiser: {}", 8, "optimiser", "did you mean `optimizer`?"},
    {8, "microbatch: 3", 8, "microbatch", "did you mean `microbatches`?"},
    {8, "name: again", 8, "name", "this key occurs twice"},
    {8, "? [a]\n: b", 8, "document", "expected a key, which is a scalar"},
    {8, "---\nadamant: 1", 8, "document", "expected one document"},
    {8, "about: !special x", 8, "about", "custom tags are not allowed"},
    {8, "about: !!int x", 8, "about", "!!int does not fit"},
    {8, "groups: &g {a: *g}", 8, "groups.a", "cyclic aliases"},
    {8, "groups: *nowhere", 8, "groups", "the referenced anchor is not defined"},
    {8, "about: \"open", 8, "about", "wrong YAML syntax"},
    {8, "about: [1, 2", 8, "about[2]", "wrong YAML syntax"},
    {8, "about: a\0b"sv, 8, "document", "control character 0"},
    {8, "about: \xff", 8, "document", "expected UTF-8, found the byte 255"},
    {8, "about: \xc0\x80", 8, "document", "expected UTF-8, found the byte 192"},
    {8, "about: \xed\xa0\x80", 8, "document", "expected UTF-8, found the byte 237"},
    {8, "about: x\x1b[31m", 8, "document", "control character 27"},
    {8, "seed: -1", 8, "seed",
     "expected an integer in 0 ... 18446744073709551615, found the integer `-1`"},
    {8, "seed: 18446744073709551616", 8, "seed", "expected an integer in 0"},
    {8, "seed: 1.5", 8, "seed", "found the number `1.5`"},
    // world and layout
    {3, "world: {}", 3, "world.shard", "required but missing"},
    {3, "world: {shard: 0}", 3, "world.shard",
     "expected an integer in 1 ... 1048576, found the integer `0`"},
    {3, "world: {shard: -4}", 3, "world.shard", "found the integer `-4`"},
    {3, "world: {shard: 1048577}", 3, "world.shard", "expected an integer in 1 ... 1048576"},
    {3, "world: {shard: 99999999999999999999}", 3, "world.shard", "expected an integer in 1"},
    {3, "world: {shard: 2, replicate: 0}", 3, "world.replicate", "expected an integer in 1"},
    {3, "world: {shard: two}", 3, "world.shard", "found the text `two`"},
    {3, "world: {shard: 2.0}", 3, "world.shard", "found the number `2.0`"},
    {8, "optimizer: {learning_rate: 0.1}", 8, "optimizer.learning_rate", "did you mean `lr`?"},
    {8, "optimizer: {mode: AdamW}", 8, "optimizer.mode", "did you mean `adamw`?"},
    {8, "precision: {param: torch.BFloat16}", 8, "precision.param", "did you mean `bf16`?"},
    {8, "optimizer: {beta1: 0.9}", 8, "optimizer.beta1", "did you mean `betas`?"},
    {8, "optimizer: {max_grad_norm: 1}", 8, "optimizer.max_grad_norm", "did you mean `clip`?"},
    {8, "precision: {param: bfloat16}", 8, "precision.param", "did you mean `bf16`?"},
    {8, "precision: {param: torch.bfloat16}", 8, "precision.param", "did you mean `bf16`?"},
    {8, "precision: {exp_avg: torch.float8_e4m3fn}", 8, "precision.exp_avg", "did you mean `fp8`?"},
    {3, "world: {shards: 2}", 3, "world.shards", "did you mean `shard`?"},
    {3, "world: 2", 3, "world",
     "expected a map with keys among shard, replicate or outer, found the integer `2`"},
    {8, "layout: fsdp3", 8, "layout",
     "expected fsdp2, flat or bucketed, found the text `fsdp3` (did you mean `fsdp2`?)"},
    {8, "layout: 2", 8, "layout", "found the integer `2`"},
    {3, "world: {shard: 2, outer: all}", 3, "world.outer", "expected none or optim"},
    // params
    {5, "  []", 5, "params", "expected at least one parameter"},
    {5, "  - w", 5, "params[0]", "expected a map with keys among name, shape"},
    {5, "  - {shape: [4]}", 5, "params[0].name", "required but missing"},
    {5, "  - {name: w}", 5, "params[0].shape", "required but missing"},
    {5, "  - {name: w, shape: 4}", 5, "params[0].shape", "expected a list of sizes"},
    {5, "  - {name: w, shape: [-1]}", 5, "params[0].shape[0]",
     "expected an integer in 0 ... 1099511627776"},
    {5, "  - {name: w, shape: [1099511627777]}", 5, "params[0].shape[0]",
     "expected an integer in 0"},
    {5, "  - {name: w, shape: [1099511627776, 1099511627776]}", 5, "params[0].shape",
     "at most 2^60 elements"},
    {5, "  - {name: w, shape: [0, 9999999999999, 9999999999999]}", 5, "params[0].shape",
     "at most 2^60 elements"},
    {5, "  - {name: w, shape: [4, x]}", 5, "params[0].shape[1]", "found the text `x`"},
    {5, "  - {name: w, shape: [4.5]}", 5, "params[0].shape[0]", "found the number `4.5`"},
    {5, "  - {name: w, shape: [,]}", 5, "params[0].shape[0]", "found nothing"},
    {5, "  - {name: 'a b', shape: [4]}", 5, "params[0].name", "expected a name like"},
    {5, "  - {name: a..b, shape: [4]}", 5, "params[0].name", "without `..`"},
    {5, "  - {name: .a, shape: [4]}", 5, "params[0].name", "expected a name like"},
    {5, "  - {name: ../a, shape: [4]}", 5, "params[0].name", "expected a name like"},
    {5, "  - {name: \"a\\nb\", shape: [4]}", 5, "params[0].name", "found the text `a?b`"},
    {5, "  - {name: w, shape: [4]}\n  - {name: w, shape: [4]}", 6, "params[1].name",
     "listed twice"},
    {5, "  - {name: w, shape: [4], group: g}", 5, "params[0].group", "no group `g` is defined"},
    {5, "  - {name: w, shape: [4], dtype: bf16}", 5, "params[0].dtype", "unknown key"},
    {5, "  - {name: w, shape: [4], precision: {param: bf17}}", 5, "params[0].precision.param",
     "did you mean `bf16`?"},
    {5, "  - {name: w, shape: [4], parts: []}", 5, "params[0].parts",
     "expected at least one part; leave out the key"},
    {5, "  - {name: w, shape: [4], parts: gate}", 5, "params[0].parts",
     "expected a list of names of parts"},
    {5, "  - {name: w, shape: [4], parts: [a, b, a]}", 5, "params[0].parts[2]",
     "the part `a` is listed twice"},
    {5, "  - {name: w, shape: [4], parts: [a/b]}", 5, "params[0].parts[0]", "expected a name like"},
    {5, "  - {name: w, shape: [4, 2], parts: [a, b, c]}", 5, "params[0].parts",
     "expected as many parts as cut 4 rows into equal ones, found 3"},
    {5, "  - {name: w, shape: [], parts: [a]}", 5, "params[0].parts",
     "expected a shape with rows to cut into parts, found []"},
    {5, "  - {name: w, shape: [4], parts: [a, b]}\n  - {name: w.b, shape: [1]}", 5,
     "params[0].parts[1]", "its key in checkpoints, `w.b`, is that of the parameter `w.b`"},
    {5, "  - {name: w.a, shape: [4], parts: [b]}\n  - {name: w, shape: [4], parts: [a.b]}", 5,
     "params[0].parts[0]", "`w.a.b`, is that of a part of the parameter `w`"},
    {5, "  - {name: w, shape: [4], parts: [a]}\n  - {name: w.a, shape: [1], parts: [step]}", 5,
     "params[0].parts[0]", "is that of the parameter `w.a`"},
    {5, "  - {name: w, tied: v}", 5, "params[0].tied",
     "expected an earlier parameter, found `v`, which is not listed"},
    {5, "  - {name: w, tied: w}", 5, "params[0].tied", "found `w`, which is this one"},
    {5, "  - {name: w, tied: v}\n  - {name: v, shape: [4]}", 5, "params[0].tied",
     "found `v`, which is listed later; exchange the two"},
    {5, "  - {name: v, shape: [4]}\n  - {name: w, tied: v}\n  - {name: x, tied: w}", 7,
     "params[2].tied", "found `w`, which is tied to `v` itself; name that one"},
    {5, "  - {name: v, shape: [4]}\n  - {name: w, tied: v, shape: [4]}", 6, "params[1].shape",
     "a tied parameter has this of the one that it names"},
    {5, "  - {name: v, shape: [4]}\n  - {name: w, tied: v, group: g}", 6, "params[1].group",
     "a tied parameter has this of the one that it names"},
    {5, "  - {name: v, shape: [4]}\n  - {name: w, tied: v, precision: {}}", 6,
     "params[1].precision", "a tied parameter has this of the one that it names"},
    {5, "  - {name: v, shape: [4]}\n  - {name: w, tied: v, parts: [a]}", 6, "params[1].parts",
     "a tied parameter has this of the one that it names"},
    {5, "  {model: gpt-5}", 5, "params.model",
     "no model `gpt-5` is defined; known: gpt2-124m, llama-3-8b"},
    {5, "  {model: ../../etc/passwd}", 5, "params.model", "expected a name like"},
    // groups, precision, optimizer
    {8, "groups: {a b: {}}", 8, "groups.`a b`", "expected a name like"},
    {8, "groups: {a: {clip: 1}}", 8, "groups.a.clip", "unknown key"},
    {8, "groups: {a: }", 8, "groups.a", "expected a map with keys among lr"},
    {8, "precision: {param: fp64}", 8, "precision.param", "expected fp32, bf16, fp16, fp8_delayed"},
    {8, "precision: {main: true}", 8, "precision.main", "found the boolean `true`"},
    {8, "precision: {exp_avg: fp8_block}", 8, "precision.exp_avg",
     "expected fp32, bf16, fp16 or fp8"},
    {8, "optimizer: {mode: sgd}", 8, "optimizer.mode", "expected adamw or adam"},
    {8, "optimizer: {lr: -1}", 8, "optimizer.lr",
     "expected a finite number >= 0, found the integer `-1`"},
    {8, "optimizer: {lr: .inf}", 8, "optimizer.lr", "found the number `.inf`"},
    {8, "optimizer: {lr: .nan}", 8, "optimizer.lr", "found the number `.nan`"},
    {8, "optimizer: {lr: 1e39}", 8, "optimizer.lr", "expected a finite number >= 0 in binary32"},
    {8, "optimizer: {lr: 1e999}", 8, "optimizer.lr", "expected a finite number >= 0"},
    {8, "optimizer: {lr: '1e-3'}", 8, "optimizer.lr", "found the text `1e-3`"},
    {8, "optimizer: {lr: 1e}", 8, "optimizer.lr", "found the text `1e`"},
    {8, "optimizer: {betas: [0.9]}", 8, "optimizer.betas", "expected a list of two numbers"},
    {8, "optimizer: {betas: 0.9}", 8, "optimizer.betas", "found the number `0.9`"},
    {8, "optimizer: {betas: [0.9, 1]}", 8, "optimizer.betas[1]",
     "expected a number in [0, 1), found the integer `1`"},
    {8, "optimizer: {betas: [-0.1, 0.9]}", 8, "optimizer.betas[0]", "expected a number in [0, 1)"},
    {8, "optimizer: {betas: [0.9, 0.99999999999]}", 8, "optimizer.betas[1]",
     "in [0, 1) in binary32"},
    {8, "optimizer: {bias_correction: no}", 8, "optimizer.bias_correction",
     "expected true or false, found the text `no`"},
    {8, "optimizer: {bias_correction: 1}", 8, "optimizer.bias_correction", "found the integer `1`"},
    {8, "optimizer: {clip: 0}", 8, "optimizer.clip", "expected a finite number > 0"},
    {8, "optimizer: {clip: 1e-60}", 8, "optimizer.clip",
     "expected a finite number > 0 in binary32"},
    {8, "optimizer: {clip: .inf}", 8, "optimizer.clip", "expected a finite number > 0, found"},
    {8, "optimizer: {clip: some}", 8, "optimizer.clip", "expected none or a finite number > 0"},
    {8, "optimizer: {loss_scale: static}", 8, "optimizer.loss_scale",
     "expected none, dynamic or a finite number > 0"},
    {8, "optimizer: {loss_scale: -2}", 8, "optimizer.loss_scale", "expected a finite number > 0"},
    {8, "optimizer:\n  step_counter: rank", 9, "optimizer.step_counter",
     "expected group or parameter"},
    {8, "offload: {states: {}, hybrid: {}}", 8, "offload", "exactly one of states and hybrid"},
    {8, "offload: all", 8, "offload", "expected none, {states"},
    {8, "offload: {hybrid: {fraction: 1.5}}", 8, "offload.hybrid.fraction",
     "expected a number in [0, 1]"},
    {8, "gradients: tame", 8, "gradients", "expected exact, normal or wild"},
    {8, "microbatches: 0", 8, "microbatches", "expected an integer in 1"},
    // program
    {7, "  []", 7, "program", "expected at least one operation"},
    {7, "  - stepp", 7, "program[0]", "unknown operation `stepp` (did you mean `step`?)"},
    {7, "  - sept", 7, "program[0]", "unknown operation `sept` (did you mean `step`?)"},
    {7, "  - train", 7, "program[0]", "train needs a value"},
    {7, "  - train: 0", 7, "program[0].train", "expected an integer in 1"},
    {7, "  - train: two", 7, "program[0].train", "found the text `two`"},
    {7, "  - step: 1", 7, "program[0].step", "takes no value"},
    {7, "  - {step, check}", 7, "program[0]", "expected one operation, found a map of 2 keys"},
    {7, "  - [step]", 7, "program[0]", "expected an operation, found a list"},
    {7, "  - backward: {without: [x]}", 7, "program[0].backward.without",
     "no parameter `x` is listed"},
    {7, "  - backward: {without: w}", 7, "program[0].backward.without",
     "expected a list of parameter names"},
    {7, "  - zero_grad: {set_to_none: maybe}", 7, "program[0].zero_grad.set_to_none",
     "expected true or false"},
    {7, "  - set: {}", 7, "program[0].set", "expected at least one of lr"},
    {7, "  - set: {mode: adam}", 7, "program[0].set.mode", "unknown key"},
    {7, "  - capture: []", 7, "program[0].capture", "expected at least one operation"},
    {7, "  - capture: [backward, {set: {eps: -1}}]", 7, "program[0].capture[1].set.eps",
     "expected a finite"},
    {7, "  - load: ckpt", 7, "program[0].load", "nothing to load"},
    {7, "  - load: {world: {shard: 2}}", 7, "program[0].load.from", "required but missing"},
    {7, "  - save: a/b", 7, "program[0].save", "expected a name like"},
    {7, "  - save: 1", 7, "program[0].save", "put it in quotes"},
    // engine, schedule, faults, bug, expect
    {8, "engine: {name: python -m tpu}", 8, "engine.name",
     "expected sim, sim-unchecked or cuda, an adapter's name such as torch, or exec:COMMAND"},
    {8, "engine: sim", 8, "engine", "expected a map with keys among name or options"},
    {8, "schedule: {strategy: lifo}", 8, "schedule.strategy",
     "expected fifo, random, pct or exhaustive"},
    {8, "schedule: {strategy: pct, depth: 0}", 8, "schedule.depth", "expected an integer in 1"},
    {8, "schedule: {depth: 3}", 8, "schedule.depth", "only the strategy pct has a depth"},
    {8, "schedule:\n  strategy: random\n  depth: 3", 10, "schedule.depth",
     "only the strategy pct has a depth, found random"},
    {8, "schedule:\n  choices: [1]\n  strategy: pct", 10, "schedule.strategy",
     "recorded choices stand alone"},
    {8, "schedule: {choices: [], seed: 1}", 8, "schedule.seed", "recorded choices stand alone"},
    {8, "schedule: {choices: [1, -1]}", 8, "schedule.choices[1]",
     "expected an integer in 0 ... 4294967295"},
    {8, "faults:\n  - {at: save, then: burn}", 9, "faults[0].then",
     "expected crash, out_of_memory"},
    {8, "worlds: [1, 2]", 8, "worlds", "the first of several worlds stands for `world`"},
    {3, "", 1, "world", "this key is required but missing"},
    {3, "worlds: []", 3, "worlds", "expected a list of worlds, each a number of shards or a map"},
    {3, "worlds: 2", 3, "worlds", "expected a list of worlds"},
    {3, "worlds: [1, two]", 3, "worlds[1]", "expected"},
    {3, "worlds: [1, {shards: 2}]", 3, "worlds[1].shards", "did you mean `shard`?"},
    {8, "again: [{resumed_after: 2}]", 8, "again[0].resumed_after",
     "the program has 1 entries, found 2"},
    {8, "again: [{}, {through: [1]}]", 8, "again[1].through", "expected `resumed_after`, too"},
    {8, "again: [{order: reversed}]", 8, "again[0].order", "expected `resumed_after`, too"},
    {8, "again: [{world: 3}]", 8, "again[0].world", "unknown key"},
    {8, "faults:\n  - {then: crash}", 9, "faults[0].at", "required but missing"},
    {8, "faults:\n  - {at: save, rank: 2, then: crash}", 9, "faults[0].rank",
     "expected a rank below 2, found 2"},
    {8, "bug: te_2796", 8, "bug",
     "no catalogued bug is called `te_2796` (did you mean `te_2795`?); `adamant bugs` lists"},
    {8, "expect: fail", 8, "expect", "expected pass, {violates: LAW} or {refused: REASON}"},
    {8, "expect: {violates: values.byte}", 8, "expect.violates", "unknown id `values.byte`"},
    {8, "expect: {violates: values.bitwize}", 8, "expect.violates",
     "unknown id `values.bitwize` (did you mean `values.bitwise`?); known: values.bitwise, "},
    {8, "expect: {violates: val}", 8, "expect.violates", "unknown id `val`"},
    {8, "expect: {violates: any}", 8, "expect.violates", "unknown id `any`"},
    {8, "expect: {refused: because}", 8, "expect.refused",
     "unknown id `because`; known: unsupported"},
    {8, "expect: {}", 8, "expect", "exactly one of violates and refused"},
};

TEST(MalformedScenario, SaysLineKeyAndWhatWasExpected) {
  for (Row const& row : rows) {
    std::string const message = message_of(source_of(row));
    std::string const place =
        "file.yaml:" + std::to_string(row.reported_line) + ": " + std::string(row.key) + ": ";
    EXPECT_TRUE(first_line(message).starts_with(place)) << row.text << "\n gives " << message;
    EXPECT_NE(first_line(message).find(row.fragment), std::string::npos)
        << row.text << "\n gives " << message;
  }
}

TEST(MalformedScenario, IsMalformedByItsRowAlone) {
  EXPECT_EQ(message_of(source_of({8, "seed: 1", 0, "", ""})), "no error");
}

TEST(MalformedScenario, ReportsSeveralProblemsInTheOrderOfTheirLines) {
  auto const message = message_of(
      "adamant: 1\nname: 2\nworld: {shard: 0}\nparams: []\nprogram: [fly]\ncolour: red\n");
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < message.size();) {
    auto const end = std::min(message.find('\n', begin), message.size());
    lines.push_back(message.substr(begin, end - begin));
    begin = end + 1;
  }
  ASSERT_EQ(lines.size(), 5U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_TRUE(lines[i].starts_with("file.yaml:" + std::to_string(i + 2) + ": ")) << lines[i];
  }
}

TEST(MalformedScenario, AnEmptyFileIsOne) {
  EXPECT_EQ(message_of(""), "file.yaml:1: document: expected a scenario, found nothing");
  EXPECT_EQ(message_of("# nothing\n"), "file.yaml:1: document: expected a scenario, found nothing");
  EXPECT_EQ(first_line(message_of("[]")).substr(0, 44),
            "file.yaml:1: document: expected a map with k");
}

}  // namespace
}  // namespace adamant::scenarios
