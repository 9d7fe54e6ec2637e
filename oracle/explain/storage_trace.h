// How the stored bits of one number come from the binary32 that was computed: rounded, divided by a
// scale, split, or quantised by a recipe. It is given the whole tensor, because scales are made of
// it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/explain/trace.h"
#include "oracle/quantise/recipes.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// A number among those that share its scale, as they are before they are stored.
struct Unstored {
  Term term;
  std::vector<float> sharing;
};

/// A number that is stored with a scale (T1): its scale, its code, and what reading gives.
Term trace_scaled(Trace& trace, Unstored const& x, NumberFormat format);

/// The bfloat16 parameter beside a remainder (T2).
Term trace_split(Trace& trace, Term const& weight);

/// An element of a parameter that is quantised anew from these weights (T5 to T9). `delayed` is of
/// fp8_delayed alone, as it was before. REQUIRES: the recipe takes the shape.
Term trace_quantised(Trace& trace, std::span<float const> weights, MatrixShape shape, Recipe recipe,
                     DelayedScale const& delayed, std::int64_t index);

}  // namespace adamant::oracle
