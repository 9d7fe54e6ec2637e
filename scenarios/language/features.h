// What is special about a scenario, as a set of labels: the corners that a search should have seen.
// Generators switch features on and off by them, and reports count them and their pairs. Which of
// them a scenario has is search/generate/features.h.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <optional>
#include <string_view>

namespace adamant::scenarios {

enum class Feature {
  one_rank,
  more_than_four_ranks,
  replicated,
  outer_optim,  // states are shared out over replicas, too
  layout_flat,
  layout_bucketed,
  empty_shard,   // a parameter has fewer rows than ranks, but some
  ragged_end,    // its rows do not divide by the ranks
  empty_tensor,  // it has no elements at all
  several_params,
  parts,  // a parameter is saved in parts
  tied,   // a parameter has several names
  several_units,
  group,
  adam_l2,
  counter_per_parameter,
  no_bias_correction,
  extreme_settings,
  cast_gradient,  // decoupled_grad: false
  cast_copy,      // which makes a copy of at least one parameter's gradient
  weights_bf16,   // of at least one parameter, as all of the next
  weights_fp16,
  main_weights,
  gradients_16_bits,
  moments_bf16,
  moments_fp16,  // with a scale, as fp8
  moments_fp8,
  scaled_main,  // main weights in fp16
  main_bf16,
  remainder,
  quantised,         // weights under a recipe
  cut_block,         // a shard ends within a block of scales
  local_scale,       // of a scaled state: each shard has one of its own
  own_precision,     // a parameter has other types than the recipe of the others
  clip,              // a norm, from the beginning on or later
  loss_scale_fixed,  // likewise
  loss_scale_dynamic,
  loss_scale_rounds,  // exact gradients times this scale are exact no more
  overflow,
  gradients_normal,
  gradients_wild,
  idle_rank,             // fewer microbatches than ranks
  several_microbatches,  // more microbatches than ranks
  accumulated_backward,  // two backwards without zero_grad between them
  step_without_gradient,
  backward_without,
  zero_grad_keeps,
  set,
  train,
  check,
  offload_states,
  explicit_offload,  // offload as an operation
  hybrid,            // a part of the step on the CPU
  hybrid_shared,     // neither none nor all of it
  hybrid_pageable,   // gradients or weights that are not pinned
  save,
  save_replaced,  // a second one under the same name
  load,
  load_on_other_world,  // with another number of ranks
  load_on_other_mesh,   // replicas or what they share out change
  load_with_other_layout,
  load_with_other_offload,
  load_with_other_precision,
  load_reversed,  // with parameters registered in reversed order
  load_anew,      // in a new job that is like the one before
  crash,
  damage,         // to a checkpoint before it is loaded
  out_of_memory,  // when an engine is made
  capturable,
  capture,
  replay,
  many_steps,  // four or more
  schedule_random,
  schedule_pct,
  engine_option,  // not at its default
  several_worlds,
  again,
  count_of_features
};
inline constexpr std::size_t feature_count = static_cast<std::size_t>(Feature::count_of_features);

using FeatureSet = std::bitset<feature_count>;

inline FeatureSet set_of(Feature feature) {
  return FeatureSet().set(static_cast<std::size_t>(feature));
}
inline bool has(FeatureSet const& features, Feature feature) {
  return features.test(static_cast<std::size_t>(feature));
}

/// Features of the values of one key, by the number of the value from 1 on.
using FeaturesOfValues = std::array<std::optional<Feature>, 7>;

/// The label of a feature in reports, such as "fewer rows than ranks".
std::string_view label_of(Feature feature);

}  // namespace adamant::scenarios
