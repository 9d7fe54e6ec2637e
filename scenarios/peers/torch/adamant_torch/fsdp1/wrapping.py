"""The model under FSDP1: how it is wrapped, how its mean is made, where a run begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, ShardingStrategy

from adamant_torch.model import DTYPES, weight_dtype
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


def wrap(model: nn.Module, mesh: DeviceMesh, opening: Opening) -> FullyShardedDataParallel:
    """Wrap each unit and then the model, and set how gradients are divided."""
    chosen: dict[str, Any] = {
        "mixed_precision": mixed_precision(opening.precision),
        "use_orig_params": True,
        "device_id": torch.device("cpu"),
    }
    replicated = opening.replicate > 1
    strategy = opening.options.get("strategy", "full_shard")
    if replicated and opening.shard == 1 and opening.options.get("alone") == "no_shard":
        chosen["process_group"] = mesh["replicate"].get_group()
        chosen["sharding_strategy"] = ShardingStrategy.NO_SHARD
    else:
        chosen["device_mesh"] = mesh
        chosen["sharding_strategy"] = STRATEGIES[strategy, replicated]
    for name, unit in list(model.named_children()):
        model.add_module(name, FullyShardedDataParallel(unit, **chosen))
    whole = FullyShardedDataParallel(model, **chosen)
    if divides_once(opening):
        divide_once(whole, opening.microbatches)
    return whole


def divides_once(opening: Opening) -> bool:
    """Return whether the mean is made by one division, and not as FSDP1 makes it."""
    return opening.microbatches != opening.ranks or opening.options.get("division") == "once"


def divide_once(whole: FullyShardedDataParallel, microbatches: int) -> None:
    """Make the mean over the global batch one division, after the sum.

    FSDP1 divides before it and after it, each time by about the root of the number of ranks, and
    has no setting for another number. What it divides by first is a power of two, so that only
    subnormal gradients are rounded twice.
    """
    module: Any  # factors are integers in the annotations and numbers in use
    for module in FullyShardedDataParallel.fsdp_modules(whole):
        module._gradient_predivide_factor = 1.0
        module._gradient_postdivide_factor = float(microbatches)


def handles(whole: FullyShardedDataParallel) -> list[Any]:
    """Return FSDP1's handles of flat parameters, one a unit."""
    found = [module._handle for module in FullyShardedDataParallel.fsdp_modules(whole)]
    return [handle for handle in found if handle is not None]  # the whole has no own parameters


def cuts(whole: FullyShardedDataParallel) -> bool:
    """Return whether parameters are cut. With one rank to cut for, FSDP1 does not."""
    return any(handle.uses_sharded_strategy for handle in handles(whole))


def starts(whole: FullyShardedDataParallel) -> Iterator[tuple[nn.Parameter, int]]:
    """Yield each parameter and where this rank's run of its elements begins."""
    for handle in handles(whole):
        flat = handle.flat_param
        for parameter, info in zip(flat._params, flat._shard_param_infos, strict=True):
            begins = info.in_shard and handle.uses_sharded_strategy
            yield parameter, info.intra_param_start_idx if begins else 0
