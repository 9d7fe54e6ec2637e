// Mistakes that a programmer could have made in this engine, each behind a switch. The shipped
// engine does not contain them: without ADAMANT_FAULTS every switch is false at compile time. The
// harness selects one per process and expects the named law to notice.
#pragma once

#include <cuda_runtime.h>

#include <span>
#include <string_view>

namespace adamant::real {

// One line a fault: identifier, the law of the contract that must break, what is done wrong.
#define ADAMANT_FAULTS_OF_THE_ENGINE(X)                                                            \
  /* order between streams, and between the device and the host */                                 \
  X(compute_skips_wait_for_gather, "order.race",                                                   \
    "the model starts on a unit before its parameters are gathered")                               \
  X(gather_skips_wait_for_step, "order.race",                                                      \
    "parameters are gathered while the last step still writes them")                               \
  X(reduce_skips_wait_for_compute, "order.race",                                                   \
    "gradients are reduced while the model still writes them")                                     \
  X(step_skips_wait_for_reduction, "order.race",                                                   \
    "the step reads gradients that are still being reduced")                                       \
  X(staging_overwritten_in_flight, "order.race",                                                   \
    "the host rewrites the pinned step table before its last copy is done")                        \
  X(kernel_skips_wait_for_table, "order.race", "the step runs before its table has arrived")       \
  X(table_overwritten_under_kernel, "order.race",                                                  \
    "the next table lands while the last step still reads the old one")                            \
  X(slot_released_before_compute, "access.lifetime",                                               \
    "gathered parameters are freed in the order of the communication stream, not of the model")    \
  X(whole_gradients_freed_on_compute, "access.lifetime",                                           \
    "whole gradients are freed in the order of the compute stream, while they are reduced")        \
  X(gradients_freed_on_comm, "access.lifetime",                                                    \
    "zero_grad frees gradients in the order of a stream that does not wait for the step")          \
  /* collectives */                                                                                \
  X(wrong_count_on_one_rank, "order.collective",                                                   \
    "the last rank gathers its own rows only, without padding")                                    \
  X(parameters_swapped_on_one_rank, "order.collective",                                            \
    "the last rank gathers the parameters of a unit in reverse order")                             \
  X(prefetch_late_on_one_rank, "order.collective",                                                 \
    "the last rank gathers the next unit after reducing this one instead of before")               \
  X(empty_shard_skips_collective, "order.collective",                                              \
    "a rank without rows of a parameter does not take part in gathering it")                       \
  X(gradient_padding_not_zeroed, "access.uninitialized",                                           \
    "padding rows of whole gradients are summed as the allocator left them")                       \
  X(idle_rank_sends_garbage, "access.uninitialized",                                               \
    "a rank without a microbatch reduces gradients that nobody wrote")                             \
  /* layout */                                                                                     \
  X(shard_off_by_one_row, "values.bitwise",                                                        \
    "every rank but the first takes its rows one too late")                                        \
  X(remainder_dropped, "values.bitwise", "rows per rank are rounded down, the last ones are lost") \
  X(moments_not_zeroed, "access.uninitialized", "moments start as the allocator left them")        \
  /* the mean over the global batch */                                                             \
  X(mean_not_divided, "values.bitwise", "the sum of all microbatches is taken for their mean")     \
  X(mean_by_world_size, "values.bitwise", "divided by the number of ranks, not of microbatches")   \
  X(mean_by_reciprocal, "values.bitwise", "multiplied by 1/n instead of divided by n")             \
  X(accumulation_overwrites, "values.bitwise",                                                     \
    "a second backward replaces the gradient instead of adding to it")                             \
  X(accumulated_mean_divided_again, "values.bitwise",                                              \
    "a second backward divides the accumulated gradient once more")                                \
  X(microbatches_overwrite, "values.bitwise",                                                      \
    "a rank's last microbatch replaces its earlier ones")                                          \
  /* who counts steps */                                                                           \
  X(counter_skips_empty_ranks, "ranks.agree",                                                      \
    "the counter stands still on ranks that own no element of it")                                 \
  X(counter_off_by_one, "values.bitwise", "bias corrections use the number of the next step")      \
  X(counter_per_tensor, "values.bitwise", "a group's counter advances once a parameter")           \
  /* scalars */                                                                                    \
  X(bias_correction_from_decimal_beta, "values.bitwise",                                           \
    "bias corrections use the betas before their rounding to binary32")                            \
  X(bias_correction_in_float, "values.bitwise", "bias corrections are computed by powf")           \
  X(complement_in_double, "values.bitwise", "1 - beta is taken from decimals and rounded once")    \
  X(first_group_for_all, "values.bitwise", "all parameters use the first group's settings")        \
  X(settings_frozen, "values.bitwise",                                                             \
    "set_group is remembered, but the step uses the old values")                                   \
  /* arithmetic of one element */                                                                  \
  X(epsilon_inside_root, "values.bitwise", "sqrt(v + eps) instead of sqrt(v) + eps")               \
  X(decay_after_update, "values.bitwise", "decay multiplies the new value instead of the old")     \
  X(modes_mixed, "values.bitwise", "AdamW decays through the gradient, Adam decoupled")            \
  X(moments_swapped, "values.bitwise", "each moment decays with the other's beta")                 \
  X(square_first, "values.bitwise", "(1 - beta2) * (g * g) instead of ((1 - beta2) * g) * g")      \
  X(fused_multiply_add, "values.bitwise", "the first moment is rounded once instead of twice")     \
  X(decay_without_gradient, "values.bitwise", "parameters without a gradient decay all the same")  \
  /* the fused kernel's work list */                                                               \
  X(last_piece_dropped, "values.bitwise", "the last piece of the work list is not visited")        \
  X(piece_repeated, "values.bitwise", "the last piece of the work list is visited twice")          \
  X(piece_rounded_up, "access.uninitialized", "pieces run on to the next multiple of 4 elements")  \
  X(kernel_reads_past_end, "access.bounds", "the fused kernel's loop ends one element late")       \
  /* the life of gradients and buffers */                                                          \
  X(zero_grad_keeps_memory, "memory.budget", "zero_grad forgets gradients but keeps their memory") \
  X(zero_grad_frees_twice, "error.clean", "zero_grad frees the gradients twice")                   \
  X(gradient_used_after_zero_grad, "access.lifetime",                                              \
    "the step still uses the address of gradients that zero_grad freed")                           \
  X(zero_grad_keeps_values, "values.bitwise", "zero_grad without set_to_none does not zero")       \
  X(zero_grad_moves_gradients, "pointers.stable", "zero_grad without set_to_none allocates anew")  \
  X(zero_grad_skips_missing, "values.bitwise",                                                     \
    "zero_grad without set_to_none leaves out parameters that had no gradient")                    \
  X(reduction_leaked, "memory.budget", "the buffer of reduced sums is never given back")           \
  X(unit_buffers_kept, "memory.budget", "whole gradients of all units live until backward ends")   \
  /* what outlives an engine */                                                                    \
  X(order_from_leftover_state, "determinism.digest",                                               \
    "the order of a unit's gathers depends on what this process ran before")

enum class Fault {
  none,
#define ADAMANT_FAULT_ENUMERATOR(name, law, text) name,
  ADAMANT_FAULTS_OF_THE_ENGINE(ADAMANT_FAULT_ENUMERATOR)
#undef ADAMANT_FAULT_ENUMERATOR
};

struct FaultInfo {
  Fault fault = Fault::none;
  std::string_view name;
  std::string_view law;
  std::string_view text;
};

/// Every fault but `none`, in the order of the enumeration.
std::span<FaultInfo const> all_faults();

#if defined(ADAMANT_FAULTS) && !defined(__CUDACC__)
inline constexpr bool faults_compiled = true;
/// Makes `fault` happen in every engine of this process from now on; `none` ends it.
void select_fault(Fault fault);
bool fault_is(Fault fault);
#else
inline constexpr bool faults_compiled = false;
__host__ __device__ constexpr bool fault_is(Fault) {
  return false;
}
#endif

/// Is one of the faults selected that change the arithmetic of one element? Kernels ask once, so
/// that their loops carry no switch.
__host__ __device__ inline bool fault_in_arithmetic() {
  return fault_is(Fault::epsilon_inside_root) || fault_is(Fault::decay_after_update) ||
         fault_is(Fault::modes_mixed) || fault_is(Fault::moments_swapped) ||
         fault_is(Fault::square_first) || fault_is(Fault::fused_multiply_add);
}

}  // namespace adamant::real

#define ADAMANT_FAULT(name) ::adamant::real::fault_is(::adamant::real::Fault::name)
