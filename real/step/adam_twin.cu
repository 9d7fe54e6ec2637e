// Arithmetic:  domain sheet 1.3, order "sep", written out once more; -fmad=false, IEEE division and
//              root.
// Launch:      threads over elements. It is slow, and meant to be.
#include "real/step/adam_twin.h"

#include <cmath>

#include "real/cuda/launch.h"
#include "real/cuda/state_numbers.h"
#include "real/step/scale_slots.h"

namespace adamant::real {

namespace {

struct NewValues {
  float p = 0;
  float m = 0;
  float v = 0;
};

__device__ std::uint16_t& half_at(Numbers const& halves, std::int64_t i) {
  return static_cast<std::uint16_t*>(halves.data)[i];
}

__device__ float weight_at(AdamTwinArguments const& a, std::int64_t i) {
  if (a.weight.format == NumberFormat::remainder)
    return joined({half_at(a.parameter, i), half_at(a.weight, i)});
  return number_at(a.weight, i) * a.weight_scale.now;
}

__device__ NewValues new_values(AdamTwinArguments const& a, std::int64_t i) {
  StepScalars const& s = a.scalars;
  float const p = weight_at(a, i);
  float const handed = number_at(a.gradient, i);
  float const g = s.decoupled != 0 ? handed : handed + s.weight_decay * p;
  float const m_old = number_at(a.exp_avg, i) * a.exp_avg_scale.now;
  float const v_old = number_at(a.exp_avg_sq, i) * a.exp_avg_sq_scale.now;
  float const m = s.beta1 * m_old + s.one_minus_beta1 * g;
  float const v = s.beta2 * v_old + (s.one_minus_beta2 * g) * g;
  float const m_hat = m / s.correction1;
  float const v_hat = v / s.correction2;
  float const step = m_hat / (sqrtf(v_hat) + s.epsilon);
  float const update = s.decoupled != 0 ? step + s.weight_decay * p : step;
  return {.p = p - s.learning_rate * update, .m = m, .v = v};
}

__device__ void store_weight(AdamTwinArguments const& a, std::int64_t i, float p) {
  if (a.weight.format == NumberFormat::remainder) {
    SplitWeight const halves = split(p);
    half_at(a.parameter, i) = halves.parameter;
    half_at(a.weight, i) = halves.remainder;
    return;
  }
  if (a.parameter.data != nullptr) store_number(a.parameter, i, p);
  store_number(a.weight, i, p * (1.0F / a.weight_scale.next));
}

__global__ void adam_twin_kernel(__grid_constant__ AdamTwinArguments const a) {
  for_each_in_grid(a.numel, [&](std::int64_t i) {
    NewValues const value = new_values(a, i);
    store_weight(a, i, value.p);
    store_number(a.exp_avg, i, value.m * (1.0F / a.exp_avg_scale.next));
    store_number(a.exp_avg_sq, i, value.v * (1.0F / a.exp_avg_sq_scale.next));
  });
}

struct AmaxTwinArguments {
  AdamTwinArguments step;
  std::int32_t* amaxes = nullptr;
  std::int64_t unused = 0;  // no padding: see launch()
};
static_assert(sizeof(AmaxTwinArguments) == sizeof(AdamTwinArguments) + 16);

// Bits of numbers >= 0 order as the numbers do. A NaN is not less than anything.
__device__ void raise(std::int32_t* amax, float x) {
  float const magnitude = fabsf(x);
  if (magnitude < __builtin_inff()) atomicMax(amax, __float_as_int(magnitude));
}

__global__ void amax_twin_kernel(__grid_constant__ AmaxTwinArguments const a) {
  for_each_in_grid(a.step.numel, [&](std::int64_t i) {
    NewValues const value = new_values(a.step, i);
    raise(a.amaxes + main_slot, value.p);
    raise(a.amaxes + exp_avg_slot, value.m);
    raise(a.amaxes + exp_avg_sq_slot, value.v);
  });
}

}  // namespace

void launch_adam_twin(AdamTwinArguments const& arguments, Stream const& stream) {
  if (arguments.numel == 0) return;
  launch(adam_twin_kernel, dim3(blocks_for(arguments.numel)), stream, arguments);
}

void launch_amax_twin(AdamTwinArguments const& arguments, std::int32_t* amaxes,
                      Stream const& stream) {
  if (arguments.numel == 0) return;
  launch(amax_twin_kernel, dim3(blocks_for(arguments.numel)), stream,
         AmaxTwinArguments{.step = arguments, .amaxes = amaxes});
}

}  // namespace adamant::real
