// The two kernels of the loop-back: they read the buffers of ranks on the same device and write
// this rank's own output. They know nothing of who made the buffers ready.
#pragma once

#include <cstdint>
#include <span>

#include "oracle/types.h"
#include "real/cuda/handles.h"

namespace adamant::real {

/// Where a kernel writes. Elements of the destination and of all sources are of one format.
struct PeerTarget {
  void* destination = nullptr;
  std::int64_t count = 0;  // elements of one source
  NumberFormat format = NumberFormat::fp32;
};

/// destination[s count + i] = sources[s][i]
///
/// Shapes: every source [count], destination [sources.size() x count], disjoint, or a source is its
///         own place in the destination.
/// Stream: ordered on `stream`, returns before completion. Errors: CudaError.
void launch_peer_copy(std::span<void const* const> sources, PeerTarget const& target,
                      Stream const& stream);

/// destination[i] = (..(sources[0][i] + sources[1][i]) + ..) + sources[n - 1][i]
///
/// Rounding: one addition a source, in the order of `sources`, each rounded to the format.
void launch_peer_sum(std::span<void const* const> sources, PeerTarget const& target,
                     Stream const& stream);

}  // namespace adamant::real
