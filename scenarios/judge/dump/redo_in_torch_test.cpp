// PyTorch as an outsider: redo_in_torch.py redoes the steps of dumps, and notices an engine that is
// wrong. The interpreter is ADAMANT_PYTHON or python3; without PyTorch in it the tests are skipped.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>
#include <tuple>

#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/python.h"
#include "scenarios/runner/testing/scratch.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

constexpr int outside_status = 1;
constexpr int no_torch_status = 77;

struct Redone {
  int status = -1;
  std::string output;
};

Redone redo(std::filesystem::path const& dump) {
  std::string command = python_program();
  command.append(" " ADAMANT_SOURCE_DIR "/scenarios/judge/dump/redo_in_torch.py ");
  command.append(dump.string()).append(" 2>&1");
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Redone redone;
  std::array<char, 4096> part;
  while (std::size_t const count = std::fread(part.data(), 1, part.size(), pipe))
    redone.output.append(part.data(), count);
  int const status = pclose(pipe);
  redone.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return redone;
}

/// Dumps a run and redoes it.
Redone redo(Scenario const& scenario, std::string const& bug = "") {
  Scratch const scratch;
  RunOptions options;
  options.dump = scratch / "dump";
  options.bug = bug;
  EXPECT_EQ(run_scenario(scenario, options).outcome,
            bug.empty() ? Outcome::pass : Outcome::violated);
  return redo(*options.dump);
}

std::string why_skipped(Redone const& redone) {
  return redone.output + "; set ADAMANT_PYTHON to an interpreter that has torch";
}

class RedoInTorch : public testing::TestWithParam<std::tuple<AdamMode, GradientClass>> {};

TEST_P(RedoInTorch, EveryStepIsWithinWhatRoundingExplains) {
  Scenario scenario = small_scenario();
  std::tie(scenario.optimizer.adam.mode, scenario.gradients) = GetParam();
  Redone const redone = redo(scenario);
  if (redone.status == no_torch_status) GTEST_SKIP() << why_skipped(redone);
  EXPECT_EQ(redone.status, 0) << redone.output;
}

INSTANTIATE_TEST_SUITE_P(Dump, RedoInTorch,
                         testing::Combine(testing::Values(AdamMode::adamw, AdamMode::adam),
                                          testing::Values(GradientClass::exact,
                                                          GradientClass::normal,
                                                          GradientClass::wild)));

// Gradients in a dump are unscaled and clipped, and of a skipped step the state stays.
TEST(RedoInTorchScaled, EveryStepIsWithinWhatRoundingExplains) {
  Scenario scenario = small_scenario();
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::fixed, .value = 1000.0F};
  scenario.optimizer.clip = 0.5F;
  scenario.program.push_back(operation(Train{1}));
  scenario.program.push_back(operation(Overflow{}));
  scenario.program.push_back(operation(Train{2}));
  Redone const redone = redo(scenario);
  if (redone.status == no_torch_status) GTEST_SKIP() << why_skipped(redone);
  EXPECT_EQ(redone.status, 0) << redone.output;
}

class RedoInTorchInFormats : public testing::TestWithParam<Precision> {};

// Gradients are dumped as the step consumed them, also where a cast has rounded them.
TEST_P(RedoInTorchInFormats, EveryStepIsWithinWhatRoundingExplains) {
  Scenario scenario = small_scenario();
  scenario.precision = GetParam();
  scenario.optimizer.decoupled_grad = false;
  scenario.gradients = GradientClass::normal;
  Redone const redone = redo(scenario);
  if (redone.status == no_torch_status) GTEST_SKIP() << why_skipped(redone);
  EXPECT_EQ(redone.status, 0) << redone.output;
}

INSTANTIATE_TEST_SUITE_P(Dump, RedoInTorchInFormats,
                         testing::Values(Precision{.param = ParamType::bf16},
                                         Precision{.param = ParamType::bf16,
                                                   .grad = GradType::bf16,
                                                   .main = MainType::fp32},
                                         Precision{.param = ParamType::fp16,
                                                   .grad = GradType::bf16,
                                                   .exp_avg = StateType::bf16,
                                                   .exp_avg_sq = StateType::bf16},
                                         Precision{.param = ParamType::bf16,
                                                   .main = MainType::remainder,
                                                   .exp_avg = StateType::fp16},
                                         Precision{.param = ParamType::bf16,
                                                   .main = MainType::fp16,
                                                   .exp_avg = StateType::fp8,
                                                   .exp_avg_sq = StateType::fp8},
                                         Precision{.param = ParamType::fp16,
                                                   .exp_avg = StateType::fp8,
                                                   .exp_avg_sq = StateType::fp16,
                                                   .state_scale = StateScale::local}));

class RedoInTorchNotices : public testing::TestWithParam<char const*> {};

TEST_P(RedoInTorchNotices, AnEngineThatIsWrong) {
  Redone const redone = redo(small_scenario(), GetParam());
  if (redone.status == no_torch_status) GTEST_SKIP() << why_skipped(redone);
  EXPECT_EQ(redone.status, outside_status) << redone.output;
}

INSTANTIATE_TEST_SUITE_P(Dump, RedoInTorchNotices,
                         testing::Values("complement_in_double", "epsilon_inside_root",
                                         "decay_after_update", "moments_swapped"));

TEST(RedoInTorchAlone, WithoutADumpSaysWhatItWants) {
  Redone const redone = redo(std::filesystem::path("/nonexistent"));
  if (redone.status == no_torch_status) GTEST_SKIP() << why_skipped(redone);
  EXPECT_EQ(redone.status, 2);
  EXPECT_NE(redone.output.find("adamant run --dump"), std::string::npos) << redone.output;
}

}  // namespace
}  // namespace adamant::scenarios
