// The nouns that every folder shares: parameters, number formats, Adam's settings, kinds of
// tensors, purposes of buffers. Nouns only: whatever is computed from them is written once in
// oracle/ and once in real/, so that no mistake can sit in both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adamant {

/// What replicas of a shard have: all the same, or each a part of main weights, states and reduced
/// gradients.
enum class Outer : std::uint8_t { none, optim };

/// How the ranks of a world are arranged: rank = replica * shards + shard. Ranks of one replica
/// share out the parameters; ranks of one shard have the same of them.
struct Mesh {
  int shards = 1;
  int replicas = 1;
  Outer outer = Outer::none;

  int rank_count() const { return shards * replicas; }
  int shard_of(int rank) const { return rank % shards; }
  int replica_of(int rank) const { return rank / shards; }
  /// Are states cut over replicas, too?
  bool cuts_states_across() const { return outer == Outer::optim && replicas > 1; }
  /// Over how many ranks one copy of all states is cut.
  int state_shards() const { return cuts_states_across() ? rank_count() : shards; }

  friend bool operator==(Mesh const&, Mesh const&) = default;
};

/// Where weight decay enters: decoupled in the update (AdamW) or added to the gradient (L2).
enum class AdamMode { adamw, adam };

/// Who counts steps: one counter per parameter group, which advances with every executed step, or
/// one per parameter, which advances only when that parameter had a gradient.
enum class StepCounter { group, parameter };

/// Settings of one parameter group, already rounded decimal -> binary64 -> binary32.
///
/// Units: learning_rate, epsilon and weight_decay finite and >= 0; betas in [0, 1).
struct AdamConfig {
  AdamMode mode = AdamMode::adamw;
  float learning_rate = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float weight_decay = 0.01F;
  bool bias_correction = true;

  friend bool operator==(AdamConfig const&, AdamConfig const&) = default;
};

/// How a number is stored: binary32, bfloat16 (8 significant bits, binary32's exponents), binary16
/// (11 significant bits, largest 65504), E4M3 (4 significant bits, largest 448, no infinity), or as
/// a remainder: the lower 16 bits of a binary32 whose upper ones are in a bfloat16 beside it.
enum class NumberFormat : std::uint8_t { fp32, bf16, fp16, fp8, remainder };

inline constexpr std::size_t bytes_of(NumberFormat format) {
  constexpr std::size_t bytes[] = {4, 2, 2, 1, 2};
  return bytes[static_cast<int>(format)];
}

inline constexpr std::string_view name_of(NumberFormat format) {
  constexpr std::string_view names[] = {"fp32", "bf16", "fp16", "fp8", "remainder"};
  return names[static_cast<int>(format)];
}

/// How a parameter is kept as codes of 8 or 4 bits with scales, which are made anew from its main
/// weight after each step. TransformerEngine's names.
enum class Recipe : std::uint8_t { fp8_delayed, fp8_current, fp8_block, mxfp8, nvfp4 };

inline constexpr std::string_view name_of(Recipe recipe) {
  constexpr std::string_view names[] = {"fp8_delayed", "fp8_current", "fp8_block", "mxfp8",
                                        "nvfp4"};
  return names[static_cast<int>(recipe)];
}

/// What shares the scale of states that are stored with one: a tensor, on all ranks, or the shard
/// that a rank has of it. With none, fp16 states are plain numbers.
enum class StateScale : std::uint8_t { global, local, none };

/// How one parameter and everything that belongs to it is stored, each independently.
struct Formats {
  NumberFormat parameter = NumberFormat::fp32;
  NumberFormat gradient = NumberFormat::fp32;  // also the type in which it is reduced
  NumberFormat exp_avg = NumberFormat::fp32;
  NumberFormat exp_avg_sq = NumberFormat::fp32;
  std::optional<NumberFormat> main = {};  // none: the optimizer works on the parameter itself
  StateScale state_scale = StateScale::global;
  /// By which the parameter is quantised: then `parameter` is unused, and `main` is fp32.
  std::optional<Recipe> recipe = {};
  /// The optimizer is handed the gradient as it is; otherwise in the format of its own weights, as
  /// a cast copy where the two differ.
  bool decoupled_gradient = true;

  /// The optimizer's own weights: the main weight where there is one. With a remainder it has all
  /// bits of a binary32.
  NumberFormat weight() const {
    NumberFormat const stored = main.value_or(parameter);
    return stored == NumberFormat::remainder ? NumberFormat::fp32 : stored;
  }

  friend bool operator==(Formats const&, Formats const&) = default;
};

/// What a loss, and with it every gradient, is multiplied by before gradients are reduced: nothing,
/// a fixed number, or one that moves with what overflows (Megatron-LM's DynamicGradScaler).
struct LossScale {
  enum class Kind { none, fixed, dynamic };
  Kind kind = Kind::none;
  float value = 0.0F;  // of `fixed` alone, > 0; otherwise 0

  friend bool operator==(LossScale const&, LossScale const&) = default;
};

/// Elements of a tensor of this shape; one where it has no dimensions.
inline std::int64_t numel_of(std::span<std::int64_t const> shape) {
  std::int64_t numel = 1;
  for (std::int64_t const extent : shape) numel *= extent;
  return numel;
}

