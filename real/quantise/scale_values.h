// What codes and scales are worth to whoever reads them. Every operation is one of binary32,
// rounded once.
#pragma once

// The toolkit's own header has parameters that it does not use.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <cuda_fp4.h>
#pragma GCC diagnostic pop
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "oracle/types.h"
#include "real/cuda/numbers.h"

namespace adamant::real {

inline constexpr int amax_history = 16;

/// What fp8_delayed keeps between quantisations.
struct DelayedScale {
  float next = 1;                    // what the next one multiplies by
  float history[amax_history] = {};  // amaxes of the last ones, the newest last

  friend bool operator==(DelayedScale const&, DelayedScale const&) = default;
};

__host__ __device__ __forceinline__ float value_of_e4m3(std::uint8_t code) {
  return widened(Fp8{code});
}

/// Of the lower half of a byte.
__host__ __device__ __forceinline__ float value_of_e2m1(std::uint8_t code) {
  return __half2float(__half(__nv_cvt_fp4_to_halfraw(code, __NV_E2M1)));
}

__host__ __device__ __forceinline__ float value_of_e8m0(std::uint8_t code) {
  return __bfloat162float(__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(code)));
}

/// The scale that brings `amax` to `range`: 1 where there is none to bring.
__host__ __device__ __forceinline__ float scale_to(float range, float amax) {
  constexpr float largest = 0x1.fffffep127F;
  if (amax == 0.0F || amax > largest) return 1.0F;
  float const scale = range / amax;
  return scale > largest ? largest : scale;
}

/// What a block's scale of nvfp4 is divided by.
__host__ __device__ __forceinline__ float nvfp4_tensor_scale(float tensor_amax) {
  return scale_to(2688.0F, tensor_amax);
}

__host__ __device__ __forceinline__ float nvfp4_back(std::uint8_t code, float tensor_scale) {
  return value_of_e4m3(code) * (1.0F / tensor_scale);
}

}  // namespace adamant::real
