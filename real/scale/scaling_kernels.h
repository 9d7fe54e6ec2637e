// Kernels that look at whole shards of gradients (are all numbers finite? what is the sum of their
// squares?) and those that make loss scale and coefficient of what was found. They know nothing of
// ranks: between the two kinds somebody sums and compares over ranks.
#pragma once

#include <cstdint>
#include <span>

#include "oracle/types.h"
#include "real/cuda/handles.h"
#include "real/cuda/numbers.h"
#include "real/scale/saved_scaling.h"
#include "real/scale/scaling_state.h"
#include "real/scale/square_limbs.h"

namespace adamant::real {

/// One shard of what the optimizer is handed.
struct GradientPart {
  Numbers values;
  std::int64_t numel = 0;
};

/// flags[b] = 1 where one of block b's numbers is a NaN or infinite, else 0.
///
/// Shapes: `flags` [blocks]; no part, or parts without elements, are legal.
/// Stream: ordered on `stream`, returns before completion, as all of these. Errors: CudaError.
void launch_look(std::span<GradientPart const> parts, int blocks, std::int32_t* flags,
                 Stream const& stream);

/// words[b] = the limbs of the sum of squares of block b's numbers, each times `inverse`.
///
/// Shapes:   `words` [blocks][word_count]; every limb but the highest is below 2^32.
/// Rounding: the product to fp32, nothing else.
struct SquaresTarget {
  Word* words = nullptr;
  float const* inverse = nullptr;  // on the device
  std::int32_t blocks = 1;
  std::int32_t unused = 0;  // no padding: see launch()
};
void launch_squares(std::span<GradientPart const> parts, SquaresTarget const& target,
                    Stream const& stream);

/// Starts a scaler afresh.
void launch_new_scale(LossScale const& setting, ScalingState* state, Stream const& stream);
/// Lets a scaler go on from where it was.
void launch_resumed_scale(SavedScaling const& saved, ScalingState* state, Stream const& stream);

/// The step's verdict: overflowed = some of `flags` is set; applied = inverse; then the scale moves
/// as its kind does (Megatron-LM's DynamicGradScaler; a scale that would become infinite stays).
void launch_decide(std::span<std::int32_t const> flags, ScalingState* state, Stream const& stream);

/// Norm and coefficient from the limbs of all blocks, `words` summed over ranks.
///
///   norm = fl32(sqrt(fl64(sum)))     coefficient = min(fl32(max_norm / fl32(norm + 1e-6)), 1)
///
/// max_norm is read from the state, where later settings reach replays of a graph.
/// A NaN among the squares makes both NaN, an infinity the norm infinite and the coefficient 0.
struct NormSource {
  Word const* words = nullptr;  // [blocks][word_count]
  std::int32_t blocks = 1;
  std::int32_t unused = 0;  // no padding: see launch()
};
void launch_norm(NormSource const& source, ScalingState* state, Stream const& stream);

/// What later norms are compared with.
void launch_max_norm(float max_norm, ScalingState* state, Stream const& stream);
/// As if there had been no clip: coefficient 1, norm 0.
void launch_forget_norm(ScalingState* state, Stream const& stream);

}  // namespace adamant::real
