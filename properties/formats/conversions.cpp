// Compiled once against each header set, with the names of its two functions as
// ADAMANT_CONVERSIONS_BF16 and ADAMANT_CONVERSIONS_FP16.
#include "properties/formats/conversions.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>

namespace adamant::properties {

namespace {

void narrow_bf16(std::span<float const> values, std::span<std::uint16_t> bits) {
  for (std::size_t i = 0; i < values.size(); ++i)
    bits[i] = __bfloat16_as_ushort(__float2bfloat16_rn(values[i]));
}

void widen_bf16(std::span<std::uint16_t const> bits, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = __bfloat162float(__ushort_as_bfloat16(bits[i]));
}

void narrow_fp16(std::span<float const> values, std::span<std::uint16_t> bits) {
  for (std::size_t i = 0; i < values.size(); ++i)
    bits[i] = __half_as_ushort(__float2half_rn(values[i]));
}

void widen_fp16(std::span<std::uint16_t const> bits, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = __half2float(__ushort_as_half(bits[i]));
}

}  // namespace

Conversions ADAMANT_CONVERSIONS_BF16() {
  return {.narrow = narrow_bf16, .widen = widen_bf16};
}

Conversions ADAMANT_CONVERSIONS_FP16() {
  return {.narrow = narrow_fp16, .widen = widen_fp16};
}

}  // namespace adamant::properties
