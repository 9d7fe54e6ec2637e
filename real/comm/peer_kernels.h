// The two kernels of the loop-back: they read the buffers of ranks on the same device and write
// this rank's own output. They know nothing of who made the buffers ready.
#pragma once

#include <cstdint>
#include <span>

#include "real/cuda/handles.h"

namespace adamant::real {

/// destination[s count + i] = sources[s][i]
///
/// Shapes: every source [count], destination [sources.size() x count], disjoint.
/// Stream: ordered on `stream`, returns before completion. Errors: CudaError.
void launch_peer_copy(std::span<float const* const> sources, float* destination, std::int64_t count,
                      Stream const& stream);

/// destination[i] = (..(sources[0][i] + sources[1][i]) + ..) + sources[n - 1][i]
///
/// Rounding: one fp32 addition a source, in the order of `sources`.
void launch_peer_sum(std::span<float const* const> sources, float* destination, std::int64_t count,
                     Stream const& stream);

}  // namespace adamant::real
