#include "properties/negative/fault_stages.h"

#include <stdexcept>
#include <vector>

#include "scenarios/yaml/load.h"

namespace adamant::properties {

namespace {

/// A mistake, and the laws that fall with its own.
struct Actor {
  std::string_view fault;
  LawSet also = {};
};

struct Stage {
  std::string_view yaml;
  std::vector<Actor> actors;
};

std::vector<Stage> const stages = {
    {R"(adamant: 1
name: One backward on one rank
world: {shard: 1}
params:
  - {name: w, shape: [1]}
program:
  - backward
)",
     {{"slot_released_before_compute"},
      {"whole_gradients_freed_on_compute"},
      {"reduction_leaked"}}},
    {R"(adamant: 1
name: One step on one rank
world: {shard: 1}
params:
  - {name: w, shape: [1]}
program:
  - backward
  - step
)",
     {{"step_skips_wait_for_reduction"},
      {"counter_off_by_one"},
      {"bias_correction_from_decimal_beta"},
      {"complement_in_double"},
      {"decay_after_update"},
      {"modes_mixed"},
      {"piece_rounded_up"}}},
    {R"(adamant: 1
name: Two steps on one rank
world: {shard: 1}
params:
  - {name: w, shape: [1]}
program:
  - backward
  - step
  - step
)",
     {{"staging_overwritten_in_flight"},
      {"table_overwritten_under_kernel"},
      {"kernel_skips_wait_for_table"},
      {"bias_correction_in_float"},
      {"moments_swapped"},
      {"fused_multiply_add"}}},
    {R"(adamant: 1
name: Two iterations on one rank
world: {shard: 1}
params:
  - {name: w, shape: [1]}
program:
  - train: 2
)",
     {{"gradients_freed_on_comm"}, {"zero_grad_keeps_memory"}, {"zero_grad_frees_twice"}}},
    {R"(adamant: 1
name: Elements enough for a last bit to differ
world: {shard: 1}
params:
  - {name: w, shape: [64]}
program:
  - backward
  - step
)",
     {{"square_first"}, {"epsilon_inside_root"}}},
    {R"(adamant: 1
name: A parameter with fewer rows than ranks
world: {shard: 2}
params:
  - {name: w, shape: [1]}
program:
  - backward
  - step
)",
     {{"counter_skips_empty_ranks"}, {"moments_not_zeroed", {"values.bitwise"}}}},
    {R"(adamant: 1
name: A backward of fewer rows than ranks
world: {shard: 2}
params:
  - {name: w, shape: [1]}
microbatches: 1
program:
  - backward
)",
     {{"wrong_count_on_one_rank"},
      {"empty_shard_skips_collective"},
      {"gradient_padding_not_zeroed"}}},
    {R"(adamant: 1
name: Two parameters in one unit
world: {shard: 2}
params:
  - {name: a, shape: [2]}
  - {name: b, shape: [4]}
program:
  - backward
  - step
)",
     {{"parameters_swapped_on_one_rank"},
      {"counter_per_tensor"},
      {"last_piece_dropped"},
      {"order_from_leftover_state"}}},
    {R"(adamant: 1
name: Two units
world: {shard: 2}
params:
  - {name: layers.0.w, shape: [2]}
  - {name: layers.1.w, shape: [2]}
program:
  - backward
)",
     {{"prefetch_late_on_one_rank"}, {"unit_buffers_kept"}}},
    {R"(adamant: 1
name: Rows that do not divide
world: {shard: 2}
params:
  - {name: w, shape: [5]}
program:
  - check
)",
     {{"remainder_dropped"}}},
    {R"(adamant: 1
name: Rows that divide
world: {shard: 2}
params:
  - {name: w, shape: [4]}
program:
  - check
)",
     {{"shard_off_by_one_row"}}},
    {R"(adamant: 1
name: Fewer microbatches than ranks
world: {shard: 2}
params:
  - {name: w, shape: [2]}
microbatches: 1
program:
  - backward
)",
     {{"mean_by_world_size"}, {"idle_rank_sends_garbage", {"values.bitwise"}}}},
    {R"(adamant: 1
name: More microbatches than ranks
world: {shard: 1}
params:
  - {name: w, shape: [64]}
microbatches: 7
program:
  - backward
)",
     {{"mean_not_divided"}, {"mean_by_reciprocal"}, {"microbatches_overwrite"}}},
    {R"(adamant: 1
name: Two backwards before a step
world: {shard: 1}
params:
  - {name: w, shape: [1]}
microbatches: 2
program:
  - backward
  - backward
)",
     {{"accumulation_overwrites"}, {"accumulated_mean_divided_again"}}},
    // Without zero_grad: memory that it freed could be handed out again, and bring the missing
    // order with it.
    {R"(adamant: 1
name: A backward after a step
world: {shard: 1}
params:
  - {name: w, shape: [1]}
program:
  - backward
  - step
  - backward
)",
     {{"gather_skips_wait_for_step"}}},
    {R"(adamant: 1
name: A parameter without gradient
world: {shard: 1}
params:
  - {name: a, shape: [1]}
  - {name: b, shape: [1]}
program:
  - backward: {without: [b]}
  - step
  - zero_grad: {set_to_none: false}
)",
     {{"decay_without_gradient"}, {"piece_repeated"}, {"zero_grad_skips_missing"}}},
    {R"(adamant: 1
name: A group with its own settings
world: {shard: 1}
params:
  - {name: w, shape: [1], group: g}
groups: {g: {weight_decay: 0.5}}
program:
  - backward
  - step
)",
     {{"first_group_for_all"}}},
    {R"(adamant: 1
name: Settings that change
world: {shard: 1}
params:
  - {name: w, shape: [1]}
program:
  - set: {lr: 0.5}
  - backward
  - step
)",
     {{"settings_frozen"}}},
    {R"(adamant: 1
name: Shards that fill their buffer to the end
world: {shard: 1}
params:
  - {name: w, shape: [4]}
program:
  - backward
  - step
)",
     {{"kernel_reads_past_end"}}},
    {R"(adamant: 1
name: Gradients of zeros
world: {shard: 1}
params:
  - {name: w, shape: [1]}
program:
  - backward
  - zero_grad: {set_to_none: false}
)",
     {{"zero_grad_keeps_values"}, {"zero_grad_moves_gradients", {"memory.budget"}}}},
    {R"(adamant: 1
name: A step after zero_grad
world: {shard: 1}
params:
  - {name: w, shape: [1]}
program:
  - backward
  - zero_grad
  - step
)",
     {{"gradient_used_after_zero_grad", {"values.bitwise"}}}},
    {R"(adamant: 1
name: Whole tensors of two ranks
world: {shard: 2}
params:
  - {name: w, shape: [2]}
program:
  - backward
)",
     {{"compute_skips_wait_for_gather", {"access.lifetime"}},
      {"reduce_skips_wait_for_compute", {"access.lifetime"}}}},
};

}  // namespace

Play play_of(real::FaultInfo const& fault) {
  for (Stage const& stage : stages)
    for (Actor const& actor : stage.actors) {
      if (actor.fault != fault.name) continue;
      Play play{.scenario = scenarios::load_scenario_text(stage.yaml, fault.name),
                .laws = actor.also};
      play.laws.emplace(fault.law);
      if (fault.law == "determinism.digest") play.schedules = 1;
      return play;
    }
  throw std::out_of_range(std::string(fault.name) + " has no stage");
}

}  // namespace adamant::properties
