"""The model under test: parameters in units, and a loss whose gradient is what the scenario says.

FSDP2 takes no gradient from outside. The loss is the sum of `parameter * x`, so the gradient of
each parameter is `x` exactly, and it goes through the real reduce-scatter. A parameter without
gradient is left out of the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    fully_shard,
)

from adamant_torch.requests import Opening, Precision

AVERAGES = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 13)
WHOLE = MixedPrecisionPolicy(cast_forward_inputs=False)  # one that changes nothing here
Tree = dict[str, Any]  # by names of parameters, and of units with such trees
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class Unit(nn.Module):
    """Parameters that are gathered and reduced together, and the units inside of it."""

    def __init__(self, values: Tree, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        for name, value in values.items():
            if isinstance(value, dict):
                setattr(self, name, type(self)(value, dtype))
            else:
                setattr(self, name, nn.Parameter(torch.as_tensor(value, dtype=dtype)))

    def forward(self, gradients: Tree) -> torch.Tensor:
        """Return a loss whose gradient by each parameter named is what is given for it."""
        found = []
        for name, x in gradients.items():
            at = getattr(self, name)  # products are fp32: in fp16 a loss scale may be infinite
            found.append(at(x) if isinstance(x, dict) else (at.float() * torch.as_tensor(x)).sum())
        return torch.stack(found).sum()


class Nested(Unit):
    """One that hands its loss to the one inside of it, which runs within it and last."""

    def forward(self, gradients: Tree, before: torch.Tensor | None = None) -> torch.Tensor:
        """Return the loss of this unit, of what ran before, and of what is inside."""
        own = {name: x for name, x in gradients.items() if not isinstance(x, dict)}
        inside = [name for name in gradients if name not in own]
        parts = [super().forward(own)] if own else []
        parts += [] if before is None else [before]
        loss = torch.stack(parts).sum() if parts else None
        for name in inside:
            loss = getattr(self, name)(gradients[name], loss)
        return cast(torch.Tensor, loss)


def units_of(whole: nn.Module) -> list[nn.Module]:
    """Return the units of a model, those inside of others first."""
    return [unit for name, unit in sorted(whole.named_modules(), reverse=True) if name]


def module_name(name: str) -> str:
    """Return the scenario's name of a parameter as a module may spell it."""
    return name.replace(".", "/")


def full_names(opening: Opening) -> dict[str, str]:
    """Return the name of each parameter in the model, which is its key in checkpoints.

    Units are numbered by the names of their parameters: a model that registers the same in another
    order has the same keys. Those inside of others are so by their numbers.
    """
    units: list[list[str]] = [[] for _ in range(1 + max(param.unit for param in opening.params))]
    for param in opening.params:
        units[param.unit].append(module_name(param.name))
    first = [min(names) for names in units]
    numbers = [sorted(first).index(name) for name in first]
    nested = opening.options.get("wrapping") == "nested"
    paths = [
        ".".join(f"unit{each}" for each in (range(number + 1) if nested else [number]))
        for number in numbers
    ]
    return {p.name: f"{paths[p.unit]}.{module_name(p.name)}" for p in opening.params}


def tree(named: Mapping[str, Any]) -> Tree:
    """Return what is given by names in the model by units and names in these."""
    found: Tree = {}
    for name, value in named.items():
        *path, own = name.split(".")
        unit = found
        for part in path:
            unit = unit.setdefault(part, {})
        unit[own] = value
    return found


def build(opening: Opening, initial: Mapping[str, torch.Tensor]) -> Unit:
    """Return the unsharded model with the scenario's initial values.

    They are rounded to the type that parameters are computed with, also where the optimizer's own
    weights could hold more.
    """
    computed, names = DTYPES[opening.precision.param], full_names(opening)
    whole = {p.name: initial[p.name].reshape(p.shape).clone() for p in opening.params}
    kind = Nested if opening.options.get("wrapping") == "nested" else Unit
    named = tree({names[name]: value.to(computed) for name, value in whole.items()})
    return kind(named, weight_dtype(opening.precision))


def weight_dtype(precision: Precision) -> torch.dtype:
    """Return the type of the optimizer's own weights."""
    return DTYPES[precision.param if precision.main == "none" else precision.main]


def moment_dtypes(precision: Precision) -> tuple[torch.dtype, torch.dtype]:
    """Return the types that the scenario names for the first and the second moment."""
    return DTYPES[precision.exp_avg], DTYPES[precision.exp_avg_sq]


