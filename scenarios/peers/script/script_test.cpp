#include "scenarios/peers/script/script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "scenarios/peers/script/testing/read.h"

namespace adamant::scenarios {
namespace {

Violation violation_of(Subject subject, std::int64_t index, Value expected) {
  return {.operation = 9,  // behind the last of these programs
          .subject = std::move(subject),
          .index = index,
          .expected = std::move(expected),
          .actual = Number(1.0F)};
}

Violation violation_of(TensorKind kind, std::int64_t index, Value expected) {
  return violation_of(Tensor{.parameter = "p0", .kind = kind}, index, std::move(expected));
}

std::string why_not(Scenario const& scenario, Violation const& violation) {
  try {
    write_script(scenario, violation);
  } catch (NoScript const& reason) {
    return reason.what();
  }
  return "";
}

std::string why_not(Scenario const& scenario, RunResult const& result) {
  try {
    write_script(scenario, result, nullptr);
  } catch (NoScript const& reason) {
    return reason.what();
  }
  return "";
}

constexpr char const* one_step =
    "world: {shard: 1}\nparams: [{name: p0, shape: [2]}]\noptimizer: {lr: 0.5, betas: [0.5, 0.75], "
    "eps: 1, weight_decay: 0}\nprogram: [train: 1]\n";

TEST(Script, OfOneRankIsAFlatProgram) {
  EXPECT_EQ(write_script(read(one_step), violation_of(TensorKind::exp_avg, 1, Number(0x1.8p-3F))),
            R"("""AdamW(foreach=False) under fully_shard: p0/exp_avg[1] is not what it has to be.

It needs PyTorch alone. Exit status 1: the defect shows, 0: it does not, 2: something else failed.
"""

import sys
sys.excepthook = lambda kind, error, at: (print(f"line {at.tb_lineno}: {kind.__name__}: {error}"), sys.exit(2))

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

INITIAL = {"p0": [0.048370376, -0.05348546]}
GRADIENTS = [{"p0": [5.2421875, 0.10180664]}]
EXPECTED = "0x1.8000000000000p-3"


class Model(nn.Module):
    def forward(self, gradients):  # what is given for a parameter becomes its gradient
        return sum((getattr(self, n) * torch.tensor(x)).sum() for n, x in gradients.items())


dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
model = Model()
for name, values in INITIAL.items():
    model.register_parameter(name, nn.Parameter(torch.tensor(values)))
fully_shard(model, mesh=dist.init_device_mesh("cpu", (1,)))
optimizer = torch.optim.AdamW(
    model.parameters(), lr=0.5, betas=(0.5, 0.75), eps=1.0, weight_decay=0.0, foreach=False
)
model(GRADIENTS[0]).backward()
optimizer.step()
optimizer.zero_grad()
actual = optimizer.state[model.p0]["exp_avg"].full_tensor()[1].item().hex()
dist.destroy_process_group()
print(f"p0/exp_avg[1]: expected {EXPECTED} = {float.fromhex(EXPECTED)}")
print(f"p0/exp_avg[1]: actual   {actual} = {float.fromhex(actual)}")
sys.exit(actual != EXPECTED)
)");
}

TEST(Script, OfWorldsOfSeveralRanksStaysWithinWhatPeopleRead) {
  std::string const text =
      write_script(read("world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\n"
                        "program: [train: 1, save: a, load: {from: a, world: {shard: 3}}]\n"),
                   violation_of(TensorKind::parameter, 2, Number(0x1.8p-3F)));
  EXPECT_NE(text.find("def first(rank, directory):"), std::string::npos) << text;
  EXPECT_NE(text.find("mp.start_processes(second, (directory,), nprocs=3"), std::string::npos);
}

TEST(Script, OfWorldsOfOtherSizesInOneProcessAsksForTheSize) {
  std::string const text =
      write_script(read("world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\n"
                        "program: [train: 1, save: a, load: {from: a, world: {shard: 1}}, save: a, "
                        "load: {from: a, precision: {param: bf16, grad: bf16}}]\n"),
                   violation_of(TensorKind::exp_avg, 0, Elements{.ranges = {{0, 3}}}));
  EXPECT_NE(text.find("(dist.get_world_size(),)"), std::string::npos) << text;
}

std::int64_t line_count(std::string const& text) {
  return std::count(text.begin(), text.end(), '\n');
}

/// After a crash nothing is loaded any more, because of `error`.
Violation not_loaded(std::string const& error) {
  return {.law = Law::checkpoint_atomic,
          .breach = Breach::not_loaded,
          .operation = 9,
          .reason = "damaged_checkpoint",
          .text = "CheckpointException: " + error};
}

constexpr char const* torn_save_of_two =
    "world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\n"
    "faults: [{at: save, nth: 2, rank: 1, after_bytes: 1, then: crash}]\n"
    "program: [train: 1, save: a, train: 1, save: a, load: a]\n";

TEST(Script, OfATornSaveReadsTheTensorThatIsWrongWithoutAModel) {
  Violation violation = violation_of(TensorKind::exp_avg, 2, Number(0x1.8p-3F));
  violation.law = Law::checkpoint_atomic;
  std::string const text = write_script(read(torn_save_of_two), violation);
  EXPECT_LE(line_count(text), 80) << text;
  EXPECT_NE(text.find("dcp.load({\"optim.state.p0.exp_avg\": tensor}"), std::string::npos) << text;
  EXPECT_EQ(text.find("set_optimizer_state_dict"), std::string::npos) << text;
}

TEST(Script, OfASaveThatLostItsMetadataDiesBeforeTheRename) {
  Violation const violation = not_loaded(
      "FileNotFoundError: [Errno 2] No such file or "
      "directory: '/a/.metadata'");
  std::string const text =
      write_script(read("world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\n"
                        "faults: [{at: save, nth: 2, after_bytes: 9, then: crash}]\n"
                        "program: [train: 1, save: a, train: 1, save: a, load: a]\n"),
                   violation);
  EXPECT_LE(line_count(text), 80) << text;
  EXPECT_NE(text.find("pathlib.Path.rename = lambda *_: os._exit(3)"), std::string::npos) << text;
}

TEST(Script, OfAFileThatCannotBeReadAsksForTheWholeState) {
  Violation const violation = not_loaded(
      "AttributeError: 'bool' object has no attribute "
      "'size'");
  std::string const text = write_script(read(torn_save_of_two), violation);
  EXPECT_NE(text.find("set_optimizer_state_dict"), std::string::npos) << text;
}

TEST(Script, OfADeathInTheMiddleOfAFileCountsItsOperations) {
  Violation violation = violation_of(TensorKind::parameter, 0, Number(0x1p+0F));
  violation.law = Law::checkpoint_atomic;
  std::string const text =
      write_script(read("world: {shard: 1}\nparams: [{name: p0, shape: [1]}]\n"
                        "faults: [{at: save, nth: 2, after_bytes: 3, then: crash}]\n"
                        "program: [save: a, train: 1, save: a, load: a]\n"),
                   violation);
  EXPECT_LE(line_count(text), 80) << text;
  EXPECT_NE(text.find("die_before(3, f\"{directory}/a\")"), std::string::npos) << text;
}

TEST(Script, OfAKeyThatIsMissingAfterACrashAsksForTheWholeState) {
  Violation const violation = not_loaded(
      "RuntimeError: Missing key in checkpoint "
      "state_dict: "
      "optim.state.unit0.p0.step.");
  Scenario const scenario = read(
      "world: {shard: 1}\nparams: [{name: p0, shape: [1]}]\n"
      "faults: [{at: save, nth: 2, then: crash}]\nprogram: [backward, save: a, save: a, load: "
      "a]\n");
  std::string const text = write_script(scenario, violation);
  EXPECT_LE(line_count(text), 80) << text;
  EXPECT_NE(text.find("sd.set_optimizer_state_dict(model, optimizer"), std::string::npos) << text;
}

TEST(Script, OfAHangBoundsItsWait) {
  Violation violation;
  violation.law = Law::order_deadlock;
  violation.breach = Breach::no_answer;
  violation.operation = 0;
  std::string const text = write_script(read(one_step), violation);
  EXPECT_NE(text.find("end = time.monotonic() + SECONDS\n"), std::string::npos) << text;
  EXPECT_NE(text.find("process.join(max(0, end - time.monotonic()))"), std::string::npos) << text;
  EXPECT_NE(text.find("process.kill()"), std::string::npos) << text;
  EXPECT_NE(text.find("sys.exit(1 if None in ended else 2 if any(ended) else 0)"),
            std::string::npos)
      << text;
}

TEST(Script, OfACollectiveThatTimedOutBoundsItsWaitToo) {
  Violation violation;
  violation.law = Law::error_clean;
  violation.breach = Breach::failed;
  violation.operation = 0;
  violation.subject = Call{.verb = "clip"};
  violation.text = "RuntimeError: Timed out waiting 15000ms for recv";
  std::string const text = write_script(read(one_step), violation);
  EXPECT_NE(text.find("process.join(max(0, end - time.monotonic()))"), std::string::npos) << text;
}

TEST(Script, OfAWholeTensorAtTheEndRunsTheWholeProgram) {
  Violation violation = violation_of(
      Tensor{.parameter = "p0", .kind = TensorKind::exp_avg, .whole = true}, 1, Number(0x1.8p-3F));
  violation.operation = -1;
  EXPECT_NE(write_script(read(one_step), violation).find("optimizer.step()"), std::string::npos);
}

TEST(Script, OfALoadThatWasRefusedExpectsNoError) {
  RunResult result;
  result.outcome = Outcome::refused;
  result.reason = "damaged_checkpoint";
  result.message = "CheckpointException";
  result.failed_at = FailedAt{.rank = 0, .operation = 2};
  Scenario const scenario = read(
      "world: {shard: 1}\nparams: [{name: p0, shape: [1]}]\nprogram: [train: 1, save: a, load: "
      "a]\n");
  std::string const text = write_script(scenario, result, nullptr);
  EXPECT_NE(text.find("print(\"expected: no error\")"), std::string::npos) << text;
  EXPECT_NE(text.find("sys.exit(1 if \"CheckpointException\" in actual else 2 if "),
            std::string::npos)
      << text;
}

TEST(Script, AParameterWithoutGradientIsLeftOutOfIt) {
  std::string const text =
      write_script(read("world: {shard: 1}\nparams: [{name: p0, shape: [1]}, {name: p1, shape: "
                        "[1]}]\nprogram: [backward: {without: [p0]}, step]\n"),
                   violation_of(Tensor{.parameter = "p1"}, 0, Number(0x1p+0F)));
  EXPECT_NE(text.find("GRADIENTS = [{\"p1\": ["), std::string::npos) << text;
}

TEST(Script, DividesAmongReplicasByItselfWhereTheScenarioDoes) {
  std::string const program =
      "world: {shard: 2, replicate: 2}\nparams: [{name: p0, shape: [2]}]\nprogram: [train: 1]\n";
  Violation const violation = violation_of(TensorKind::exp_avg, 1, Number(0.0F));
  auto const script = [&](std::string const& engine) {
    return write_script(read(program, engine), violation);
  };
  constexpr std::string_view factor = "set_gradient_divide_factor";
  EXPECT_NE(script("torch").find(factor), std::string::npos);
  EXPECT_EQ(script("torch, options: {averages: own}").find(factor), std::string::npos);
}

TEST(Script, NamesTheTypeOfAReductionThatIsNarrowerThanTheWeights) {
  auto const script = [&](std::string const& precision) {
    return write_script(read("world: {shard: 2}\nparams: [{name: p0, shape: [2]}]\nprecision: " +
                             precision + "\nprogram: [train: 1]\n"),
                        violation_of(TensorKind::parameter, 1, Number(0.0F)));
  };
  EXPECT_NE(script("{param: bf16, grad: bf16, main: fp32}")
                .find("(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)"),
            std::string::npos);
  EXPECT_NE(script("{grad: bf16}").find("(reduce_dtype=torch.bfloat16)"), std::string::npos);
  EXPECT_EQ(script("{param: bf16, grad: bf16, exp_avg: bf16, exp_avg_sq: bf16}").find("mp_policy"),
            std::string::npos);
}

TEST(Script, StopsAtTheOperationThatBrokeTheLaw) {
  Scenario const scenario = read(
      "world: {shard: 1}\nparams: [{name: p0, shape: [1]}]\nprogram: [step, save: a, load: a]\n");
  Violation violation = violation_of(TensorKind::parameter, 0, Number(0x1p+0F));
  violation.operation = 0;
  EXPECT_EQ(write_script(scenario, violation).find("dcp"), std::string::npos);
  violation.operation = 2;
  EXPECT_NE(write_script(scenario, violation).find("dcp.load"), std::string::npos);
}

TEST(Script, OfAnIntervalTakesEveryValueInIt) {
  std::string const text = write_script(
      read(one_step),
      violation_of(
          TensorKind::parameter, 0,
          Interval{.finite_possible = true, .lo = 0x1p-3F, .hi = 0x1.2p-3F, .may_be_nan = true}));
  EXPECT_NE(text.find("LOW, HIGH = float.fromhex(\"0x1p-3\"), float.fromhex(\"0x1.2p-3\")"),
            std::string::npos);
  EXPECT_NE(text.find("sys.exit(not (LOW <= value <= HIGH or actual == \"nan\"))"),
            std::string::npos)
      << text;
}

TEST(Script, IsRefusedForAnotherEngine) {
  EXPECT_NE(why_not(read(one_step, "sim"), violation_of(TensorKind::parameter, 0, Number(0x1p+0F)))
                .find("the engine is sim"),
            std::string::npos);
}

TEST(Script, IsRefusedForAnEngineOfAUsersOwn) {
  Scenario scenario = read(one_step);
  scenario.engine.name = "exec:python -m adamant_torch --engine mine:MyEngine";
  EXPECT_NE(why_not(scenario, violation_of(TensorKind::parameter, 0, Number(0x1p+0F)))
                .find("the engine is exec:python"),
            std::string::npos);
}

TEST(Script, IsRefusedWhereAWayAroundADefectIsNeeded) {
  Scenario scenario = read(one_step);
  scenario.engine.options = {{"implementation", "fused"}, {"saves", "new_directory"}};
  EXPECT_EQ(
      why_not(scenario, violation_of(TensorKind::parameter, 0, Number(0x1p+0F))),
      "it shows with `saves: new_directory`, an option of the adapter that no script is written "
      "for");
}

TEST(Script, IsRefusedWhereNothingRanOrTheEngineBrokeOff) {
  RunResult result;
  result.outcome = Outcome::refused;
  result.reason = "unsupported.layout";
  result.message = "other layouts";
  EXPECT_NE(why_not(read(one_step), result).find("before anything ran (unsupported.layout)"),
            std::string::npos);
  result.outcome = Outcome::error;
  result.reason = "its answer is no JSON object";
  EXPECT_NE(why_not(read(one_step), result).find("its answer is no JSON object"),
            std::string::npos);
}

TEST(Script, IsRefusedForACheckpointFromElsewhere) {
  Scenario scenario = read(
      "world: {shard: 1}\nparams: [{name: p0, shape: [1]}]\nprogram: [train: 1, save: b, load: "
      "b]\n");
  scenario.program.erase(scenario.program.begin() + 1);
  EXPECT_NE(why_not(scenario, violation_of(TensorKind::parameter, 0, Number(0x1p+0F)))
                .find("`b` was not saved by this scenario"),
            std::string::npos);
}

TEST(Script, IsRefusedForWhatHasToBeMinimisedFirst) {
  std::string const why =
      why_not(read("world: {shard: 1}\nparams: [{name: p0, shape: [500]}]\nprogram: [train: 1]\n"),
              violation_of(TensorKind::parameter, 0, Number(0x1p+0F)));
  EXPECT_NE(why.find("1000 initial values and gradients"), std::string::npos) << why;
  EXPECT_NE(why.find("minimise"), std::string::npos) << why;
}

TEST(Script, IsRefusedWhereItHasMoreLinesThanPeopleRead) {
  std::string program = "train: 1";
  for (int save = 0; save < 3; ++save)
    program += ", save: a, load: {from: a, world: {shard: 2}}, train: 1, set: {lr: 0.25}";
  std::string const why = why_not(
      read("world: {shard: 1}\nparams: [{name: p0, shape: [2]}]\nprogram: [" + program + "]\n"),
      violation_of(TensorKind::parameter, 0, Number(0x1p+0F)));
  EXPECT_NE(why.find(" lines, and 80 are what people read; minimise"), std::string::npos) << why;
}

TEST(LengthOfAScript, IsWhatPeopleReadAtMost) {
  std::string lines;
  for (int line = 0; line < 80; ++line) lines += "x\n";
  EXPECT_EQ(of_readable_length(lines), lines);
  EXPECT_THROW(of_readable_length(lines + "x\n"), NoScript);
}

TEST(Script, IsRefusedForWhatNoCallReturns) {
  Violation violation = violation_of(ScalingNumber::coefficient, -1, Number(0x1p+0F));
  EXPECT_NE(why_not(read(one_step), violation).find("clip coefficient"), std::string::npos);
}

}  // namespace
}  // namespace adamant::scenarios
