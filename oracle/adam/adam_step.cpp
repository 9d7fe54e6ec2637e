#include "oracle/adam/adam_step.h"

#include <Eigen/Core>
#include <algorithm>

#include "oracle/adam/bias_corrections.h"
#include "oracle/check.h"

namespace adamant::oracle {
namespace {

// Eigen's own fast square root is up to 2 ulp off; the build must have switched it off.
static_assert(EIGEN_FAST_MATH == 0);

using Values = Eigen::Map<Eigen::ArrayXf>;
using ConstValues = Eigen::Map<Eigen::ArrayXf const>;

// A block of four tensors and one temporary is 20 KiB: the passes below read memory once and find
// everything in the first-level cache afterwards.
constexpr std::int64_t block_numel = 1024;
using Block = Eigen::Array<float, Eigen::Dynamic, 1, 0, block_numel, 1>;

void update_moments(AdamConfig const& config, auto const& g, Values& m, Values& v) {
  m = config.beta1 * m + (1.0F - config.beta1) * g;
  v = config.beta2 * v + ((1.0F - config.beta2) * g) * g;
}

void step_adam(AdamConfig const& config, BiasCorrections c, ConstValues const& grad, Values& p,
               Values& m, Values& v) {
  Block const g = grad + config.weight_decay * p;
  update_moments(config, g, m, v);
  p = p - config.learning_rate * ((m / c.c1) / ((v / c.c2).sqrt() + config.epsilon));
}

void step_adamw(AdamConfig const& config, BiasCorrections c, ConstValues const& g, Values& p,
                Values& m, Values& v) {
  update_moments(config, g, m, v);
  p = p - config.learning_rate *
              ((m / c.c1) / ((v / c.c2).sqrt() + config.epsilon) + config.weight_decay * p);
}

}  // namespace

void adam_step(AdamConfig const& config, std::int64_t step, std::span<float const> grad,
               std::span<float> param, std::span<float> m, std::span<float> v) {
  check(param.size() == grad.size(), "parameter and gradient have one length");
  check(m.size() == grad.size(), "first moment and gradient have one length");
  check(v.size() == grad.size(), "second moment and gradient have one length");
  auto const step_block = config.mode == AdamMode::adam ? step_adam : step_adamw;
  auto const c = bias_corrections(config, step);
  auto const numel = std::ssize(grad);
  for (std::int64_t begin = 0; begin < numel; begin += block_numel) {
    auto const count = std::min(block_numel, numel - begin);
    Values p_block(param.data() + begin, count);
    Values m_block(m.data() + begin, count);
    Values v_block(v.data() + begin, count);
    step_block(config, c, ConstValues(grad.data() + begin, count), p_block, m_block, v_block);
  }
}

}  // namespace adamant::oracle
