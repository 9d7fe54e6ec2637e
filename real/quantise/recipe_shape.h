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
#include <span>

#include "oracle/types.h"

namespace adamant::real {

/// A whole parameter. REQUIRES: it has elements.
struct RecipeShape {
  std::int64_t numel = 0;
  std::int64_t columns = 1;
  Recipe recipe = Recipe::fp8_current;
  /// Of mxfp8: scales of the whole tensor are on every rank, where ranks are cut inside of rows or
  /// replicas share a shard out; otherwise each rank has those of its own rows, beside its codes.
  std::uint8_t whole_scales = 0;
  std::uint8_t unused[6] = {};  // no padding: see launch()
};

/// Sides of a block, which are powers of two. REQUIRES: it is not all of the tensor.
struct BlockSides {
  int rows_log2 = 0;
  int columns_log2 = 0;
};

__host__ __device__ inline bool has_blocks(Recipe recipe) {
  return recipe == Recipe::fp8_block || recipe == Recipe::mxfp8 || recipe == Recipe::nvfp4;
}

__host__ __device__ inline BlockSides block_sides(Recipe recipe) {
  if (recipe == Recipe::fp8_block) return {.rows_log2 = 7, .columns_log2 = 7};
  if (recipe == Recipe::nvfp4) return {.rows_log2 = 4, .columns_log2 = 4};
  return {.rows_log2 = 0, .columns_log2 = 5};
}

/// Rows of a block; 0 where it is all of the tensor.
inline std::int64_t block_rows(Recipe recipe) {
  return has_blocks(recipe) ? std::int64_t{1} << block_sides(recipe).rows_log2 : 0;
}

/// Columns of a block; 0 where it is all of the tensor.
inline std::int64_t block_columns(Recipe recipe) {
  return has_blocks(recipe) ? std::int64_t{1} << block_sides(recipe).columns_log2 : 0;
}

/// What both sides of a matrix are multiples of, so that no block is cut.
inline std::int64_t side_of(Recipe recipe) {
  std::int64_t const columns = block_columns(recipe);
  return columns == 0 ? 1 : columns;
}

/// Can a parameter of this shape be quantised so?
inline bool takes(Recipe recipe, std::span<std::int64_t const> shape) {
  std::int64_t const numel = numel_of(shape);
  if (shape.size() < 2 || numel == 0) return false;
  std::int64_t const side = side_of(recipe);
  return shape.back() % side == 0 && numel / shape.back() % side == 0;
}

/// How many scales there are.
__host__ __device__ inline std::int64_t block_count(RecipeShape const& shape) {
  if (!has_blocks(shape.recipe)) return 1;
  BlockSides const sides = block_sides(shape.recipe);
  return shape.numel >> (sides.rows_log2 + sides.columns_log2);
}

/// The block in which the element of a row and a column lies.
__host__ __device__ inline std::int64_t block_at(RecipeShape const& shape, std::int64_t row,
                                                 std::int64_t column) {
  BlockSides const sides = block_sides(shape.recipe);
  std::int64_t const blocks_a_row = shape.columns >> sides.columns_log2;
  return (row >> sides.rows_log2) * blocks_a_row + (column >> sides.columns_log2);
}

/// The block in which an element lies, numbered row-major in the whole tensor.
__host__ __device__ inline std::int64_t block_of(RecipeShape const& shape, std::int64_t element) {
  if (!has_blocks(shape.recipe)) return 0;
  std::int64_t const row = element / shape.columns;
  return block_at(shape, row, element - row * shape.columns);
}

/// Do scales of mxfp8 lie beside the codes of the rank that has their rows?
__host__ __device__ inline bool has_scales_beside(RecipeShape const& shape) {
  return shape.recipe == Recipe::mxfp8 && shape.whole_scales == 0;
}

/// Whether ranks have to join what they know before the scales are known: those of mxfp8 are of
/// elements in one row, which one rank may have.
__host__ __device__ inline bool joins_maxima(RecipeShape const& shape) {
  return !has_scales_beside(shape);
}

/// Whether weights are read once more when the scales are known: delayed ones are known before, and
/// those of a row while it is read.
inline bool is_read_twice(RecipeShape const& shape) {
  return shape.recipe != Recipe::fp8_delayed && joins_maxima(shape);
}

/// Maxima that ranks join: one of each block, and behind them the tensor's where its scale counts
/// beside theirs.
__host__ __device__ inline std::int64_t maxima_count(RecipeShape const& shape) {
  if (!joins_maxima(shape)) return 0;
  return block_count(shape) + (shape.recipe == Recipe::nvfp4 ? 1 : 0);
}

/// Scales of the whole tensor in fp32: what the fp8 recipes multiply codes by, nvfp4's amax.
inline std::int64_t scale_count(RecipeShape const& shape) {
  if (shape.recipe == Recipe::mxfp8) return 0;
  return shape.recipe == Recipe::nvfp4 ? 1 : block_count(shape);
}

/// Scales of the whole tensor that are codes themselves: nvfp4's, and mxfp8's where they are.
__host__ __device__ inline std::int64_t scale_code_count(RecipeShape const& shape) {
  bool const codes = shape.recipe == Recipe::nvfp4 || shape.whole_scales != 0;
  return codes ? block_count(shape) : 0;
}

/// REQUIRES: of nvfp4 an even number.
__host__ __device__ inline std::int64_t code_bytes(Recipe recipe, std::int64_t numel) {
  return recipe == Recipe::nvfp4 ? numel / 2 : numel;
}

// ---- how a part of a parameter lies in memory ---------------------------------------------------
//
//   | codes |pad| scale codes of mxfp8 |pad|    pad to 16 bytes

inline constexpr std::int64_t quantised_alignment_bytes = 16;

inline std::int64_t padded(std::int64_t bytes) {
  return (bytes + quantised_alignment_bytes - 1) / quantised_alignment_bytes *
         quantised_alignment_bytes;
}

/// Scale codes that lie beside a part's codes and travel with them: those of mxfp8.
inline std::int64_t scale_codes_beside(Recipe recipe, std::int64_t numel) {
  return recipe == Recipe::mxfp8 ? numel / block_columns(recipe) : 0;
}

/// Where they begin. Units: bytes from the first code.
inline std::int64_t scale_codes_begin(Recipe recipe, std::int64_t numel) {
  return padded(code_bytes(recipe, numel));
}

/// Room for a part of `numel` elements. Units: bytes.
inline std::int64_t room_of(Recipe recipe, std::int64_t numel) {
  return scale_codes_begin(recipe, numel) + padded(scale_codes_beside(recipe, numel));
}

}  // namespace adamant::real
