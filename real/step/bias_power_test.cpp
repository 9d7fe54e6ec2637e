#include "real/step/bias_power.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "real/step/step_table.h"

namespace adamant::real {
namespace {

TEST(BiasPower, HasTheHostsBitsInEveryStep) {
  for (float const beta : {0.0F, 0.5F, 0.9F, 0.95F, 0.98F, 0.99F, 0.995F, 0.999F, 0.9999F,
                           0.99999994F, 1e-3F, 0x1p-126F}) {
    for (std::int64_t step = 1; step <= 100'000; ++step) {
      AdamConfig const config{.beta1 = beta, .beta2 = beta};
      float const host = step_scalars(config, step, true).correction1;
      float const device = bias_correction_on_device(beta, step);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(device), std::bit_cast<std::uint32_t>(host))
          << "beta " << beta << ", step " << step;
    }
  }
}

TEST(BiasPower, HasTheHostsBitsInLateSteps) {
  for (std::int64_t step = 1; step < (std::int64_t{1} << 40); step = step * 3 + 1) {
    float const host = static_cast<float>(
        1.0 - std::pow(static_cast<double>(0.99999994F), static_cast<double>(step)));
    EXPECT_EQ(bias_correction_on_device(0.99999994F, step), host) << step;
  }
}

TEST(BiasPower, ProductsAreExact) {
  double const a = 1.0 - 0x1p-53;
  DoubleDouble const product = exact_product(a, a);
  EXPECT_EQ(product.high, 1.0 - 0x1p-52);
  EXPECT_EQ(product.low, 0x1p-106);
}

}  // namespace
}  // namespace adamant::real
