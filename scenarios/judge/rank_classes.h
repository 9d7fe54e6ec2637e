// Which ranks of a world have parts of the same sizes, found without looking at each: a world may
// have more ranks than anybody can visit, and most of them are alike.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "oracle/types.h"
#include "scenarios/seam/memory.h"

namespace adamant::scenarios {

/// Ranks whose bytes are those of `first`: they have as much of each parameter and its states.
struct RankClass {
  int first = 0;  // the lowest of them
  std::vector<RankBlock> ranks;
};

/// All ranks, by the lowest of each class.
///
/// Time: as the parameters times the places where one of them begins or ends, times the logarithm
///       of the ranks. `looked` is called before each look at all parameters of a rank, and may end
///       it by an exception.
std::vector<RankClass> rank_classes(
    LayoutKind layout, std::span<ParameterSpec const> parameters, Mesh const& mesh,
    std::function<void()> const& looked = [] {});

/// What one of many parts of a model holds: a range of each parameter, perhaps an empty one.
using Held = std::vector<ElementRange>;

/// The parts 0 … count - 1, cut into runs of which all parts hold equally many elements of each
/// parameter; neighbours may be as large as each other.
///
/// REQUIRES: parts hold ranges that ascend from part to part. What two parts hold of a parameter is
///           all there is of it in parts between them, and those hold equally much or ever less.
std::vector<Numbers> equal_runs(int count, std::function<Held(int part)> const& held_by);

/// Joins what lies side by side.
std::vector<RankBlock> joined(std::vector<RankBlock> blocks);

}  // namespace adamant::scenarios
