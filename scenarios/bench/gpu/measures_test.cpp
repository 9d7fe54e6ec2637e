// What `adamant-cuda bench` measures, on a simulated device: all suites run, all results are those
// of their readable twins, and the rows are there that a reader looks for.
#include "scenarios/bench/gpu/measures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "real/step/traffic.h"
#include "scenarios/bench/gpu/combinations.h"
#include "scenarios/bench/gpu/testing/on_sim.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

GpuSizes small() {
  return {.flat = 1 << 14,
          .gpt2 = {1000, 7, 4096},
          .many_tensors = 20,
          .of_many = 33,
          .checked = 5003,
          .copy_bytes = 1 << 16,
          .captured = {3, 5},
          .rounds = 3,
          .captured_rounds = 3};
}

std::vector<Row> const& rows() {
  static std::vector<Row> const measured = [] {
    std::vector<Row> found;
    GpuSizes const sizes = small();
    ::setenv("PYTHONPATH", "scenarios/bench/gpu/testing", 1);  // a torch for tests
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    sim::Options options;
    options.checked = false;
    sim::Report const report = sim::run(
        1, [&](int) { adamant_bench_gpu_on_sim(&sizes, &found); }, options);
    EXPECT_TRUE(report.ok()) << sim::describe(report);
    return found;
  }();
  return measured;
}

std::vector<Row> rows_of(std::string const& suite) {
  std::vector<Row> found;
  std::copy_if(rows().begin(), rows().end(), std::back_inserter(found),
               [&](Row const& row) { return row.suite == suite; });
  return found;
}

bool has(std::vector<Row> const& rows, std::string const& name) {
  return std::any_of(rows.begin(), rows.end(), [&](Row const& row) { return row.name == name; });
}

TEST(BenchOnGpu, HasNoWrongBits) {
  for (Row const& row : rows())
    EXPECT_NE(row.unit, wrong_bits_unit) << row.name << ": " << row.value;
}

TEST(BenchOnGpu, GivesNumbers) {
  ASSERT_FALSE(rows().empty());
  for (Row const& row : rows()) EXPECT_GT(row.value, 0) << row.suite << " " << row.name;
}

TEST(BenchOnGpu, StepsInAllFormatsAndShapes) {
  auto const found = rows_of("gpu_step_over_copy");
  EXPECT_EQ(found.front().name, "gpu_step_over_copy");
  for (std::string const formats :
       {"fp32", "bf16_main_fp32", "bf16_main_fp32_gradient_fp32", "bf16_remainder",
        "bf16_main_fp32_moments_bf16", "bf16_remainder_moments_bf16", "bf16_main_fp32_moments_fp8",
        "bf16"})
    for (std::string const shape : {"_flat", "_gpt2", "_many"})
      for (std::string const what : {"", "_least", "_most", "_time"})
        EXPECT_TRUE(has(found, formats + shape + what)) << formats << shape << what;
  EXPECT_TRUE(has(found, "bf16_main_fp32_moments_fp8_flat_amaxes"));
  EXPECT_TRUE(has(found, "copy"));
}

TEST(BenchOnGpu, CountsTheBytesThatTheDocumentSays) {
  std::ostringstream document;
  document << std::ifstream("real/gpu/README.md").rdbuf();
  for (StepCombination const& combination : combinations()) {
    std::size_t const bytes = real::traffic_of_step(combination.formats).all();
    std::string const row =
        "| `" + std::string(combination.name) + "` | " + std::to_string(bytes) + " |";
    EXPECT_NE(document.str().find(row), std::string::npos) << row;
  }
}

TEST(BenchOnGpu, PassesOverGradients) {
  auto const found = rows_of("gpu_passes_over_copy");
  for (std::string const name :
       {"mean_fp32", "mean_fp32_accumulated", "cast_fp32_to_bf16", "look_fp32",
        "squares_fp32_0.001", "squares_fp32_6.1e-05", "squares_fp32_1e-07"})
    EXPECT_TRUE(has(found, name)) << name;
}

TEST(BenchOnGpu, ReadsWeightsOnceOrTwiceByTheRecipe) {
  auto const found = rows_of("gpu_quantise_over_copy");
  for (std::string const recipe : {"fp8_delayed", "fp8_current", "fp8_block", "mxfp8", "nvfp4"})
    EXPECT_TRUE(has(found, recipe + "_first_read")) << recipe;
  for (std::string const recipe : {"fp8_current", "fp8_block", "nvfp4"})
    EXPECT_TRUE(has(found, recipe + "_second_read")) << recipe;
  EXPECT_FALSE(has(found, "mxfp8_second_read"));
}

TEST(BenchOnGpu, StepsBesidePyTorchInWhatItHas) {
  auto const found = rows_of("gpu_step_over_torch");
  for (std::string const formats :
       {"fp32", "bf16_main_fp32", "bf16_main_fp32_gradient_fp32", "bf16"})
    for (std::string const shape : {"_flat", "_gpt2", "_many"})
      for (std::string const how : {"_optimizer", "_function"})
        EXPECT_TRUE(has(found, formats + shape + how)) << formats << shape << how;
  EXPECT_FALSE(has(found, "bf16_remainder_flat_optimizer"));
}

TEST(BenchOnGpu, TimesTheHostOfCapturedSteps) {
  auto const found = rows_of("gpu_captured_step");
  for (std::string const name : {"replay_3_tensors", "eager_3_tensors", "replay_5_tensors"})
    EXPECT_TRUE(has(found, name)) << name;
}

}  // namespace
}  // namespace adamant::scenarios
