// Scripts as the reader of a bug report runs them: on real PyTorch. Each scenario's script has to
// come to what the oracle says, print both sides and end with the right status. The interpreter is
// ADAMANT_PYTHON or python3; without PyTorch in it the tests are skipped.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "scenarios/judge/findings.h"
#include "scenarios/judge/reference.h"
#include "scenarios/peers/script/script.h"
#include "scenarios/peers/script/testing/read.h"
#include "scenarios/runner/testing/python.h"
#include "scenarios/runner/testing/scratch.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios {
namespace {

struct Ended {
  int status = -1;
  std::string output;
};

Ended execute(std::string const& command) {
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {};
  Ended ended;
  std::array<char, 4096> part;
  while (std::size_t const count = std::fread(part.data(), 1, part.size(), pipe))
    ended.output.append(part.data(), count);
  int const status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

bool has_torch() {
  static bool const has =
      execute(python_program() + " -c 'import torch.distributed.fsdp as f; f.fully_shard'")
          .status == 0;
  return has;
}

constexpr char const* why_skipped =
    "no PyTorch with FSDP2; set ADAMANT_PYTHON to an interpreter that has it";

Ended run_script(std::string const& text) {
  Scratch const scratch;
  auto const file = scratch / "script.py";
  std::ofstream(file) << text;
  return execute(python_program() + " " + file.string());
}

/// The oracle's model after the whole program. Its formulas are TransformerEngine's.
class Walked {
 public:
  explicit Walked(Scenario const& scenario)
      : specs_(parameter_specs(scenario)), reference_(scenario, specs_, *scenario.seed) {
    Program const program(scenario);
    ProgramWalk walk(program);
    while (auto const operation = walk.next()) follow(*operation);
  }

  oracle::Model const& model() const { return reference_.model(); }

 private:
  void follow(Primitive const& operation) {
    using Kind = Primitive::Kind;
    switch (operation.kind) {
      case Kind::backward:
        return backward(operation);
      case Kind::clip:
        return reference_.clip();
      case Kind::step:
        reference_.begin_step();
        for (int p = 0; p < count(); ++p) reference_.step_parameter(p);
        return;
      case Kind::zero_grad:
        return reference_.zero_grad(operation.set_to_none);
      case Kind::set:
        return reference_.set(operation);
      case Kind::save:
        return reference_.save(operation.checkpoint);
      case Kind::load:
        return reference_.load(operation.checkpoint, 0);
      default:
        return;
    }
  }

  void backward(Primitive const& operation) {
    reference_.begin_backward(operation);
    for (int p = 0; p < count(); ++p) {
      auto const& without = operation.without;
      if (std::find(without.begin(), without.end(), p) == without.end())
        reference_.add_exact_mean(p, operation.backward_index);
    }
  }

  int count() const { return static_cast<int>(specs_.size()); }

  std::vector<ParameterSpec> specs_;
  Reference reference_;
};

/// What a script found, from "…: actual   0x1.8p-3 = 0.1875".
double actual_of(Ended const& ended) {
  auto const at = ended.output.find("actual   ");
  if (at == std::string::npos) return std::nan("");
  return std::strtod(ended.output.c_str() + at + 9, nullptr);
}

/// A scenario, and the element that its script looks at.
struct Case {
  char const* name;
  char const* text;
  TensorKind kind;
  int parameter = 0;
  std::int64_t index = 0;
  char const* options = "{}";  // of the engine
};

Violation violation_at(Scenario const& scenario, Case const& at) {
  Violation violation;
  violation.operation = static_cast<int>(scenario.program.size()) - 1;
  violation.subject =
      Tensor{.parameter = parameter_specs(scenario)[static_cast<std::size_t>(at.parameter)].name,
             .kind = at.kind};
  violation.index = at.index;
  violation.expected = Number(0x1.8p+100F);
  violation.actual = Number(0x1p+100F);
  return violation;
}

class ScriptInTorch : public testing::TestWithParam<Case> {};

// Two orders of operations in fp32 differ in the last bits, and clip_grad_norm_ adds 1e-6 to the
// norm; a call too few, a wrong gradient or a setting that was forgotten shows in the first ones.
// Numbers of 8 significant bits round more.
double tolerance_of(Scenario const& scenario) {
  bool const narrow =
      scenario.precision.param != ParamType::fp32 || scenario.precision.grad != GradType::fp32;
  return narrow ? 0x1p-6 : 0x1p-17;
}

TEST_P(ScriptInTorch, ComesToWhatTheOracleSays) {
  if (!has_torch()) GTEST_SKIP() << why_skipped;
  Scenario const scenario =
      read(GetParam().text, std::string("torch, options: ") + GetParam().options);
  Violation const violation = violation_at(scenario, GetParam());
  Walked const walked(scenario);
  auto const values = walked.model().tensor(GetParam().parameter, GetParam().kind);
  double const expected = static_cast<double>(values[static_cast<std::size_t>(GetParam().index)]);
  ASSERT_NE(expected, 0.0) << "an element that says nothing";

  std::string const text = write_script(scenario, violation);
  Ended const ended = run_script(text);
  EXPECT_EQ(ended.status, 1) << ended.output << text;
  double const actual = actual_of(ended);
  EXPECT_LE(std::abs(actual - expected), tolerance_of(scenario) * std::abs(expected))
      << "oracle " << expected << "\n"
      << ended.output << text;
}

TEST(ScriptInTorchAlone, EndsWithZeroWhereTheDefectIsNot) {
  if (!has_torch()) GTEST_SKIP() << why_skipped;
  Scenario const scenario = read(
      "world: {shard: 2}\nparams: [{name: p0, shape: [2]}]\n"
      "optimizer: {step_counter: parameter}\nprogram: [train: 2]\n");
  Violation violation;
  violation.breach = Breach::other_step_count;
  violation.operation = 0;
  violation.subject = StepCount{.parameter = "p0"};
  violation.expected = Count{2};
  violation.actual = Count{3};
  Ended const ended = run_script(write_script(scenario, violation));
  EXPECT_EQ(ended.status, 0) << ended.output;
}

TEST(ScriptInTorchAlone, OfAHangEndsRanksThatWaitForEver) {
  if (!has_torch()) GTEST_SKIP() << why_skipped;
  Scenario const scenario =
      read("world: {shard: 2}\nparams: [{name: p0, shape: [2]}]\nprogram: [backward]\n");
  Violation violation;
  violation.law = Law::order_deadlock;
  violation.breach = Breach::no_answer;
  violation.operation = 0;
  std::string text = write_script(scenario, violation);
  EXPECT_EQ(run_script(text).status, 0) << text;

  auto const replace = [&](std::string const& what, std::string const& by) {
    ASSERT_NE(text.find(what), std::string::npos) << text;
    text.replace(text.find(what), what.size(), by);
  };
  replace("SECONDS = 20", "SECONDS = 4");
  replace("    model(", "    rank == 0 or dist.barrier()\n    model(");
  Ended const hangs = run_script(text);
  EXPECT_EQ(hangs.status, 1) << hangs.output << text;
  EXPECT_NE(hangs.output.find("actual:   exit statuses [None, None]"), std::string::npos)
      << hangs.output;
}

TEST(ScriptInTorchAlone, OfRanksThatAgreeEndsWithZero) {
  if (!has_torch()) GTEST_SKIP() << why_skipped;
  Scenario const scenario = read(
      "world: {shard: 1, replicate: 2}\nparams: [{name: p0, shape: [2]}]\n"
      "program: [backward, step]\n");
  Violation violation;
  violation.law = Law::ranks_agree;
  violation.operation = 1;
  violation.rank = 1;
  violation.subject = Tensor{.parameter = "p0", .kind = TensorKind::exp_avg};
  violation.index = 1;
  violation.expected = violation.actual = Number(1.0F);
  std::string text = write_script(scenario, violation);
  Ended const agree = run_script(text);
  EXPECT_EQ(agree.status, 0) << agree.output << text;

  std::string const step = "    optimizer.step()\n";
  text.insert(text.find(step), "    model.p0.grad.to_local().mul_(1 + rank)\n");
  Ended const disagree = run_script(text);
  EXPECT_EQ(disagree.status, 1) << disagree.output << text;
}

/// A load that fails, or one that does not where it has to.
struct LoadCase {
  char const* name;
  char const* text;
  Breach breach;
  int status;
};

class ScriptOfALoadInTorch : public testing::TestWithParam<LoadCase> {};

TEST_P(ScriptOfALoadInTorch, PrintsBothSides) {
  if (!has_torch()) GTEST_SKIP() << why_skipped;
  Scenario const scenario = read(GetParam().text);
  Violation violation;
  violation.law = Law::checkpoint_integrity;
  violation.operation = static_cast<int>(scenario.program.size()) - 1;
  violation.breach = GetParam().breach;
  Ended const ended = run_script(write_script(scenario, violation));
  EXPECT_EQ(ended.status, GetParam().status) << ended.output;
  EXPECT_NE(ended.output.find("\nactual:"), std::string::npos) << ended.output;
}

INSTANTIATE_TEST_SUITE_P(
    Script, ScriptOfALoadInTorch,
    testing::Values(LoadCase{"OfAWholeCheckpoint",
                             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\n"
                             "program: [train: 1, save: a, load: a]\n",
                             Breach::not_loaded, 0},
                    LoadCase{"OfAMissingFile",
                             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\n"
                             "faults: [{at: load, file: 1, then: remove_file}]\n"
                             "program: [train: 1, save: a, load: a]\n",
                             Breach::damage_unnoticed, 0},
                    LoadCase{"OfAFileCutShort",
                             "world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\n"
                             "faults: [{at: load, file: 1, then: truncate, byte: 7}]\n"
                             "program: [train: 1, save: a, load: a]\n",
                             Breach::damage_unnoticed, 0},
                    LoadCase{"OfAStaleFile",
                             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\n"
                             "faults: [{at: load, file: 1, then: stale_file}]\n"
                             "program: [train: 1, save: a, train: 1, save: a, load: a]\n",
                             Breach::damage_unnoticed, 1},
                    LoadCase{"OfASaveThatWasNotStarted",
                             "world: {shard: 1}\nparams: [{name: p0, shape: [1]}]\n"
                             "faults: [{at: save, nth: 2, then: crash}]\n"
                             "program: [train: 1, save: a, train: 1, save: a, load: a]\n",
                             Breach::not_loaded, 0}),
    [](auto const& given) { return given.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Script, ScriptInTorch,
    testing::Values(
        Case{"OneStep",
             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\nprogram: [train: 1]\n",
             TensorKind::parameter, 0, 1},
        Case{"SeveralStepsInALoop",
             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\nprogram: [train: 3]\n",
             TensorKind::exp_avg, 0, 1},
        Case{"SeveralRanks",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3, 2]}]\nprogram: [train: 2]\n",
             TensorKind::exp_avg_sq, 0, 3},
        Case{"MoreMicrobatchesThanRanks",
             "world: {shard: 2}\nmicrobatches: 3\nparams: [{name: p0, shape: [3, 2]}]\n"
             "program: [backward]\n",
             TensorKind::gradient, 0, 3},
        Case{"MicrobatchesOfOneRank",
             "world: {shard: 1}\nmicrobatches: 3\nparams: [{name: p0, shape: [3, 2]}]\n"
             "program: [train: 2]\n",
             TensorKind::exp_avg, 0, 3},
        Case{"Replicas",
             "world: {shard: 2, replicate: 2}\nparams: [{name: p0, shape: [3, 2]}]\n"
             "program: [train: 1]\n",
             TensorKind::parameter, 0, 3},
        Case{"Units",
             "world: {shard: 2}\n"
             "params: [{name: h.0.p0, shape: [3]}, {name: h.1.p1, shape: [2, 2]}]\n"
             "program: [backward: {without: [h.0.p0]}, step, zero_grad, train: 1]\n",
             TensorKind::parameter, 1, 2},
        Case{"AParameterWithoutGradient",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3]}, {name: p1, shape: [2]}]\n"
             "optimizer: {step_counter: parameter}\n"
             "program: [backward: {without: [p0]}, step, zero_grad, backward, step]\n",
             TensorKind::parameter, 0, 1},
        Case{"GroupsAndSettings",
             "world: {shard: 1}\n"
             "params: [{name: p0, shape: [3]}, {name: p1, shape: [2], group: g0}]\n"
             "groups: {g0: {weight_decay: 0.5, betas: [0.5, 0.75]}}\n"
             "optimizer: {lr: 0.01}\n"
             "program: [train: 1, set: {lr: 0.5, betas: [0.25, 0.5], eps: 0.1, "
             "weight_decay: 0.25}, train: 1]\n",
             TensorKind::parameter, 1, 1},
        Case{"AdamWithZeroedGradients",
             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\noptimizer: {mode: adam}\n"
             "program: [backward, step, zero_grad: {set_to_none: false}, step]\n",
             TensorKind::exp_avg, 0, 1},
        Case{"Clip",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3, 2]}]\noptimizer: {clip: 0.001}\n"
             "program: [train: 1, set: {clip: 0.0001}, train: 1]\n",
             TensorKind::exp_avg, 0, 3},
        Case{"FixedLossScale",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3, 2]}]\n"
             "optimizer: {loss_scale: 1024}\nprogram: [train: 2]\n",
             TensorKind::exp_avg, 0, 3},
        Case{"DynamicLossScaleWithClip",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3, 2]}]\n"
             "optimizer: {loss_scale: dynamic, clip: 0.001}\nprogram: [train: 2]\n",
             TensorKind::exp_avg, 0, 3},
        Case{"OverflowIsSkipped",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3, 2]}]\n"
             "optimizer: {loss_scale: 1024, step_counter: parameter}\n"
             "program: [train: 1, overflow, train: 2]\n",
             TensorKind::exp_avg, 0, 3},
        Case{"MixedPrecision",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3, 2]}]\n"
             "precision: {param: bf16, main: fp32, grad: fp32}\nprogram: [train: 2]\n",
             TensorKind::parameter, 0, 3},
        Case{"Bf16Throughout",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3, 2]}]\n"
             "precision: {param: bf16, grad: bf16, exp_avg: bf16, exp_avg_sq: bf16}\n"
             "program: [train: 1]\n",
             TensorKind::parameter, 0, 3},
        Case{"LoadOnAnotherWorld",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\n"
             "program: [train: 1, save: a, load: {from: a, world: {shard: 3}}]\n",
             TensorKind::exp_avg, 0, 1},
        Case{"LoadInPlace",
             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\n"
             "program: [train: 1, save: a, train: 1, load: a, train: 1]\n",
             TensorKind::parameter, 0, 1},
        Case{"LoadOfSafetensors",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\n"
             "program: [train: 1, save: a, load: {from: a, world: {shard: 1}}]\n",
             TensorKind::exp_avg, 0, 1, "{format: hf_sharded, settings: left_out}"},
        Case{"LoadOfConsolidatedSafetensors",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\n"
             "program: [train: 1, save: a, load: {from: a, world: {shard: 1}}]\n",
             TensorKind::parameter, 0, 1, "{format: hf_consolidated, settings: left_out}"},
        Case{"LoadOfPlainStatesByAStep",
             "world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\n"
             "program: [train: 1, save: a, load: {from: a, world: {shard: 1}}]\n",
             TensorKind::exp_avg, 0, 1,
             "{state_dict: plain, template: step, async_save: \"true\"}"},
        Case{"LoadOfFlatStates",
             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\n"
             "program: [train: 1, save: a, backward, load: a, step]\n",
             TensorKind::exp_avg, 0, 1,
             "{state_dict: flat, format: hf_sharded, settings: left_out}"},
        Case{"LoadInAnotherOrder",
             "world: {shard: 1}\nparams: [{name: p0, shape: [2]}, {name: p1, shape: [2]}]\n"
             "program: [train: 1, save: a, load: {from: a, order: reversed}]\n",
             TensorKind::exp_avg, 0, 1},
        Case{"LoadWithAScaler",
             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\n"
             "optimizer: {loss_scale: 1024}\nprogram: [train: 1, save: a, load: a, train: 1]\n",
             TensorKind::exp_avg, 0, 1, "{implementation: fused}"},
        Case{"Offload",
             "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\nprogram: [train: 2]\n",
             TensorKind::exp_avg, 0, 1, "{offload_policy: cpu, implementation: foreach}"}),
    [](auto const& given) { return given.param.name; });

}  // namespace
}  // namespace adamant::scenarios
