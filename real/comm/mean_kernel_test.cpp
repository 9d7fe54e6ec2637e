#include "real/comm/mean_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "real/cuda/numbers.h"
#include "real/testing/guarded_numbers.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

constexpr float divisor = 3;

std::vector<float> some_values(std::int64_t numel, float factor) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < numel; ++i)
    values.push_back(std::sin(static_cast<float>(i + 1)) * factor);
  return values;
}

/// What a gradient becomes, one number at a time.
std::vector<std::byte> expected(std::vector<float> gradient, std::vector<float> const& sum,
                                MeanTask const& task) {
  std::vector<float> const before = rounded(gradient, task.format);
  std::vector<float> mean = rounded(sum, task.format);
  for (float& x : mean) x = x / divisor;
  mean = rounded(mean, task.format);
  for (std::size_t i = 0; i < mean.size(); ++i)
    gradient[i] = task.accumulate ? before[i] + mean[i] : mean[i];
  return encoded(gradient, task.format);
}

/// Where the arrays of a task begin, in elements behind a 16-byte boundary.
struct Begins {
  std::size_t gradient = 0;
  std::size_t sum = 0;
};

void expect_mean(std::int64_t numel, Begins const& begins, NumberFormat format, bool accumulate) {
  SCOPED_TRACE(std::string(name_of(format)) + ", " + std::to_string(numel) + " from " +
               std::to_string(begins.gradient) + " and " + std::to_string(begins.sum));
  Stream const stream;
  std::vector<float> const before = some_values(numel, 2);
  std::vector<float> const summed = some_values(numel, 7);
  GuardedNumbers const gradient(before, format, begins.gradient, stream);
  GuardedNumbers const sum(summed, format, begins.sum, stream);
  MeanTask const task = {.gradient = gradient.numbers().data,
                         .sum = sum.numbers().data,
                         .numel = numel,
                         .format = format,
                         .accumulate = accumulate};
  launch_mean({&task, 1}, divisor, stream);
  EXPECT_TRUE(gradient.bytes() == expected(before, summed, task));
}

// A thread's 8 elements are whole or not, and go by 16-byte accesses or not.
TEST(MeanKernel, DividesAndRoundsEveryElementWhereverItLies) {
  ADAMANT_NEEDS(1, Devices::shared);
  run_ranks(1, Devices::shared, [](RankContext const&) {
    for (NumberFormat const format : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16})
      for (bool const accumulate : {false, true}) {
        for (std::int64_t const numel : {1, 7, 8, 9, 2'049})
          expect_mean(numel, {}, format, accumulate);
        expect_mean(21, {.gradient = 1, .sum = 1}, format, accumulate);
        expect_mean(21, {.gradient = 0, .sum = 3}, format, accumulate);
        expect_mean(21, {.gradient = 5, .sum = 0}, format, accumulate);
      }
  });
}

TEST(MeanKernel, LeavesATaskWithoutElementsAlone) {
  ADAMANT_NEEDS(1, Devices::shared);
  run_ranks(1, Devices::shared, [](RankContext const&) {
    Stream const stream;
    GuardedNumbers const gradient(std::vector<float>{1}, NumberFormat::fp32, 0, stream);
    GuardedNumbers const sum(std::vector<float>{6}, NumberFormat::fp32, 0, stream);
    MeanTask const none = {.gradient = gradient.numbers().data, .sum = sum.numbers().data};
    launch_mean({&none, 1}, divisor, stream);
    EXPECT_TRUE(gradient.bytes() == encoded(std::vector<float>{1}, NumberFormat::fp32));
  });
}

}  // namespace
}  // namespace adamant::real
