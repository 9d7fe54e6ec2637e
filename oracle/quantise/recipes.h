// What a parameter becomes under a recipe of TransformerEngine: codes of 8 or 4 bits, the scales by
// which they are read, and what reading gives. Of whole tensors, seen as matrices; a shard's codes
// are those of the whole, so nothing here depends on a world.
//
//   recipe       a scale covers       elements  scale             element is read as
//   fp8_delayed  the tensor           e4m3      fp32              q * (1 / s)
//   fp8_current  the tensor           e4m3      fp32              q * (1 / s)
//   fp8_block    128 x 128            e4m3      fp32, 2^n         q * (1 / s)
//   mxfp8        32 of one row        e4m3      e8m0              q * 2^(byte - 127)
//   nvfp4        16 x 16, the tensor  e2m1      e4m3, fp32        q * (code * (1 / S))
//
// Every operation is one of binary32, rounded once. Amaxes ignore NaN and count infinities, which
// saturate.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::oracle {

/// Rows and columns, the last dimension, of what a recipe sees as a matrix.
struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  std::int64_t numel() const { return rows * columns; }

  friend bool operator==(MatrixShape const&, MatrixShape const&) = default;
};

/// The last dimension of a parameter is the columns. Errors: asserts that there is another one.
MatrixShape matrix_of(ParameterSpec const& parameter);

/// Whether the recipe takes a matrix of this shape: it has elements, and no block is cut.
bool takes(Recipe recipe, MatrixShape shape);

/// Rows and columns of the scales of such a matrix; 1 and 1 where one covers all of it.
MatrixShape scales_of(Recipe recipe, MatrixShape shape);

/// What fp8_delayed keeps between quantisations: the amaxes of the last ones, the newest last, and
/// the scale that they give the next one.
struct DelayedScale {
  std::array<float, 16> history = {};
  float next = 1.0F;

  friend bool operator==(DelayedScale const&, DelayedScale const&) = default;
};

/// A tensor as its recipe keeps it.
struct Quantised {
  std::vector<std::uint8_t> codes = {};        // one of each element, row by row; e2m1 in 4 bits
  std::vector<float> scales = {};              // what a code is multiplied by, one of each block
  std::vector<std::uint8_t> scale_codes = {};  // e8m0 of mxfp8, e4m3 of nvfp4; else empty
  float amax = 0.0F;                           // of the tensor
};

/// Quantises a matrix. `delayed` is of fp8_delayed alone, and moves on by this quantisation.
///
/// Shapes: `weights` has shape.numel() elements, row by row.
/// Errors: asserts that the recipe takes the shape, and has `delayed` where it needs it.
/// Source: TransformerEngine's recipes, with a history of 16 amaxes.
Quantised quantise(std::span<float const> weights, MatrixShape shape, Recipe recipe,
                   DelayedScale* delayed = nullptr);

/// What reading multiplies codes of a block by, from its scale code: of mxfp8, or of nvfp4 beside
/// the tensor's amax.
float scale_of_code(Recipe recipe, std::uint8_t code, float amax);

/// What reading gives: every code times the scale of its block.
std::vector<float> read(Quantised const& quantised, MatrixShape shape, Recipe recipe);

}  // namespace adamant::oracle
