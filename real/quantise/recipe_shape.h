// Which elements of a quantised parameter share a scale, and how its codes lie. Numbers only: it
// knows neither ranks nor devices.
//
//   recipe       a scale covers       codes
//   fp8_delayed  the tensor           e4m3, one a byte
//   fp8_current  the tensor           e4m3, one a byte
//   fp8_block    128 x 128            e4m3, one a byte
//   mxfp8        32 of one row        e4m3, one a byte
//   nvfp4        16 x 16, the tensor  e2m1, two a byte, the even element in the lower half
//
// A parameter is a matrix whose columns are its last dimension. No block is cut by its ends: sides
// are multiples of 128, 32 and 16. Blocks are numbered row by row.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "oracle/types.h"

namespace adamant::real {

/// A whole parameter. REQUIRES: it has elements.
struct RecipeShape {
  std::int64_t numel = 0;
  std::int64_t columns = 1;
  Recipe recipe = Recipe::fp8_current;
  std::uint8_t unused[7] = {};  // no padding: see launch()
};

/// Rows of a block; 0 where it is all of the tensor.
__host__ __device__ inline std::int64_t block_rows(Recipe recipe) {
  switch (recipe) {
    case Recipe::fp8_block:
      return 128;
    case Recipe::mxfp8:
      return 1;
    case Recipe::nvfp4:
      return 16;
    default:
      return 0;
  }
}

/// Columns of a block; 0 where it is all of the tensor.
__host__ __device__ inline std::int64_t block_columns(Recipe recipe) {
  return recipe == Recipe::mxfp8 ? 32 : block_rows(recipe);
}

/// How many scales there are.
__host__ __device__ inline std::int64_t block_count(RecipeShape const& shape) {
  std::int64_t const rows = block_rows(shape.recipe);
  return rows == 0 ? 1 : shape.numel / (rows * block_columns(shape.recipe));
}

/// The block in which an element lies, numbered row-major in the whole tensor.
__host__ __device__ inline std::int64_t block_of(RecipeShape const& shape, std::int64_t element) {
  std::int64_t const rows = block_rows(shape.recipe);
  if (rows == 0) return 0;
  std::int64_t const columns = block_columns(shape.recipe);
  std::int64_t const row = element / shape.columns / rows;
  return row * (shape.columns / columns) + element % shape.columns / columns;
}

/// Whether ranks have to join what they know before the scales are known: those of mxfp8 are of
/// elements in one row, which one rank has.
__host__ __device__ inline bool joins_maxima(Recipe recipe) {
  return recipe != Recipe::mxfp8;
}

/// Maxima that ranks join: one of each block, and behind them the tensor's where its scale counts
/// beside theirs.
__host__ __device__ inline std::int64_t maxima_count(RecipeShape const& shape) {
  if (!joins_maxima(shape.recipe)) return 0;
  return block_count(shape) + (shape.recipe == Recipe::nvfp4 ? 1 : 0);
}

/// REQUIRES: of nvfp4 an even number.
__host__ __device__ inline std::int64_t code_bytes(Recipe recipe, std::int64_t numel) {
  return recipe == Recipe::nvfp4 ? numel / 2 : numel;
}

}  // namespace adamant::real
