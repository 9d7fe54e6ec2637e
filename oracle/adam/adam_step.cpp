#include "oracle/adam/adam_step.h"

#include <Eigen/Core>

#include "oracle/adam/bias_corrections.h"
#include "oracle/check.h"

namespace adamant::oracle {
namespace {

// Eigen's own fast square root is up to 2 ulp off; the build must have switched it off.
static_assert(EIGEN_FAST_MATH == 0);

struct Tensors {
  float const* g;
  float* p;
  float* m;
  float* v;
};

// A few vectors' worth of elements, so that temporaries stay in registers and memory is passed over
// once. Per element 16 bytes are read and 12 written: 124,439,808 elements take 0.16 s on one core
// of a 2-core Xeon (SSE2, g++ 12.2, November 2026), 1.2 times a bare stream of that traffic;
// expressions over blocks of 1,024 elements took 2.0 times, a plain loop 1.13 times.
constexpr int vector_numel = 8;

template <int numel>
using Values = Eigen::Map<Eigen::Array<float, numel, 1>>;
template <int numel>
using ConstValues = Eigen::Map<Eigen::Array<float, numel, 1> const>;

/// One step of `numel` consecutive elements (or of `count`, if numel is Eigen::Dynamic).
template <AdamMode mode, int numel>
void step_chunk(AdamConfig const& config, BiasCorrections c, Tensors const& at, std::int64_t begin,
                std::int64_t count = numel) {
  ConstValues<numel> const grad(at.g + begin, count);
  Values<numel> p(at.p + begin, count);
  Values<numel> m(at.m + begin, count);
  Values<numel> v(at.v + begin, count);
  Eigen::Array<float, numel, 1, 0, vector_numel, 1> g = grad;  // never on the heap
  if constexpr (mode == AdamMode::adam) g = grad + config.weight_decay * p;
  m = config.beta1 * m + (1.0F - config.beta1) * g;
  v = config.beta2 * v + ((1.0F - config.beta2) * g) * g;
  auto const adaptive = (m / c.c1) / ((v / c.c2).sqrt() + config.epsilon);
  if constexpr (mode == AdamMode::adam) p = p - config.learning_rate * adaptive;
  if constexpr (mode == AdamMode::adamw)
    p = p - config.learning_rate * (adaptive + config.weight_decay * p);
}

template <AdamMode mode>
void step_all(AdamConfig const& config, BiasCorrections c, Tensors const& at, std::int64_t numel) {
  auto const whole_chunks = numel / vector_numel * vector_numel;
  for (std::int64_t begin = 0; begin < whole_chunks; begin += vector_numel)
    step_chunk<mode, vector_numel>(config, c, at, begin);
  step_chunk<mode, Eigen::Dynamic>(config, c, at, whole_chunks, numel - whole_chunks);
}

}  // namespace

void adam_step(AdamConfig const& config, std::int64_t step, std::span<float const> grad,
               std::span<float> param, std::span<float> m, std::span<float> v) {
  check(param.size() == grad.size(), "parameter and gradient have one length");
  check(m.size() == grad.size(), "first moment and gradient have one length");
  check(v.size() == grad.size(), "second moment and gradient have one length");
  auto const step_mode =
      config.mode == AdamMode::adam ? step_all<AdamMode::adam> : step_all<AdamMode::adamw>;
  step_mode(config, bias_corrections(config, step), {grad.data(), param.data(), m.data(), v.data()},
            std::ssize(grad));
}

}  // namespace adamant::oracle
