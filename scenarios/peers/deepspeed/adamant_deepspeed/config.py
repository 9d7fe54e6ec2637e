"""DeepSpeed's configuration for a scenario."""

from __future__ import annotations

from typing import Any

from adamant_torch.requests import Opening

Config = dict[str, Any]
LARGE = 1_000_000_000
PERSISTENT = 100_000  # elements; DeepSpeed's own default


def config(opening: Opening) -> Config:
    """Return what a user would write for these types and options.

    Buckets are as small as the parameters of scenarios, so that several are needed. Of a dynamic
    scale the window and the hysteresis are those of PyTorch's GradScaler, which scenarios mean.
    """
    options = opening.options
    zero: Config = {
        "stage": int(options["zero"]),
        "reduce_bucket_size": 64,
        "allgather_bucket_size": 64,
        "reduce_scatter": options["reduce_scatter"] == "true",
        "contiguous_gradients": options["contiguous_gradients"] == "true",
        "overlap_comm": False,
        "stage3_param_persistence_threshold": PERSISTENT if options["persist"] == "true" else 0,
        "stage3_max_live_parameters": LARGE,
        "load_from_fp32_weights": True,
    }
    result: Config = {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": 1,
        "steps_per_print": LARGE,
        "zero_optimization": zero,
        "communication_data_type": opening.precision.grad,
        "data_types": {"grad_accum_dtype": opening.precision.grad},
    }
    if opening.precision.param == "bf16":
        result["bf16"] = {"enabled": True}
    if opening.precision.param == "fp16":
        result["fp16"] = half(opening.loss_scale)
    return result


def half(loss_scale: float | str) -> Config:
    """Return the section `fp16`; a loss scale of 0 is DeepSpeed's word for a dynamic one."""
    return {
        "enabled": True,
        "loss_scale": {"dynamic": 0.0, "none": 1.0}.get(str(loss_scale), loss_scale),
        "initial_scale_power": 16,
        "loss_scale_window": 2000,
        "hysteresis": 1,
        "min_loss_scale": 1,
    }
