// `adamant-cuda` as its users call it, on a machine with a GPU and on one without.
#include <cuda_runtime_api.h>

#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

using CudaProgram = ProgramTest;

/// Empty, or why nothing can run on a GPU here.
std::string why_not() {
  int count = 0;
  cudaError_t const error = cudaGetDeviceCount(&count);
  return error == cudaSuccess && count > 0 ? "" : std::string("no GPU: ") + cudaGetErrorName(error);
}

TEST_F(CudaProgram, RunsAScenarioOnTheGpu) {
  if (auto const reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  write("small.yaml", passing_scenario());
  Called const called = call("run small.yaml --json out.json");
  ASSERT_EQ(called.status, 0) << called.out << called.err;
  EXPECT_EQ(read_json("out.json").at("results").at(0).at("engine"), "cuda");
}

TEST_F(CudaProgram, WithoutAGpuSaysSoWithStatusThree) {
  if (why_not().empty()) GTEST_SKIP() << "this machine has a GPU";
  write("small.yaml", passing_scenario());
  Called const called = call("run small.yaml");
  EXPECT_EQ(called.status, 3) << called.out << called.err;
  EXPECT_NE((called.out + called.err).find("needs a GPU"), std::string::npos)
      << called.out << called.err;
}

TEST_F(CudaProgram, PassesOverBugsThatItCannotMakeUnlessTheyAreNamed) {
  write("bugs/wrong.yaml", passing_scenario("bug: canary\nexpect: {violates: values.bitwise}\n"));
  Called const directory = call("run bugs");
  EXPECT_EQ(directory.status, 0) << directory.out << directory.err;
  EXPECT_NE(directory.out.find("passed over 1 scenario with a bug"), std::string::npos)
      << directory.out;
  EXPECT_EQ(call("run bugs/wrong.yaml").status, 3);
}

TEST_F(CudaProgram, MeasuresNothingWithoutAGpuAndSaysSo) {
  if (why_not().empty()) GTEST_SKIP() << "this machine has a GPU";
  Called const called = call("bench --suite gpu_step_over_copy --json out.json");
  EXPECT_EQ(called.status, 3) << called.out << called.err;
  EXPECT_NE(called.err.find("gpu_step_over_copy: bench needs a GPU"), std::string::npos)
      << called.err;
  EXPECT_TRUE(read_json("out.json").at("results").empty());
}

TEST_F(CudaProgram, NamesTheSuitesThatItHas) {
  Called const called = call("bench --suite none");
  EXPECT_EQ(called.status, 2) << called.out;
  for (char const* const suite :
       {"gpu_step_over_copy", "gpu_passes_over_copy", "gpu_quantise_over_copy",
        "gpu_step_over_torch", "gpu_captured_step"})
    EXPECT_NE(called.err.find(suite), std::string::npos) << called.err;
}

TEST_F(CudaProgram, PassesOverWhatTellsNothingOfAGpuUnlessItIsNamed) {
  write("mixed/chosen.yaml", passing_scenario("schedule: {strategy: random, seed: 1}\n"));
  write("mixed/raced.yaml", passing_scenario("expect: {violates: order.race}\n"));
  write("mixed/fine.yaml", passing_scenario());
  Called const directory = call("run --dry-run mixed --json out.json");
  EXPECT_EQ(directory.status, 0) << directory.out << directory.err;
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("results").size(), 1U);
  ASSERT_EQ(document.at("skipped").size(), 2U);
  EXPECT_EQ(
      document.at("skipped").at(0).at("reason").get<std::string>().find("unsupported.schedule: "),
      0U);
  EXPECT_NE(document.at("skipped").at(1).at("reason").get<std::string>().find("order.race"),
            std::string::npos);
  EXPECT_EQ(call("run --dry-run mixed/chosen.yaml").status, 1);
}

TEST_F(CudaProgram, ADirectoryWithoutAGpuIsThreeAndSaysSoOnce) {
  if (why_not().empty()) GTEST_SKIP() << "this machine has a GPU";
  write("both/one.yaml", passing_scenario());
  write("both/two.yaml", passing_scenario());
  Called const called = call("run both --json out.json");
  EXPECT_EQ(called.status, 3) << called.out;
  auto const found = called.err.find("needs a GPU");
  ASSERT_NE(found, std::string::npos) << called.err;
  EXPECT_EQ(called.err.find("needs a GPU", found + 1), std::string::npos) << called.err;
  EXPECT_EQ(read_json("out.json").at("skipped").size(), 2U);
}

TEST_F(CudaProgram, TheDoctorSaysWhatTheEngineLacks) {
  if (why_not().empty()) GTEST_SKIP() << "this machine has a GPU";
  Called const called = call("doctor --json out.json");
  EXPECT_EQ(called.status, 0);
  EXPECT_NE(called.out.find("needs a GPU"), std::string::npos) << called.out;
  EXPECT_NE(read_json("out.json").at("lacks").get<std::string>().find("needs a GPU"),
            std::string::npos);
}

}  // namespace
}  // namespace adamant::scenarios