def with_main(precision: Precision, plain: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return plain tensors with the main weight under its own name, where there is one.

    With main weights the parameter that FSDP2 keeps is the main weight, and the parameter that
    the model sees is what a gather casts it to.
    """
    if precision.main == "none":
        return plain
    return {**plain, "": plain[""].to(DTYPES[precision.param]), "/main": plain[""]}


def mixed_precision(precision: Precision) -> MixedPrecisionPolicy:
    """Return the policy that makes `param` and `grad` of a recipe what they are.

    A reduction in the type of narrower parameters is named, too: left out it was meant up to
    PyTorch 2.14, and since 2.15 it is one in the type of the weights.
    """
    weights = weight_dtype(precision)
    param, grad = DTYPES[precision.param], DTYPES[precision.grad]
    return MixedPrecisionPolicy(
        param_dtype=None if param == weights else param,
        reduce_dtype=None if grad == param == weights else grad,
        cast_forward_inputs=False,
    )


def policy(opening: Opening) -> dict[str, Any]:
    """Return the arguments of `fully_shard` beside the mesh, without those that it has anyway."""
    precision = mixed_precision(opening.precision)
    offloads = opening.options.get("offload_policy") == "cpu"
    return {
        **({} if precision == WHOLE else {"mp_policy": precision}),
        **({"offload_policy": CPUOffloadPolicy(pin_memory=False)} if offloads else {}),
        **reshard_after_forward(opening),
    }


def shard_units(whole: nn.Module, **policy: Any) -> None:
    """Shard each unit, those inside of others first, and the whole last."""
    for _, unit in sorted(whole.named_modules(), reverse=True):
        fully_shard(unit, **policy)


def shard(whole: nn.Module, mesh: DeviceMesh, opening: Opening) -> None:
    """Apply `fully_shard` to what is reduced together, and set how gradients are divided."""
    modules: list[nn.Module] = [whole]
    if opening.options.get("wrapping") == "root":
        fully_shard(whole, mesh=mesh, **policy(opening))
    else:
        shard_units(whole, mesh=mesh, **policy(opening))
        modules = units_of(whole)
    for module in modules:
        divide_once(cast(FSDPModule, module), opening)


def reshard_after_forward(opening: Opening) -> dict[str, bool | int]:
    """Return the argument of `fully_shard`; by default none, and PyTorch spares the root."""
    way = opening.options.get("reshard_after_forward", "auto")
    half = opening.shard // 2 if opening.shard in (4, 6, 8) else True
    values = {"true": True, "false": False, "half": half}
    return {"reshard_after_forward": values[way]} if way in values else {}


def divide_once(module: FSDPModule, opening: Opening) -> None:
    """Make the mean over the global batch one division by the number of microbatches."""
    divide = division(opening)
    if divide is not None:
        divide(module, float(opening.microbatches))


def division(opening: Opening) -> Callable[[FSDPModule, float], None] | None:
    """Return what makes the mean one division, or None where it is one already.

    Source: `_get_gradient_divide_factors` and `foreach_reduce` of PyTorch 2.13. By default shards
    are averaged and then replicas are, which is one division only where there is one replica. A
    factor together with forced sums divides once, except where the shard group has one
    rank: there the factor is applied twice, a known defect, and unless the option `division`
    asks for it a hook divides instead. Older releases are never left to their default: with
    PyTorch 2.8 gloo's averages are wrong on some worlds.
    """
    # With replicas there are two averages: even halving twice rounds a subnormal twice.
    once = opening.replicate == 1 or opening.options.get("averages") == "own"
    if AVERAGES and opening.microbatches == opening.ranks and once:
        return None
    hooked = opening.shard == 1 and opening.options.get("division") != "factor"
    return divide_by_hook if hooked else divide_by_factor


def divide_by_factor(module: FSDPModule, divisor: float) -> None:
    """Have FSDP2 sum gradients, and divide the sum."""
    module.set_force_sum_reduction_for_comms(True)
    module.set_gradient_divide_factor(divisor)


def divide_by_hook(module: FSDPModule, divisor: float) -> None:
    """Have FSDP2 sum gradients, and divide what comes of its last reduction."""

    def divide(reduced: torch.Tensor) -> None:
        reduced.div_(divisor)

    module.set_force_sum_reduction_for_comms(True)
    module.set_gradient_divide_factor(1.0)
    module.set_all_reduce_hook(divide)
