// The loop-back's kernels for integers: exact sums of words and the largest of flags. Like those
// for numbers they read the buffers of ranks on the same device and write this rank's own output.
#pragma once

#include <cstdint>
#include <span>

#include "real/cuda/handles.h"

namespace adamant::real {

/// destination[i] = sources[0][i] + sources[1][i] + ..., modulo 2^64
///
/// Shapes: every source and the destination [count], disjoint.
/// Stream: ordered on `stream`, returns before completion. Errors: CudaError.
void launch_integer_sum(std::span<void const* const> sources, std::int64_t* destination,
                        std::int64_t count, Stream const& stream);

/// destination[i] = max(sources[0][i], sources[1][i], ...); the destination may be a source.
void launch_integer_max(std::span<void const* const> sources, std::int32_t* destination,
                        std::int64_t count, Stream const& stream);

}  // namespace adamant::real
