// Numbers between the type in which an engine has them and the fp32 values of files. It knows
// neither files nor how ranks agree on a scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "real/checkpoint/state.h"
#include "real/cuda/handles.h"

namespace adamant::real {

/// Does a file have numbers of this tensor in another type beside their fp32 values? Remainders are
/// no numbers: what they complete to fp32 is all there is.
inline bool has_raw(NumberFormat format) {
  return format != NumberFormat::fp32 && format != NumberFormat::remainder;
}

/// The scale of a tensor, or 1. Stream: waits for `stream`. Errors: CudaError.
float scale_of(StateTensor const& tensor, Stream const& stream);

/// What elements [first, first + count) of a shard are worth.
///
/// Rounding: stored times scale, once. Stream: waits for `stream`. Errors: CudaError.
std::vector<float> values_of(StateTensor const& tensor, float scale, std::int64_t first,
                             std::int64_t count, Stream const& stream);

/// How a tensor stores these values.
///
/// Rounding: once, as a step stores them; of the two halves of a split weight see split().
std::vector<std::byte> stored_as(StateTensor const& tensor, std::span<float const> values,
                                 float scale);

/// The first of the values that is another number once it is stored and read, or their count: any
/// NaN is the same, zeros of two signs are not. REQUIRES: no remainders, which have all bits.
std::size_t first_rounded(StateTensor const& tensor, std::span<float const> values, float scale);

}  // namespace adamant::real
