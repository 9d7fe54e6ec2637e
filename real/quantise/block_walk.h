// In which blocks of a matrix the runs of one thread lie, which follow each other at equal
// distances: by additions, where numbers of elements would cost a division of 64 bits each.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "real/quantise/recipe_shape.h"

namespace adamant::real {

/// Elements whose numbers begin at a multiple of this: they lie in one row and in one block of any
/// recipe that has blocks.
inline constexpr int run_numel = 16;

class BlockWalk {
 public:
  /// Begins at run `first` of the whole tensor and goes `stride` runs at a step.
  ///
  /// REQUIRES: `shape` has blocks.
  __device__ BlockWalk(RecipeShape const& shape, std::int64_t first, std::int64_t stride)
      : shape_(shape),
        runs_a_row_(shape.columns / run_numel),
        row_(first / runs_a_row_),
        run_(first - row_ * runs_a_row_),
        rows_a_step_(stride / runs_a_row_),
        runs_a_step_(stride - rows_a_step_ * runs_a_row_) {}

  __device__ std::int64_t block() const { return block_at(shape_, row_, run_ * run_numel); }

  __device__ void step() {
    row_ += rows_a_step_;
    run_ += runs_a_step_;
    if (run_ < runs_a_row_) return;
    run_ -= runs_a_row_;
    ++row_;
  }

 private:
  RecipeShape shape_;
  std::int64_t runs_a_row_;
  std::int64_t row_;
  std::int64_t run_;  // in its row
  std::int64_t rows_a_step_;
  std::int64_t runs_a_step_;
};

}  // namespace adamant::real
