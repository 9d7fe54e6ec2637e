// Copies shards of gradients into another number format, many tensors a launch. It does not know
// why somebody wants them there.
#pragma once

#include <cstdint>
#include <span>

#include "real/cuda/handles.h"
#include "real/cuda/numbers.h"

namespace adamant::real {

/// One shard: to[i] = from[i], rounded once to the format of `to`.
struct CastTask {
  Numbers from;
  Numbers to;
  std::int64_t numel = 0;
};

/// Stream: ordered on `stream`, returns before completion. Errors: CudaError.
void launch_casts(std::span<CastTask const> tasks, Stream const& stream);

}  // namespace adamant::real
