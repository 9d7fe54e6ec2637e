// The catalogue of bugs: mistakes that a programmer made, or could have made, in an engine like
// this one, each behind a switch of its own (real/bug.h). One line a bug: its id, the law of the
// contract that must break, the public report that it comes from or "adamant", and what is done
// wrong. It knows neither where a bug is nor how it is switched on.
#pragma once

#include <span>
#include <string_view>

namespace adamant::real {

#define ADAMANT_BUG_TABLE(X)                                                                       \
  /* order between streams, and between the device and the host */                                 \
  X(compute_skips_wait_for_gather, "order.race", "adamant",                                        \
    "the model starts on a unit before its parameters are gathered")                               \
  X(gather_skips_wait_for_step, "order.race", "adamant",                                           \
    "parameters are gathered while the last step still writes them")                               \
  X(reduce_skips_wait_for_compute, "order.race", "adamant",                                        \
    "gradients are reduced while the model still writes them")                                     \
  X(step_skips_wait_for_reduction, "order.race", "adamant",                                        \
    "the step reads gradients that are still being reduced")                                       \
  X(staging_overwritten_in_flight, "order.race", "adamant",                                        \
    "the host rewrites the pinned step table before its last copy is done")                        \
  X(kernel_skips_wait_for_table, "order.race", "adamant",                                          \
    "the step runs before its table has arrived")                                                  \
  X(table_overwritten_under_kernel, "order.race", "adamant",                                       \
    "the next table lands while the last step still reads the old one")                            \
  X(slot_released_before_compute, "access.lifetime", "adamant",                                    \
    "gathered parameters are freed in the order of the communication stream, not of the model")    \
  X(whole_gradients_freed_on_compute, "access.lifetime", "adamant",                                \
    "whole gradients are freed in the order of the compute stream, while they are reduced")        \
  X(gradients_freed_on_comm, "access.lifetime", "adamant",                                         \
    "zero_grad frees gradients in the order of a stream that does not wait for the step")          \
  /* collectives */                                                                                \
  X(wrong_count_on_one_rank, "order.collective", "adamant",                                        \
    "the last rank gathers its own rows only, without padding")                                    \
  X(parameters_swapped_on_one_rank, "order.collective", "adamant",                                 \
    "the last rank gathers the parameters of a unit in reverse order")                             \
  X(prefetch_late_on_one_rank, "order.collective", "adamant",                                      \
    "the last rank gathers the next unit after reducing this one instead of before")               \
  X(empty_shard_skips_collective, "order.collective", "adamant",                                   \
    "a rank without rows of a parameter does not take part in gathering it")                       \
  X(gradient_padding_not_zeroed, "access.uninitialized", "adamant",                                \
    "padding rows of whole gradients are summed as the allocator left them")                       \
  X(idle_rank_sends_garbage, "access.uninitialized", "adamant",                                    \
    "a rank without a microbatch reduces gradients that nobody wrote")                             \
  /* layout */                                                                                     \
  X(shard_off_by_one_row, "values.bitwise", "adamant",                                             \
    "every rank but the first takes its rows one too late")                                        \
  X(remainder_dropped, "values.bitwise", "adamant",                                                \
    "rows per rank are rounded down, the last ones are lost")                                      \
  X(moments_not_zeroed, "access.uninitialized", "adamant",                                         \
    "moments start as the allocator left them")                                                    \
  /* the mean over the global batch */                                                             \
  X(mean_not_divided, "values.bitwise", "adamant",                                                 \
    "the sum of all microbatches is taken for their mean")                                         \
  X(mean_by_world_size, "values.bitwise", "adamant",                                               \
    "divided by the number of ranks, not of microbatches")                                         \
  X(mean_by_reciprocal, "values.bitwise", "adamant", "multiplied by 1/n instead of divided by n")  \
  X(accumulation_overwrites, "values.bitwise", "adamant",                                          \
    "a second backward replaces the gradient instead of adding to it")                             \
  X(accumulated_mean_divided_again, "values.bitwise", "adamant",                                   \
    "a second backward divides the accumulated gradient once more")                                \
  X(microbatches_overwrite, "values.bitwise", "adamant",                                           \
    "a rank's last microbatch replaces its earlier ones")                                          \
  /* who counts steps */                                                                           \
  X(counter_skips_empty_ranks, "ranks.agree", "adamant",                                           \
    "the counter stands still on ranks that own no element of it")                                 \
  X(counter_off_by_one, "values.bitwise", "adamant",                                               \
    "bias corrections use the number of the next step")                                            \
  X(counter_per_tensor, "values.bitwise", "adamant",                                               \
    "a group's counter advances once a parameter")                                                 \
  /* scalars */                                                                                    \
  X(bias_correction_from_decimal_beta, "values.bitwise", "adamant",                                \
    "bias corrections use the betas before their rounding to binary32")                            \
  X(bias_correction_in_float, "values.bitwise", "adamant",                                         \
    "bias corrections are computed by powf")                                                       \
  X(complement_in_double, "values.bitwise", "adamant",                                             \
    "1 - beta is taken from decimals and rounded once")                                            \
  X(first_group_for_all, "values.bitwise", "adamant",                                              \
    "all parameters use the first group's settings")                                               \
  X(settings_frozen, "values.bitwise", "adamant",                                                  \
    "set_group is remembered, but the step uses the old values")                                   \
  /* arithmetic of one element */                                                                  \
  X(epsilon_inside_root, "values.bitwise", "adamant", "sqrt(v + eps) instead of sqrt(v) + eps")    \
  X(decay_after_update, "values.bitwise", "adamant",                                               \
    "decay multiplies the new value instead of the old")                                           \
  X(modes_mixed, "values.bitwise", "adamant", "AdamW decays through the gradient, Adam decoupled") \
  X(moments_swapped, "values.bitwise", "adamant", "each moment decays with the other's beta")      \
  X(square_first, "values.bitwise", "adamant",                                                     \
    "(1 - beta2) * (g * g) instead of ((1 - beta2) * g) * g")                                      \
  X(fused_multiply_add, "values.bitwise", "adamant",                                               \
    "the first moment is rounded once instead of twice")                                           \
  X(decay_without_gradient, "values.bitwise", "adamant",                                           \
    "parameters without a gradient decay all the same")                                            \
  /* the fused kernel's work list */                                                               \
  X(last_piece_dropped, "values.bitwise", "adamant",                                               \
    "the last piece of the work list is not visited")                                              \
  X(piece_repeated, "values.bitwise", "adamant",                                                   \
    "the last piece of the work list is visited twice")                                            \
  X(piece_rounded_up, "access.uninitialized", "adamant",                                           \
    "pieces run on to the next multiple of 4 elements")                                            \
  X(kernel_reads_past_end, "access.bounds", "adamant",                                             \
    "the fused kernel's loop ends one element late")                                               \
  /* the life of gradients and buffers */                                                          \
  X(zero_grad_keeps_memory, "memory.budget", "adamant",                                            \
    "zero_grad forgets gradients but keeps their memory")                                          \
  X(zero_grad_frees_twice, "error.clean", "adamant", "zero_grad frees the gradients twice")        \
  X(gradient_used_after_zero_grad, "access.lifetime", "adamant",                                   \
    "the step still uses the address of gradients that zero_grad freed")                           \
  X(zero_grad_keeps_values, "values.bitwise", "adamant",                                           \
    "zero_grad without set_to_none does not zero")                                                 \
  X(zero_grad_moves_gradients, "pointers.stable", "adamant",                                       \
    "zero_grad without set_to_none allocates anew")                                                \
  X(zero_grad_skips_missing, "values.bitwise", "adamant",                                          \
    "zero_grad without set_to_none leaves out parameters that had no gradient")                    \
  X(reduction_leaked, "memory.budget", "adamant",                                                  \
    "the buffer of reduced sums is never given back")                                              \
  X(unit_buffers_kept, "memory.budget", "adamant",                                                 \
    "whole gradients of all units live until backward ends")                                       \
  /* what outlives an engine */                                                                    \
  X(order_from_leftover_state, "determinism.digest", "adamant",                                    \
    "the order of a unit's gathers depends on what this process ran before")                       \
  /* so blatant that every search finds it: proves that the alarm works */                         \
  X(canary, "values.bitwise", "adamant", "counters say one step more than was taken")

enum class Bug {
  none,
#define ADAMANT_BUG_ENUMERATOR(id, law, source, text) id,
  ADAMANT_BUG_TABLE(ADAMANT_BUG_ENUMERATOR)
#undef ADAMANT_BUG_ENUMERATOR
};

struct BugInfo {
  Bug bug = Bug::none;
  std::string_view id;
  std::string_view law;
  std::string_view source;  // an address, or "adamant"
  std::string_view text;
};

inline constexpr BugInfo bug_table[] = {
#define ADAMANT_BUG_ROW(id, law, source, text) {Bug::id, #id, law, source, text},
    ADAMANT_BUG_TABLE(ADAMANT_BUG_ROW)
#undef ADAMANT_BUG_ROW
};

/// Every bug but `none`, in the order of the enumeration.
constexpr std::span<BugInfo const> all_bugs() {
  return bug_table;
}

}  // namespace adamant::real
