// The loops of the CPU's step over arrays of the formats that are met most: every number is
// widened, stepped and rounded in registers. Nothing in them branches on a value, so that the
// compiler makes vectors of them, and everything is inlined, so that one text becomes code for
// registers of every width. They know nothing of processors.
#pragma once

#include <cstdint>

#include "real/offload/cpu_adam.h"
#include "real/step/adam_element.h"

#define ADAMANT_INLINED [[gnu::always_inline]] inline

namespace adamant::real::cpu_loops {

// ---- bfloat16 ----------------------------------------------------------------------------------

ADAMANT_INLINED std::uint32_t bits_of(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}
ADAMANT_INLINED float from_bits(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

/// The upper half is `x` to nearest even, the lower half is of no use. REQUIRES: no NaN, which the
/// addition could make a zero of.
ADAMANT_INLINED std::uint32_t rounded_number(float x) {
  return bits_of(x) + 0x7fffU + ((bits_of(x) >> 16) & 1U);
}

ADAMANT_INLINED float with_plain_nan(float x) {
  return x == x ? x : from_bits(0x7fff0000U);
}

ADAMANT_INLINED float number_of(float x) {
  return x;
}
ADAMANT_INLINED float number_of(std::uint16_t bf16) {
  return from_bits(std::uint32_t{bf16} << 16);
}

/// What a gradient is multiplied by, each product rounded. A norm that is NaN makes such a factor.
struct Factors {
  explicit Factors(CpuAdamNumbers const& numbers)
      : inverse(with_plain_nan(numbers.inverse)),
        coefficient(with_plain_nan(numbers.coefficient)) {}
  float inverse;
  float coefficient;
};

ADAMANT_INLINED float times(float gradient, Factors const& factors) {
  return gradient * factors.inverse * factors.coefficient;
}

// ---- e4m3 --------------------------------------------------------------------------------------

/// The exponents' biases differ by 120; subnormal numbers count in steps of 2^-9.
ADAMANT_INLINED float number_of(Fp8 x) {
  std::int32_t const magnitude = x.bits & 0x7f;
  std::uint32_t const normal = static_cast<std::uint32_t>(magnitude + (120 << 3)) << 20;
  std::uint32_t const subnormal = bits_of(static_cast<float>(magnitude) * 0x1p-9F);
  std::uint32_t const number = magnitude < 8 ? subnormal : normal;
  std::uint32_t const sign = std::uint32_t{x.bits} << 24 & 0x80000000U;
  return from_bits(magnitude == 0x7f ? 0x7fff0000U : number | sign);
}

/// To nearest even: as an integer above 2^-6, below by a sum with 2^14, whose last bit is worth the
/// smallest number. What is beyond 448 after rounding, and infinite, is NaN.
ADAMANT_INLINED std::uint8_t e4m3_of(float x) {
  auto const magnitude = static_cast<std::int32_t>(bits_of(x) & 0x7fffffffU);
  std::uint32_t const odd = bits_of(x) >> 20 & 1U;
  std::uint32_t const above = (static_cast<std::uint32_t>(magnitude) + 0x7ffffU + odd) >> 20;
  std::int32_t const normal = static_cast<std::int32_t>(above) - (120 << 3);
  float const sum = __builtin_bit_cast(float, magnitude) + 0x1p14F;
  std::int32_t const subnormal = __builtin_bit_cast(std::int32_t, sum) - (141 << 23);
  std::int32_t const code = magnitude < 121 << 23 ? subnormal : normal;
  std::int32_t const finite = magnitude >= 0x7f800000 || code > 0x7e ? 0x7f : code;
  std::int32_t const sign =
      magnitude > 0x7f800000 ? 0 : static_cast<std::int32_t>(bits_of(x) >> 24 & 0x80U);
  return static_cast<std::uint8_t>(finite | sign);
}

// ---- between an array and room for fp32 beside it ---------------------------------------------

template <typename T>
ADAMANT_INLINED void widen(T const* __restrict from, float scale, float* __restrict to,
                           std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = widened(from[i]) * scale;
}

template <typename T>
ADAMANT_INLINED void store(float const* __restrict from, float inverse, T* __restrict to,
                           std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = stored<T>(from[i] * inverse);
}

ADAMANT_INLINED void widen(Fp8 const* __restrict from, float scale, float* __restrict to,
                           std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = number_of(from[i]) * scale;
}

ADAMANT_INLINED void store(float const* __restrict from, float inverse, Fp8* __restrict to,
                           std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i].bits = e4m3_of(from[i] * inverse);
}

// ---- fp32 states -------------------------------------------------------------------------------

/// fp32 weights and a bf16 parameter beside them. G: float or, for bf16, std::uint16_t.
template <bool decoupled, typename G>
ADAMANT_INLINED void step_with_copy(StepScalars const& scalars, CpuAdamNumbers const& numbers,
                                    std::int64_t count) {
  StepScalars const s = scalars;  // a copy that no store in the loop can alias
  Factors const factors(numbers);
  auto* __restrict const w = static_cast<float*>(numbers.weights.data);
  auto const* __restrict const g = static_cast<G const*>(numbers.gradients.data);
  auto* __restrict const m = static_cast<float*>(numbers.exp_avg.data);
  auto* __restrict const v = static_cast<float*>(numbers.exp_avg_sq.data);
  auto* __restrict const p = static_cast<std::uint16_t*>(numbers.parameter.data);
  for (std::int64_t i = 0; i < count; ++i) {
    float const gradient = times(number_of(g[i]), factors);
    AdamElement const e = adam_element<decoupled>(s, gradient, {.p = w[i], .m = m[i], .v = v[i]});
    w[i] = e.p;
    m[i] = e.m;
    v[i] = e.v;
    p[i] = static_cast<std::uint16_t>(rounded_number(with_plain_nan(e.p)) >> 16);
  }
}

/// bf16 parameters and the 16 bits that they lack; split and joined as real/cuda/numbers.h says.
template <bool decoupled, typename G>
ADAMANT_INLINED void step_split(StepScalars const& scalars, CpuAdamNumbers const& numbers,
                                std::int64_t count) {
  StepScalars const s = scalars;
  Factors const factors(numbers);
  auto* __restrict const r = static_cast<std::uint16_t*>(numbers.weights.data);
  auto const* __restrict const g = static_cast<G const*>(numbers.gradients.data);
  auto* __restrict const m = static_cast<float*>(numbers.exp_avg.data);
  auto* __restrict const v = static_cast<float*>(numbers.exp_avg_sq.data);
  auto* __restrict const p = static_cast<std::uint16_t*>(numbers.parameter.data);
  for (std::int64_t i = 0; i < count; ++i) {
    auto const upper = static_cast<std::uint16_t>(p[i] - (r[i] >> 15));
    float const weight = from_bits(std::uint32_t{upper} << 16 | r[i]);
    float const gradient = times(number_of(g[i]), factors);
    AdamElement const e = adam_element<decoupled>(s, gradient, {.p = weight, .m = m[i], .v = v[i]});
    std::uint32_t const bits = bits_of(with_plain_nan(e.p));
    p[i] = static_cast<std::uint16_t>((bits + 0x8000U) >> 16);
    r[i] = static_cast<std::uint16_t>(bits);
    m[i] = e.m;
    v[i] = e.v;
  }
}

// ---- all bf16 ----------------------------------------------------------------------------------

// Two neighbours are taken as one number of 32 bits: then every lane has the same width, and
// widening and rounding need no shuffle.
using Pair [[gnu::may_alias, gnu::aligned(2)]] = std::uint32_t;

ADAMANT_INLINED float lower(std::uint32_t pair) {
  return from_bits(pair << 16);
}
ADAMANT_INLINED float upper(std::uint32_t pair) {
  return from_bits(pair & 0xffff0000U);
}
ADAMANT_INLINED std::uint32_t rounded_pair(float low, float high) {
  return rounded_number(low) >> 16 | (rounded_number(high) & 0xffff0000U);
}

/// Every NaN as a conversion from fp32 gives it.
ADAMANT_INLINED void make_nans_plain(std::uint16_t* numbers, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    numbers[i] = (numbers[i] & 0x7fffU) > 0x7f80U ? std::uint16_t{0x7fff} : numbers[i];
}

ADAMANT_INLINED bool has_nan(std::uint16_t const* numbers, std::int64_t count) {
  std::int16_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    auto const magnitude = static_cast<std::int16_t>(numbers[i] & 0x7fffU);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest > 0x7f80;
}

/// 2 * `pairs` elements, whose NaNs are made plain afterwards. A NaN that comes of bf16 numbers,
/// finite scalars and plain factors has no bit set below bf16's, so that rounding leaves it one;
/// and where a moment is one, so is the weight.
template <bool decoupled, bool multiplied>
ADAMANT_INLINED void step_pairs(StepScalars const& s, Factors const& factors, Pair* __restrict w,
                                Pair const* __restrict g, Pair* __restrict m, Pair* __restrict v,
                                std::int64_t pairs) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    AdamElement const low =
        adam_element<decoupled>(s, multiplied ? times(lower(g[i]), factors) : lower(g[i]),
                                {.p = lower(w[i]), .m = lower(m[i]), .v = lower(v[i])});
    AdamElement const high =
        adam_element<decoupled>(s, multiplied ? times(upper(g[i]), factors) : upper(g[i]),
                                {.p = upper(w[i]), .m = upper(m[i]), .v = upper(v[i])});
    w[i] = rounded_pair(low.p, high.p);
    m[i] = rounded_pair(low.m, high.m);
    v[i] = rounded_pair(low.v, high.v);
  }
}

