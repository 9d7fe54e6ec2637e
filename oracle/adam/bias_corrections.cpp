#include "oracle/adam/bias_corrections.h"

#include <cmath>

#include "oracle/check.h"

namespace adamant::oracle {
namespace {

float correction(float beta, std::int64_t step) {
  return static_cast<float>(1.0 - std::pow(static_cast<double>(beta), static_cast<double>(step)));
}

}  // namespace

BiasCorrections bias_corrections(AdamConfig const& config, std::int64_t step) {
  check(step >= 1, "the first step has number 1");
  if (!config.bias_correction) return {};
  return {.c1 = correction(config.beta1, step), .c2 = correction(config.beta2, step)};
}

}  // namespace adamant::oracle
