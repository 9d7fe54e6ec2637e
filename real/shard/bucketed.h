// The layout of Megatron-FSDP: one buffer, cut into equal parts between rows.
#pragma once

#include <span>

#include "real/shard/placement.h"

namespace adamant::real {

/// A chunk is the least common multiple of all rows. Each of `shards` ranks has whole chunks, and
/// tensors begin at multiples of their rows, so no row is ever cut.
///
/// Tensors of a chunk and more come first, in order, each at the start of a chunk; where one leaves
/// the rest of its last chunk free, the next one that fits is put so that its own odd rows fill the
/// end of that chunk. Smaller tensors, largest first, go where they fit between those, and what
/// fits nowhere follows at the end. Tensors without elements take no place.
///
/// Source: Megatron-FSDP v2's GlobalLayout.
Placement place_bucketed(std::span<TensorSize const> tensors, int shards);

}  // namespace adamant::real
