// The catalogue of bugs: mistakes that a programmer made, or could have made, in an engine like
// this one, each behind a switch of its own (real/bug.h). One line a bug: its id, the law of the
// contract that must break, the public report that it comes from or "adamant", and what is done
// wrong. It knows neither where a bug is nor how it is switched on.
#pragma once

#include <span>
#include <string_view>

namespace adamant::real {

#define ADAMANT_BUG_TABLE(X)                                                                       \
  /* graphs */                                                                                     \
  X(mlm_4663, "graph.pointer", "https://github.com/NVIDIA/Megatron-LM/pull/4663",                  \
    "zero_grad gives the gradients' memory back between a capture and its replay")                 \
  X(mlm_4663_view, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/pull/4663",            \
    "a replay does not give parameters their view of the gradient that it computed")               \
  X(mlm_4663_copy, "memory.budget", "https://github.com/NVIDIA/Megatron-LM/pull/4663",             \
    "zero_grad gives gradients back and keeps the cast copies of them")                            \
  X(mlm_4663_twice, "memory.budget", "https://github.com/NVIDIA/Megatron-LM/pull/4663",            \
    "every change of the gradients makes new cast copies beside the old ones")                     \
  X(F02, "graph.scalar", "https://github.com/tracel-ai/burn/issues/5779",                          \
    "the learning rate travels by value, so that replays go on with that of the capture")          \
  X(F03, "graph.capture", "https://github.com/pytorch/pytorch/issues/106802",                      \
    "the learning rate is read back from the device in every step, captured ones too")             \
  X(F04, "graph.scalar", "adamant",                                                                \
    "the weight decay travels by value, so that replays go on with that of the capture")           \
  X(F05, "values.bitwise", "https://github.com/NVIDIA/TransformerEngine/issues/2937",              \
    "a graph's own gradient buffer is handed out, so that its next replay overwrites it")          \
  X(F09, "values.bitwise", "https://github.com/deepmodeling/deepmd-kit/pull/6001",                 \
    "parameters that get their first gradient after a capture are left out of replayed steps")     \
  X(F10, "graph.pointer", "adamant",                                                               \
    "the buffers of a backward are allocated anew between a capture and its replay")               \
  X(F11, "values.bitwise", "adamant", "a second capture is answered with the first graph")         \
  X(norm_kept_in_graph, "graph.scalar", "adamant",                                                 \
    "the maximal norm travels by value, so that replays clip to that of the capture")              \
  X(skip_decided_at_capture, "values.bitwise", "adamant",                                          \
    "whether a step is skipped is decided while it is captured, so that replays never skip")       \
  X(graph_outlives_loss_scale, "values.bitwise", "adamant",                                        \
    "a graph from before the first loss scale is replayed as it is, and unscales nothing")         \
  /* order between streams, and between the device and the host */                                 \
  X(compute_skips_wait_for_gather, "order.race", "adamant",                                        \
    "the model starts on a unit before its parameters are gathered")                               \
  X(gather_skips_wait_for_step, "order.race", "adamant",                                           \
    "parameters are gathered while the last step still writes them")                               \
  X(reduce_skips_wait_for_compute, "order.race", "adamant",                                        \
    "gradients are reduced while the model still writes them")                                     \
  X(step_skips_wait_for_reduction, "order.race", "adamant",                                        \
    "the step reads gradients that are still being reduced")                                       \
  X(ds_7898, "order.race", "https://github.com/deepspeedai/DeepSpeed/pull/7898",                   \
    "the reduction waits for another stream than the one that makes the gradients")                \
  X(pt_140044, "order.race", "https://github.com/pytorch/pytorch/issues/140044",                   \
    "the next unit's gradients are written into the buffer that is still being reduced")           \
  X(staging_overwritten_in_flight, "order.race", "adamant",                                        \
    "the host rewrites the pinned step table before its last copy is done")                        \
  X(kernel_skips_wait_for_table, "order.race", "adamant",                                          \
    "the step runs before its table has arrived")                                                  \
  X(table_overwritten_under_kernel, "order.race", "adamant",                                       \
    "the next table lands while the last step still reads the old one")                            \
  X(slot_released_before_compute, "access.lifetime", "adamant",                                    \
    "gathered parameters are freed in the order of the communication stream, not of the model")    \
  X(ds_7965, "access.lifetime", "https://github.com/deepspeedai/DeepSpeed/pull/7965",              \
    "whole gradients are freed in the order of the compute stream, while they are reduced")        \
  X(pt_180665, "access.lifetime", "https://github.com/pytorch/pytorch/issues/180665",              \
    "reduced sums are freed in the order of another stream than the one that reads them")          \
  X(mlm_6187, "access.lifetime", "https://github.com/NVIDIA/Megatron-LM/pull/6187",                \
    "the buffer of reduced sums is allocated on one stream and used on another")                   \
  X(gradients_freed_on_comm, "access.lifetime", "adamant",                                         \
    "zero_grad frees gradients in the order of a stream that does not wait for the step")          \
  /* collectives */                                                                                \
  X(torchtitan_4371, "order.collective", "https://github.com/pytorch/torchtitan/issues/4371",      \
    "the last rank gathers its own rows only, without padding")                                    \
  X(parameters_swapped_on_one_rank, "order.collective", "adamant",                                 \
    "the last rank gathers the parameters of a unit in reverse order")                             \
  X(prefetch_late_on_one_rank, "order.collective", "adamant",                                      \
    "the last rank gathers the next unit after reducing this one instead of before")               \
  X(empty_shard_skips_collective, "order.collective", "adamant",                                   \
    "a rank without rows of a parameter does not take part in gathering it")                       \
  X(mlm_2218, "order.collective", "https://github.com/NVIDIA/Megatron-LM/issues/2218",             \
    "the last rank reduces the gradients of a unit in another order")                              \
  X(gradient_padding_not_zeroed, "access.uninitialized", "adamant",                                \
    "padding rows of whole gradients are summed as the allocator left them")                       \
  X(idle_rank_sends_garbage, "access.uninitialized", "adamant",                                    \
    "a rank without a microbatch reduces gradients that nobody wrote")                             \
  /* layout */                                                                                     \
  X(shard_off_by_one_row, "values.bitwise", "adamant",                                             \
    "every rank but the first takes its rows one too late")                                        \
  X(remainder_dropped, "values.bitwise", "adamant",                                                \
    "rows per rank are rounded down, the last ones are lost")                                      \
  X(rows_split_evenly, "values.bitwise", "adamant",                                                \
    "the first ranks take one row more than the others, instead of all but the last the same "     \
    "number")                                                                                      \
  X(moments_not_zeroed, "access.uninitialized", "adamant",                                         \
    "moments start as the allocator left them")                                                    \
  /* checkpoints: what is saved, and where in files it lies */                                     \
  X(te_2795, "checkpoint.roundtrip", "https://github.com/NVIDIA/TransformerEngine/pull/2795",      \
    "optimizer state says nothing of its rows: saved and loaded as if each rank had all of it")    \
  X(te_2795_global_shape, "memory.budget",                                                         \
    "https://github.com/NVIDIA/TransformerEngine/pull/2795",                                       \
    "optimizer state is allocated in the size of the whole tensor on every rank")                  \
  X(pt_108869, "checkpoint.roundtrip", "https://github.com/pytorch/pytorch/issues/108869",         \
    "the part of a rank without rows is recorded beyond the end of the tensor")                    \
  X(leftover_files_loaded, "checkpoint.roundtrip", "adamant",                                      \
    "a save leaves files of an older one in place, and a load reads whatever is there")            \
  X(old_checkpoint_removed_first, "checkpoint.atomic", "adamant",                                  \
    "the older checkpoint is removed before the new one is complete")                              \
  X(saved_files_not_synced, "checkpoint.atomic", "adamant",                                        \
    "files are renamed into place without a sync of their bytes")                                  \
  X(piece_written_before_copied, "order.race", "adamant",                                          \
    "a save writes its staging to disk before the copy into it is done")                           \
  X(staging_read_into_early, "order.race", "adamant",                                              \
    "a load reads the next piece into staging that is still being copied to the device")           \
  /* checkpoints: what a load makes of them */                                                     \
  X(pt_189945, "checkpoint.roundtrip", "https://github.com/pytorch/pytorch/pull/189945",           \
    "parts of a tensor are told apart by its name alone, so that one replaces the other")          \
  X(checksums_ignored, "checkpoint.integrity", "adamant",                                          \
    "a load takes bytes whose checksum is wrong")                                                  \
  X(skyrl_1403, "checkpoint.roundtrip", "https://github.com/NovaSky-AI/SkyRL/issues/1403",         \
    "step counters keep the values that they had before the load")                                 \
  X(pt_143828, "checkpoint.roundtrip", "https://github.com/pytorch/pytorch/issues/143828",         \
    "all groups are restored from the first one")                                                  \
  X(mlm_4705, "checkpoint.roundtrip", "https://github.com/NVIDIA/Megatron-LM/issues/4705",         \
    "groups are matched by learning rate and decay, so that equal ones are confused")              \
  X(pt_113673, "checkpoint.roundtrip", "https://github.com/pytorch/pytorch/issues/113673",         \
    "optimizer state is matched by position, saved in another order than registered")              \
  X(last_part_not_read, "checkpoint.roundtrip", "adamant",                                         \
    "the last saved part of a tensor is not read: what was there before stays")                    \
  X(failed_load_forgotten, "error.clean", "adamant",                                               \
    "after a load that failed midway the engine goes on with what it has")                         \
  X(save_without_state, "error.clean", "adamant",                                                  \
    "after a load that failed midway a save writes what it left")                                  \
  X(mlm_201805d, "order.race", "https://github.com/NVIDIA/Megatron-LM/commit/201805d2e0",          \
    "a save reads offloaded states while copies still write them")                                 \
  X(loaded_moments_made_anew, "values.bitwise", "adamant",                                         \
    "moments that were loaded while away are zeros at the next step, as before the first one")     \
  X(areal_1468, "checkpoint.roundtrip", "https://github.com/inclusionAI/AReaL/issues/1468",        \
    "a load passes over the optimizer's tensors")                                                  \
  /* the mean over the global batch */                                                             \
  X(mean_not_divided, "values.bitwise", "adamant",                                                 \
    "the sum of all microbatches is taken for their mean")                                         \
  X(mean_by_world_size, "values.bitwise", "adamant",                                               \
    "divided by the number of ranks, not of microbatches")                                         \
  X(torchtune_2172, "values.bitwise", "https://github.com/pytorch/torchtune/issues/2172",          \
    "the mean over the global batch is divided by the number of ranks once more")                  \
  X(verl_5625, "values.bitwise", "https://github.com/volcengine/verl/issues/5625",                 \
    "each rank's own mean is averaged over the ranks, whatever their numbers of microbatches")     \
  X(mean_by_reciprocal, "values.bitwise", "adamant", "multiplied by 1/n instead of divided by n")  \
  X(accumulation_overwrites, "values.bitwise", "adamant",                                          \
    "a second backward replaces the gradient instead of adding to it")                             \
  X(mlm_3023, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/pull/3023",                 \
    "a second backward divides the accumulated gradient once more")                                \
  X(mlm_6041, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/pull/6041",                 \
    "a unit's sums are added to the gradient twice")                                               \
  X(microbatches_overwrite, "values.bitwise", "adamant",                                           \
    "a rank's last microbatch replaces its earlier ones")                                          \
  /* who counts steps */                                                                           \
  X(te_3318, "ranks.agree", "https://github.com/NVIDIA/TransformerEngine/pull/3318",               \
    "the counter stands still on ranks that own no element of it")                                 \
  X(counter_off_by_one, "values.bitwise", "adamant",                                               \
    "bias corrections use the number of the next step")                                            \
  X(flashlight_143, "values.bitwise", "https://github.com/flashlight/flashlight/issues/143",       \
    "a group's counter advances once a parameter")                                                 \
  X(olmo_core_309, "values.bitwise", "https://github.com/allenai/OLMo-core/pull/309",              \
    "the counter stands still after the first step")                                               \
  X(group_counter_for_late_parameter, "values.bitwise", "adamant",                                 \
    "a parameter that had no gradient at first is counted with its group, although each has a "    \
    "counter")                                                                                     \
  /* scalars */                                                                                    \
  X(bias_correction_from_decimal_beta, "values.bitwise", "adamant",                                \
    "bias corrections use the betas before their rounding to binary32")                            \
  X(bias_correction_in_float, "values.bitwise", "adamant",                                         \
    "bias corrections are computed by powf")                                                       \
  X(kozistr_308, "values.bitwise", "https://github.com/kozistr/pytorch_optimizer/issues/308",      \
    "bias corrections subtract from 1 twice, which leaves beta^t")                                 \
  X(tt_metal_55935, "values.bitwise", "https://github.com/tenstorrent/tt-metal/issues/55935",      \
    "betas are cut to the 16 bits of bf16")                                                        \
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
  X(decay_applied_twice, "values.bitwise", "adamant",                                              \
    "AdamW decays the parameter before the update and in it")                                      \
  X(oneflow_5960, "values.bitwise", "https://github.com/Oneflow-Inc/oneflow/pull/5960",            \
    "bias corrections are folded into the learning rate, which scales the decay as well and "      \
    "leaves epsilon out")                                                                          \
  X(te_1744, "values.bitwise", "https://github.com/NVIDIA/TransformerEngine/pull/1744",            \
    "second moments below the normal numbers are flushed to zero")                                 \
  X(moments_swapped, "values.bitwise", "adamant", "each moment decays with the other's beta")      \
  X(square_first, "values.bitwise", "adamant",                                                     \
    "(1 - beta2) * (g * g) instead of ((1 - beta2) * g) * g")                                      \
  X(fused_multiply_add, "values.bitwise", "adamant",                                               \
    "the first moment is rounded once instead of twice")                                           \
  X(decay_without_gradient, "values.bitwise", "adamant",                                           \
    "parameters without a gradient decay all the same")                                            \
  /* number formats, main weights, cast gradients */                                               \
  X(mlm_4133, "memory.budget", "https://github.com/NVIDIA/Megatron-LM/pull/4133",                  \
    "a main weight is kept beside weights that are fp32 already, and never updated")               \
  X(mlm_4133_config, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/pull/4277",          \
    "one place casts the gradient, another takes the flag from elsewhere: the step reads it "      \
    "uncast")                                                                                      \
  X(mlm_6336, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/pull/6336",                 \
    "parameters are not refreshed from their main weights")                                        \
  X(main_from_parameter, "values.bitwise", "adamant",                                              \
    "each step starts from the rounded parameter, as if there were no main weight")                \
  X(flashoptim_2, "values.bitwise", "https://github.com/databricks/flashoptim/issues/2",           \
    "moments pass through the parameter's format on their way to memory")                          \
  X(moments_rounded_before_update, "values.bitwise", "adamant",                                    \
    "the update uses the moments as bf16 holds them")                                              \
  X(onetrainer_996, "values.bitwise", "https://github.com/Nerogar/OneTrainer/issues/996",          \
    "decay is rounded to the weight's format by itself, where it is mostly lost")                  \
  X(te_1888, "values.bitwise", "https://github.com/NVIDIA/TransformerEngine/pull/1888",            \
    "bf16 gradients are read as fp16")                                                             \
  X(bf16_truncated, "values.bitwise", "adamant",                                                   \
    "the step stores the upper half of a number as bf16 instead of rounding it")                   \
  X(cast_before_reduction, "order.race", "adamant",                                                \
    "gradients are cast while they are still being reduced")                                       \
  X(cast_not_zeroed, "values.bitwise", "adamant",                                                  \
    "zero_grad without set_to_none zeroes gradients and leaves their cast copies")                 \
  /* the fused kernel's work list */                                                               \
  X(last_piece_dropped, "values.bitwise", "adamant",                                               \
    "the last piece of the work list is not visited")                                              \
  X(te_3212, "values.bitwise", "https://github.com/NVIDIA/TransformerEngine/pull/3212",            \
    "nothing is launched where the last tensor of the list has no elements here")                  \
  X(te_3136, "values.bitwise", "https://github.com/NVIDIA/TransformerEngine/pull/3136",            \
    "offsets into the flat buffers wrap, here at 1 KiB as 32-bit indices do at 2^31 elements")     \
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
  X(te_2805, "memory.budget", "https://github.com/NVIDIA/TransformerEngine/pull/2805",             \
    "gathered parameters stay referenced after the model has used them")                           \
  X(pt_179128, "memory.budget", "https://github.com/pytorch/pytorch/issues/179128",                \
    "reduced sums of all units live until backward ends")                                          \
  X(mlm_6153, "memory.budget", "https://github.com/NVIDIA/Megatron-LM/pull/6153",                  \
    "a unit whose backward is over is prefetched once more and released by nobody")                \
  X(iseekyan_158, "memory.budget", "https://github.com/ISEEKYAN/Megatron-LM/issues/158",           \
    "whole gradients of all units live until backward ends")                                       \
  /* states that leave the device between steps */                                                 \
  X(mlm_2811, "order.race", "https://github.com/NVIDIA/Megatron-LM/pull/2811",                     \
    "states are copied to the host while the step writes them")                                    \
  X(mlm_2811_free, "access.lifetime", "https://github.com/NVIDIA/Megatron-LM/pull/2811",           \
    "states are freed in the order of the compute stream, while they are copied")                  \
  X(mlm_2811_reload, "order.race", "https://github.com/NVIDIA/Megatron-LM/pull/2811",              \
    "states come back from pinned memory in which they have not arrived")                          \
  X(mlm_2811_step, "order.race", "https://github.com/NVIDIA/Megatron-LM/pull/2811",                \
    "the step does not wait for states to come back")                                              \
  X(mlm_2811_read, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/commit/201805d2e0",    \
    "states that are away are read where they were")                                               \
  X(mlm_2811_resident, "memory.budget", "https://github.com/NVIDIA/Megatron-LM/pull/2811",         \
    "states are copied to the host, but keep their device memory")                                 \
  X(mlm_2811_first, "access.uninitialized", "https://github.com/NVIDIA/Megatron-LM/pull/2811",     \
    "the first step finds moments that nobody has made")                                           \
  X(mlm_2811_partial, "access.uninitialized", "https://github.com/NVIDIA/Megatron-LM/pull/2811",   \
    "the second moment is not copied back")                                                        \
  /* the CPU's part of a hybrid step */                                                            \
  X(mlm_4623, "memory.budget", "https://github.com/NVIDIA/Megatron-LM/pull/4623",                  \
    "the CPU's part is counted in elements of whole tensors instead of shards")                    \
  X(mlm_4623_gradients, "memory.budget", "https://github.com/NVIDIA/Megatron-LM/pull/4623",        \
    "the CPU's gradients are pinned although pin_grads is false")                                  \
  X(mlm_4623_parameters, "memory.budget", "https://github.com/NVIDIA/Megatron-LM/pull/4623",       \
    "the CPU's weights are pinned although pin_params is false")                                   \
  X(mlm_4623_copy, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/pull/4623",            \
    "the CPU's weights are written into a copy of the parameters")                                 \
  X(mlm_3140, "order.race", "https://github.com/NVIDIA/Megatron-LM/pull/3140",                     \
    "what follows waits for the gradients' copies down instead of the weights' copies up")         \
  X(mlm_4547, "memory.budget", "https://github.com/NVIDIA/Megatron-LM/pull/4547",                  \
    "the CPU's weights lose their pinned memory")                                                  \
  X(mlm_5071, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/issues/5071",               \
    "the CPU's weights stay old where parameters are written")                                     \
  X(mlm_6871, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/issues/6871",               \
    "a parameter without gradient is stepped with its last one")                                   \
  X(pt_98667, "order.race", "https://github.com/pytorch/pytorch/issues/98667",                     \
    "the CPU reads gradients that have not arrived")                                               \
  X(ds_1643, "values.bitwise", "https://github.com/microsoft/DeepSpeed/issues/1643",               \
    "one staging buffer serves the gradients of all parameters")                                   \
  X(hybrid_skips_wait_for_gradients, "order.race", "adamant",                                      \
    "gradients are copied down while they are reduced")                                            \
  X(hybrid_sends_before_step, "order.race", "adamant",                                             \
    "weights are copied up while the CPU steps them")                                              \
  /* loss scale and clipping */                                                                    \
  X(mlm_4133_empty_norm, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/pull/4133",      \
    "the norm reads the gradients of the coupled kind, of which there are none, and nothing is "   \
    "clipped")                                                                                     \
  X(mlm_5916, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/pull/5916",                 \
    "the norm is summed over a group of ranks that misses the last one")                           \
  X(nemorl_3788, "values.bitwise", "https://github.com/NVIDIA-NeMo/RL/pull/3788",                  \
    "the sum of squares is summed over ranks that hold the same of it already")                    \
  X(miles_diffusion_35, "ranks.agree", "https://github.com/radixark/miles_diffusion/pull/35",      \
    "every rank reports the norm of its own shard, although all clip by the whole one")            \
  X(pt_149768, "values.bitwise", "https://github.com/pytorch/pytorch/issues/149768",               \
    "every rank adds epsilon to its part of the norm, so that it counts once a rank")              \
  X(mlm_5530, "values.bitwise", "https://github.com/NVIDIA/Megatron-LM/issues/5530",               \
    "a rank without gradients says that its norm is not a number")                                 \
  X(clip_before_unscale, "values.bitwise", "adamant",                                              \
    "the norm is taken of gradients that still carry the loss scale")                              \
  X(clip_scales_up, "values.bitwise", "adamant", "small gradients are scaled up to the norm")      \
  X(coefficient_outlives_gradients, "values.bitwise", "adamant",                                   \
    "a step clips new gradients by the norm of those before")                                      \
  X(pt_94060, "values.bitwise", "https://github.com/pytorch/pytorch/issues/94060",                 \
    "the step unscales gradients that clip has unscaled before")                                   \
  X(step_forgets_unscale, "values.bitwise", "adamant",                                             \
    "the step takes gradients that carry the loss scale as they are")                              \
  X(pt_115710, "order.race", "https://github.com/pytorch/pytorch/issues/115710",                   \
    "the verdict on a step is drawn before its reduction over ranks has finished")                 \
  X(skip_decided_per_rank, "ranks.agree", "adamant",                                               \
    "each rank skips a step by what it finds in its own shard")                                    \
  X(te_stale_overflow, "values.bitwise",                                                           \
    "https://github.com/NVIDIA/TransformerEngine/blob/main/transformer_engine/pytorch/optimizers/" \
    "fused_adam.py",                                                                               \
    "counters advance by the overflow of the step before")                                         \
  X(accelerate_4242, "values.bitwise", "https://github.com/huggingface/accelerate/issues/4242",    \
    "a skipped step is counted as if it had been taken")                                           \
  X(nan_is_not_overflow, "values.bitwise", "adamant",                                              \
    "only infinities are looked for, a NaN is stepped with")                                       \
  X(hysteresis_refilled, "values.bitwise", "adamant",                                              \
    "every good step refills the hysteresis, so that the scale backs off too late")                \
  X(scaler_starts_afresh, "checkpoint.roundtrip", "adamant",                                       \
    "a load takes the loss scale's setting from the checkpoint, and not where it had come to")     \
  X(hysteresis_ignored, "values.bitwise", "adamant", "the first overflow halves the scale")        \
  /* what outlives an engine */                                                                    \
  X(unwinding_keeps_memory, "error.clean", "adamant",                                              \
    "memory whose owner goes because of an error is not given back")                               \
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
