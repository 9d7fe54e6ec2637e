// The runner on this machine's GPUs: the same scenarios, the same oracle, the same bits.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "scenarios/report/words/words.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {
namespace {

std::string why_not() {
  int count = 0;
  cudaError_t const error = cudaGetDeviceCount(&count);
  return error == cudaSuccess && count > 0 ? "" : std::string("no GPU: ") + cudaGetErrorName(error);
}

TEST(CudaRun, AgreesWithTheOracleForEveryClassOfGradients) {
  if (auto const reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  for (auto const kind : {GradientClass::exact, GradientClass::normal, GradientClass::wild}) {
    Scenario scenario = small_scenario();
    scenario.gradients = kind;
    RunResult const result = run_scenario(scenario);
    EXPECT_EQ(result.outcome, Outcome::pass)
        << (result.violations.empty() ? message_of(result) : in_one_line(result.violations[0]));
    EXPECT_EQ(result.engine, "cuda");
  }
}

TEST(CudaRun, OneRankUsesNccl) {
  if (auto const reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  Scenario scenario = small_scenario();
  scenario.world.shard = 1;
  EXPECT_EQ(run_scenario(scenario).outcome, Outcome::pass);
}

TEST(CudaRun, WithoutAGpuSaysWhatIsMissing) {
  if (why_not().empty()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THROW(run_scenario(small_scenario()), MachineLacks);
}

}  // namespace
}  // namespace adamant::scenarios
