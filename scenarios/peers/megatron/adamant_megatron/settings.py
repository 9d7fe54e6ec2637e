"""Groups and settings in Megatron's words."""

from __future__ import annotations

from typing import Any

from megatron.core.optimizer.optimizer_config import OptimizerConfig, ParamKey

from adamant_torch.model import DTYPES, module_name
from adamant_torch.optimizer import settings
from adamant_torch.requests import Opening


def config(opening: Opening, **more: Any) -> OptimizerConfig:
    """Return Megatron's settings; what groups differ in is in `overrides`.

    A dynamic scale is set as PyTorch's GradScaler is: the protocol knows that one alone.
    """
    first = opening.groups[0]
    scale = opening.loss_scale
    return OptimizerConfig(
        optimizer="adam",
        lr=first.lr,
        min_lr=0.0,
        weight_decay=first.weight_decay,
        adam_beta1=first.betas[0],
        adam_beta2=first.betas[1],
        adam_eps=first.eps,
        decoupled_weight_decay=opening.mode == "adamw",
        fp16=opening.precision.param == "fp16",
        bf16=opening.precision.param == "bf16",
        params_dtype=DTYPES[opening.precision.param],
        use_distributed_optimizer=True,
        loss_scale=None if isinstance(scale, str) else scale,
        initial_loss_scale=2.0**16,
        loss_scale_window=2000,
        hysteresis=1,
        clip_grad=0.0,  # clipping is a verb of its own
        **more,
    )


def overrides(opening: Opening) -> dict[ParamKey, dict[str, Any]]:
    """Return what Megatron is told of each group: all settings, and a name to tell it by.

    Megatron knows a group of a checkpoint again by its multipliers. `groups: multiplied` gives
    each its own, which nothing else reads.
    """
    result = {}
    for index, group in enumerate(opening.groups):
        names = tuple(f"module.{module_name(p.name)}" for p in opening.params if p.group == index)
        if names:
            own = {"name": group.name, **settings(group)}
            if opening.options["groups"] == "multiplied":
                own["lr_mult"] = 1.0 + index
            result[ParamKey(name=names)] = own
    return result
