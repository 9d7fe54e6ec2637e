// Turns summed gradients into means over the global batch, many tensors a launch. It does not know
// who summed them.
#pragma once

#include <cstdint>
#include <span>

#include "oracle/types.h"
#include "real/cuda/handles.h"

namespace adamant::real {

/// One shard: `gradient` becomes, or grows by, `sum` / divisor. Both are of one format.
struct MeanTask {
  void* gradient = nullptr;
  void const* sum = nullptr;
  std::int64_t numel = 0;
  NumberFormat format = NumberFormat::fp32;
  bool accumulate = false;
  std::uint8_t unused[6] = {};  // no padding: see launch()
};
static_assert(sizeof(MeanTask) == 2 * sizeof(void*) + 16);

/// gradient[i] = sum[i] / divisor, or gradient[i] + sum[i] / divisor, for every task.
///
/// Rounding: one IEEE fp32 division, rounded to the format, then one fp32 addition, rounded to the
///           format; never times 1/n. Tasks without elements are legal.
/// Stream:   ordered on `stream`, returns before completion. Errors: CudaError.
void launch_mean(std::span<MeanTask const> tasks, float divisor, Stream const& stream);

}  // namespace adamant::real
