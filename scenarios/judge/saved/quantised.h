// A quantised parameter as files have it: beside its values stand the codes, their scales, and what
// else its recipe keeps. Which recipe that was, files tell by what is there.
//
//   recipe       /raw                 /scale                        besides
//   fp8_delayed  e4m3                 fp32 [1]                      /history [16], /next_scale [1]
//   fp8_current  e4m3                 fp32 [1]
//   fp8_block    e4m3                 fp32 [rows / 128, cols / 128]
//   mxfp8        e4m3                 e8m0 [rows, cols / 32]
//   nvfp4        e2m1, half the cols  e4m3 [rows / 16, cols / 16]   /amax [1]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/quantise/recipes.h"
#include "oracle/types.h"
#include "scenarios/judge/saved/files.h"

namespace adamant::scenarios {

/// The shape of such a parameter's codes, of which two share a byte in nvfp4.
std::vector<std::int64_t> raw_shape(Recipe recipe, ParameterSpec const& parameter);
/// The shape of its scales.
std::vector<std::int64_t> scale_shape(Recipe recipe, ParameterSpec const& parameter);

struct SavedQuantised {
  Recipe recipe = Recipe::fp8_current;
  oracle::Quantised quantised = {};  // with an amax under nvfp4 alone
  oracle::DelayedScale delayed = {};
};

/// Nothing where files have the parameter in a plain type.
///
/// Errors: std::exception where the parts do not fit each other or the shape.
std::optional<SavedQuantised> quantised_in(SavedFiles const& saved, ParameterSpec const& parameter);

}  // namespace adamant::scenarios
