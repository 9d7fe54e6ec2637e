"""The model under FSDP1: how it is wrapped, how its mean is made, where a parameter's run begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, ShardingStrategy

from adamant_torch.model import DTYPES, Model, weight_dtype
from adamant_torch.requests import Opening, Precision

STRATEGIES = {  # by option and by whether there are replicas
    ("full_shard", False): ShardingStrategy.FULL_SHARD,
    ("full_shard", True): ShardingStrategy.HYBRID_SHARD,
    ("shard_grad_op", False): ShardingStrategy.SHARD_GRAD_OP,
    ("shard_grad_op", True): ShardingStrategy._HYBRID_SHARD_ZERO2,
}


def mixed_precision(precision: Precision) -> MixedPrecision:
    """Return the policy that makes `param` and `grad` of a recipe what they are."""
    weights = weight_dtype(precision)
    param, grad = DTYPES[precision.param], DTYPES[precision.grad]
    return MixedPrecision(
        param_dtype=None if param == weights else param,
        reduce_dtype=None if grad == param else grad,
        cast_forward_inputs=False,
        cast_root_forward_inputs=False,
    )


def wrap(model: Model, mesh: DeviceMesh, opening: Opening) -> FullyShardedDataParallel:
    """Wrap each unit and then the model, and set how gradients are divided."""
    chosen: dict[str, Any] = {
        "mixed_precision": mixed_precision(opening.precision),
        "use_orig_params": True,
        "device_id": torch.device("cpu"),
    }
    replicated = opening.replicate > 1
    if replicated and opening.shard == 1 and opening.options["alone"] == "no_shard":
        chosen["process_group"] = mesh["replicate"].get_group()
        chosen["sharding_strategy"] = ShardingStrategy.NO_SHARD
    else:
        chosen["device_mesh"] = mesh
        chosen["sharding_strategy"] = STRATEGIES[opening.options["strategy"], replicated]
    for number in model.numbers:
        name = f"unit{number}"
        model.add_module(name, FullyShardedDataParallel(getattr(model, name), **chosen))
    whole = FullyShardedDataParallel(model, **chosen)
    if opening.microbatches != opening.ranks:
        divide_once(whole, opening.microbatches)
    return whole


def divide_once(whole: FullyShardedDataParallel, microbatches: int) -> None:
    """Make the mean over the global batch one division, where ranks are no microbatches.

    FSDP1 divides a sum twice, each time by about the root of the number of ranks, and has no
    setting for another number. Its first divisor is a power of two, so by default the second
    division is the one that rounds.
    """
    for module in FullyShardedDataParallel.fsdp_modules(whole):
        module._gradient_predivide_factor = 1.0
        module._gradient_postdivide_factor = float(microbatches)


def shards(whole: FullyShardedDataParallel) -> bool:
    """Return whether parameters are cut. With one rank to cut for, FSDP1 does not."""
    return any(handle.uses_sharded_strategy for handle in whole._all_handles)


def starts(whole: FullyShardedDataParallel) -> Iterator[tuple[nn.Parameter, int]]:
    """Yield each parameter and where this rank's run of its elements begins."""
    for handle in whole._all_handles:
        flat: Any = handle.flat_param
        for parameter, info in zip(flat._params, flat._shard_param_infos, strict=True):
            begins = info.in_shard and handle.uses_sharded_strategy
            yield parameter, info.intra_param_start_idx if begins else 0
