// Would quantising change a weight? Asked on the host, before anything of a load is replaced.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "real/quantise/recipe_shape.h"

namespace adamant::real {

/// The maxima that ranks join, of one rank's part: maxima_count(shape) numbers. NaN counts for
/// nothing, infinities do.
///
/// Shapes: `weights` are the elements of `own`.
std::vector<float> maxima_of(RecipeShape const& shape, ElementRange own,
                             std::span<float const> weights);

/// The first of the weights that is another number once it is quantised for the first time and
/// read, or their count: any NaN is the same, zeros of two signs are not.
///
/// Shapes: as of maxima_of(); `maxima` are those of all ranks. REQUIRES: no block of mxfp8 is cut.
std::size_t first_changed(RecipeShape const& shape, ElementRange own,
                          std::span<float const> weights, std::span<float const> maxima);

}  // namespace adamant::real
