// A guess at the cause of wrong numbers: of what else an operation might have gone by
// (suppositions.h), the one thing that leads to every bit that differs.
//
// A guess is made only where
//   1. every shard with a wrong bit is in every bit what the supposition leaves;
//   2. no other supposition does the same;
//   3. what differs is enough to tell: `bits_enough` bits, where an element that is n steps of its
//      stored format away from what is right counts as the bits of n. One step is one bit, which
//      any mistake that moves a number by less than a step may have moved. Under other scales, and
//      in codes of a recipe, an element is one bit.
#pragma once

#include <string>
#include <vector>

#include "oracle/explain/suppositions.h"
#include "oracle/layout/layout.h"
#include "oracle/model/model.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// What a rank was seen to hold of a tensor: all elements that the layout gives it.
struct SeenShard {
  int rank = 0;
  int parameter = 0;
  TensorKind kind = TensorKind::parameter;
  std::vector<float> values = {};  // as reading gives them
  float scale = 1;
};

inline constexpr int bits_enough = 24;

/// What it may have gone by, as a supposition says it; empty: no guess.
std::string guess(std::vector<Supposition> const& suppositions, Model const& right,
                  Layout const& layout, std::vector<SeenShard> const& seen);

}  // namespace adamant::oracle
