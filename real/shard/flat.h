// The layout of a ZeRO-1 distributed optimizer: one buffer, cut anywhere, also in the middle of a
// row.
#pragma once

#include <span>

#include "real/shard/placement.h"

namespace adamant::real {

/// The last tensor comes first. Each begins at a multiple of 8 elements, and each of `shards` ranks
/// has a multiple of 8. Tensors without elements take no place.
///
/// Source: Megatron-LM's distributed optimizer, whose multiples are 64 and 128.
Placement place_flat(std::span<TensorSize const> tensors, int shards);

}  // namespace adamant::real
