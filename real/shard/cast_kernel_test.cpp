#include "real/shard/cast_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "real/testing/guarded_numbers.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

/// Also those that are not finite, and some that round to infinity in fp16.
std::vector<float> some_values(std::int64_t numel) {
  std::vector<float> values = {std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN(), -0.0F, 70'000.0F};
  while (std::ssize(values) < numel)
    values.push_back(std::sin(static_cast<float>(values.size())) * 100);
  values.resize(static_cast<std::size_t>(numel));
  return values;
}

struct Place {
  NumberFormat format = NumberFormat::fp32;
  std::size_t begin = 0;  // in elements behind a 16-byte boundary
};

void expect_cast(std::int64_t numel, Place const& from, Place const& to) {
  SCOPED_TRACE(std::string(name_of(from.format)) + " to " + std::string(name_of(to.format)) + ", " +
               std::to_string(numel) + " from " + std::to_string(from.begin) + " to " +
               std::to_string(to.begin));
  Stream const stream;
  std::vector<float> const values = some_values(numel);
  GuardedNumbers const source(values, from.format, from.begin, stream);
  GuardedNumbers const target(std::vector<float>(values.size()), to.format, to.begin, stream);
  CastTask const task = {.from = source.numbers(), .to = target.numbers(), .numel = numel};
  launch_casts({&task, 1}, stream);
  EXPECT_TRUE(target.bytes() == encoded(rounded(values, from.format), to.format));
}

// A thread's 8 elements are whole or not, and go by 16-byte accesses or not.
TEST(CastKernel, RoundsEveryElementWhereverItLies) {
  ADAMANT_NEEDS(1, Devices::shared);
  run_ranks(1, Devices::shared, [](RankContext const&) {
    constexpr NumberFormat formats[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16};
    for (NumberFormat const from : formats)
      for (NumberFormat const to : formats) {
        for (std::int64_t const numel : {1, 7, 8, 9, 2'049}) expect_cast(numel, {from}, {to});
        expect_cast(21, {from, 1}, {to, 1});
        expect_cast(21, {from, 0}, {to, 3});
        expect_cast(21, {from, 5}, {to, 0});
      }
  });
}

}  // namespace
}  // namespace adamant::real