/// One parameter as a model registers it: whole shape, its group, its unit and its formats. Units
/// are numbered from 0 without gaps and never decrease along the registration order.
struct ParameterSpec {
  std::string name;
  std::vector<std::int64_t> shape;  // at least one dimension; a dimension may be 0
  int group = 0;
  int unit = 0;
  Formats formats = {};
  /// Names of equal parts of dimension 0, each of which is saved under a key of its own; none: the
  /// parameter is saved as a whole.
  std::vector<std::string> parts = {};

  /// Rows: the extent of dimension 0.
  std::int64_t rows() const { return shape.front(); }
  /// Elements in one row: the product of the other dimensions.
  std::int64_t row_numel() const { return numel_of(std::span(shape).subspan(1)); }
  std::int64_t numel() const { return numel_of(shape); }

  friend bool operator==(ParameterSpec const&, ParameterSpec const&) = default;
};

/// Elements [begin, end) of a tensor, numbered row-major in the whole of it.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t numel() const { return end - begin; }

  friend bool operator==(ElementRange const&, ElementRange const&) = default;
};

/// Elements in several ranges of one tensor, which do not overlap.
inline std::int64_t numel_of(std::span<ElementRange const> ranges) {
  std::int64_t numel = 0;
  for (ElementRange const range : ranges) numel += range.numel();
  return numel;
}

/// The rule by which the elements of parameters are given to ranks.
enum class LayoutKind { fsdp2, flat, bucketed };

/// What belongs to each parameter. Not every one has a main weight or a cast gradient.
enum class TensorKind { parameter, gradient, exp_avg, exp_avg_sq, main, cast_gradient };
inline constexpr TensorKind all_tensor_kinds[] = {TensorKind::parameter, TensorKind::gradient,
                                                  TensorKind::exp_avg,   TensorKind::exp_avg_sq,
                                                  TensorKind::main,      TensorKind::cast_gradient};
inline constexpr std::size_t tensor_kind_count = std::size(all_tensor_kinds);

/// Are numbers of this kind kept as what they are divided by a scale, one of each state of each
/// parameter? Optimizer states in 16-bit and 8-bit floats are, parameters and gradients never.
inline constexpr bool has_scale(TensorKind kind, NumberFormat format) {
  bool const state =
      kind == TensorKind::exp_avg || kind == TensorKind::exp_avg_sq || kind == TensorKind::main;
  return state && (format == NumberFormat::fp16 || format == NumberFormat::fp8);
}

/// The same where states may be without scales.
inline constexpr bool has_scale(TensorKind kind, NumberFormat format, StateScale shares) {
  return shares != StateScale::none && has_scale(kind, format);
}

/// Optimizer states that leave the device between steps.
struct StateOffloadConfig {
  bool moments = true;
  bool main = true;

  friend bool operator==(StateOffloadConfig const&, StateOffloadConfig const&) = default;
};

/// A part of each rank's elements that is stepped on the CPU, and how they travel.
///
/// Units: `fraction` in [0, 1], of elements; what it is not a whole number of is rounded up.
struct HybridConfig {
  double fraction = 0.5;
  bool overlap = true;  // copies and steps of different parts at once
  bool pin_gradients = true;
  bool pin_parameters = true;

  friend bool operator==(HybridConfig const&, HybridConfig const&) = default;
};

/// What a buffer of the engine is for. Live bytes are counted by purpose.
enum class Purpose {
  parameters,            // this rank's shards of all parameters
  gradients,             // this rank's shards of all reduced gradients
  exp_avg,               // first moments of the shards
  exp_avg_sq,            // second moments of the shards
  main,                  // main weights of the shards
  cast_gradients,        // gradients of the shards in the format of the optimizer's own weights
  unsharded_parameters,  // whole parameters of a unit, gathered
  unsharded_gradients,   // whole gradients of a unit, before reduction
  reduction,             // a unit's shard of summed gradients, before the mean
  scaling,               // loss scale, norm and what leads to them, and the verdict's pinned copy
  state_scales,          // scales of states, what leads to new ones, and their pinned copies
  parameter_scales,      // scales of quantised parameters and what leads to new ones
  step_table,            // per-parameter step scalars, device copy and pinned staging
  work_list,             // the fused kernel's list of pieces
  checkpoint,            // what save and load move bytes and messages through, while they run
};
inline constexpr std::string_view purpose_names[] = {"parameters",
                                                     "gradients",
                                                     "exp_avg",
                                                     "exp_avg_sq",
                                                     "main",
                                                     "cast_gradients",
                                                     "unsharded_parameters",
                                                     "unsharded_gradients",
                                                     "reduction",
                                                     "scaling",
                                                     "state_scales",
                                                     "parameter_scales",
                                                     "step_table",
                                                     "work_list",
                                                     "checkpoint"};
inline constexpr int purpose_count = static_cast<int>(std::size(purpose_names));

inline constexpr std::string_view name_of(TensorKind kind) {
  constexpr std::string_view names[] = {"parameter",  "gradient", "exp_avg",
                                        "exp_avg_sq", "main",     "cast_gradient"};
  return names[static_cast<int>(kind)];
}

inline constexpr std::string_view name_of(Purpose purpose) {
  return purpose_names[static_cast<int>(purpose)];
}

}  // namespace adamant
