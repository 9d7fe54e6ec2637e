// Compiled once against each header set, with the name of its function as
// ADAMANT_SMALL_CONVERSIONS.
#include "properties/formats/small_conversions.h"

#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include <algorithm>

#include "real/cuda/numbers.h"
#include "real/quantise/recipe_scales.h"

namespace adamant::properties {

namespace {

std::uint8_t code_of(SmallKind kind, float x) {
  switch (kind) {
    case SmallKind::e4m3:
      return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    case SmallKind::e4m3_beyond:
      return __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3);
    case SmallKind::e4m3_stored:
      return real::stored<real::Fp8>(x).bits;
    case SmallKind::e5m2:
      return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
    case SmallKind::e5m2_beyond:
      return __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2);
    case SmallKind::e2m1:
      return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest);
    case SmallKind::e2m1_stored:
      return real::e2m1_code(x);
    case SmallKind::e8m0:
      break;
  }
  return __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf);
}

void narrow(SmallKind kind, std::span<float const> values, std::span<std::uint8_t> codes) {
  std::ranges::transform(values, codes.begin(), [kind](float x) { return code_of(kind, x); });
}

float widen(SmallKind kind, std::uint8_t code) {
  switch (kind) {
    case SmallKind::e4m3:
    case SmallKind::e4m3_beyond:
    case SmallKind::e4m3_stored:
      return __half2float(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3));
    case SmallKind::e5m2:
    case SmallKind::e5m2_beyond:
      return __half2float(__nv_cvt_fp8_to_halfraw(code, __NV_E5M2));
    case SmallKind::e2m1:
    case SmallKind::e2m1_stored:
      return __half2float(__nv_cvt_fp4_to_halfraw(code, __NV_E2M1));
    case SmallKind::e8m0:
      break;
  }
  return __bfloat162float(__nv_cvt_e8m0_to_bf16raw(code));
}

}  // namespace

SmallConversions ADAMANT_SMALL_CONVERSIONS() {
  return {.narrow = narrow, .widen = widen};
}

}  // namespace adamant::properties
