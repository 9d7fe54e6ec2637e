// What a run leaves behind: nothing that the next one is judged by, and the program's own handler
// of faults where it was.
#include <cuda_runtime.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

using AfterARun = Judge;

void expect_a_right_run() {
  Report const report = run(1, [](int) {
    float* const data = on_device("data");
    cudaMemset(data, 0, bytes);
    cudaDeviceSynchronize();
    cudaFree(data);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

bool volatile is_expected = false;

void own_handler(int signal) {
  if (is_expected) std::_Exit(7);
  std::signal(signal, SIG_DFL);
}

// As a program has it that handles faults before its first run.
bool const has_own_handler = can_check && std::signal(SIGSEGV, own_handler) != SIG_ERR;

void expect_a_fault() {
  Options options;
  options.announce = false;
  options.locate = false;
  auto const program = [](int) {
    float volatile* volatile wild = nullptr;
    *wild = 1.0F;
  };
  Report const report = run(1, program, options);
  ASSERT_EQ(report.violations.size(), 1U);
  EXPECT_EQ(report.violations.front().breach, Breach::bad_address);
}

TEST_F(AfterARun, AFaultOfTheNextOneIsFoundAsWell) {
  expect_a_fault();
  expect_a_fault();
  expect_a_right_run();
}

TEST_F(AfterARun, AFaultOutsideOfARunMeetsTheProgramsOwnHandler) {
  expect_a_fault();
  EXPECT_TRUE(has_own_handler);
  EXPECT_EXIT(
      {
        is_expected = true;
        float volatile* volatile wild = nullptr;
        *wild = 1.0F;
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(AfterARun, WhatAnExceptionLeavesBehindIsNoneOfTheNextRun) {
  auto const program = [](int) {
    pinned("numbers")[3] = 1;
    throw std::runtime_error("of the program");
  };
  EXPECT_THROW(run(1, program), std::runtime_error);
  expect_a_right_run();
}

}  // namespace
}  // namespace adamant::sim