/// REQUIRES: an even count; parameters, gradients and moments in bf16.
template <bool decoupled, bool multiplied>
ADAMANT_INLINED void step_bf16(StepScalars const& scalars, CpuAdamNumbers const& numbers,
                               std::int64_t count) {
  StepScalars const s = scalars;
  Factors const factors(numbers);
  constexpr std::int64_t block_numel = 512;  // stays in the first cache until its NaNs were sought
  for (std::int64_t begin = 0; begin < count; begin += block_numel) {
    std::int64_t const part = count - begin < block_numel ? count - begin : block_numel;
    auto* const w = static_cast<std::uint16_t*>(numbers.weights.data) + begin;
    auto const* const g = static_cast<std::uint16_t const*>(numbers.gradients.data) + begin;
    auto* const m = static_cast<std::uint16_t*>(numbers.exp_avg.data) + begin;
    auto* const v = static_cast<std::uint16_t*>(numbers.exp_avg_sq.data) + begin;
    step_pairs<decoupled, multiplied>(s, factors, reinterpret_cast<Pair*>(w),
                                      reinterpret_cast<Pair const*>(g), reinterpret_cast<Pair*>(m),
                                      reinterpret_cast<Pair*>(v), part / 2);
    if (!has_nan(w, part)) continue;
    for (std::uint16_t* const array : {w, m, v}) make_nans_plain(array, part);
  }
}

}  // namespace adamant::real::cpu_loops
