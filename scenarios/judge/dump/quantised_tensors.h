// What a quantised parameter is read from, for a dump, under the keys that checkpoints have.
#pragma once

#include <cstddef>
#include <list>
#include <vector>

#include "scenarios/judge/dump/safetensors.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// Bytes of tensors that are put together to be written.
using ByteRooms = std::list<std::vector<std::byte>>;

/// NAME/raw, NAME/scale and, by its recipe, NAME/amax, NAME/history and NAME/next_scale: codes put
/// together of what ranks hold, and what all ranks have as the first one has it. Nothing where
/// ranks lost codes or are of other recipes, which the verdict reports.
///
/// REQUIRES: the parameter has a recipe. What is returned refers to `rooms`.
std::vector<TensorToWrite> quantised_tensors(WorldView const& world, ParameterSpec const& spec,
                                             int parameter, ByteRooms& rooms);

}  // namespace adamant::scenarios
