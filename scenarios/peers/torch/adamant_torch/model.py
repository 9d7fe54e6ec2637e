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
    OffloadPolicy,
    fully_shard,
)

from adamant_torch.requests import Opening, Precision

AVERAGES = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 13)
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class Unit(nn.Module):
    """Parameters that are gathered and reduced together, by names in which dots are slashes.

    Another unit may be its child, which then runs inside of it.
    """

    def forward(
        self, gradients: list[Mapping[str, torch.Tensor]], before: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return a loss whose gradient by each parameter named is the tensor given for it.

        `gradients` are those of this unit and of the units inside of it, from outside in; `before`
        is the loss of what ran before. The product is fp32, so that a loss scale meets `x` there
        and the gradient is rounded to the parameter's type once: in fp16 a scale of 65536 by
        itself would be infinite.
        """
        own, *inside = gradients
        parts = [(getattr(self, name).float() * x).sum() for name, x in own.items()]
        parts += [] if before is None else [before]
        loss = torch.stack(parts).sum() if parts else None
        if not inside:
            return cast(torch.Tensor, loss)
        (child,) = self.children()
        return cast(torch.Tensor, child(inside, loss))


class Model(nn.Module):
    """All units, side by side or each inside the one before. Calls those that it has to.

    Units are inside each other by their numbers, so that the same model has the same keys.
    """

    def __init__(self, units: list[Unit], nested: bool = False) -> None:
        super().__init__()
        self.units = len(units)
        self.numbers = numbers_of(units)
        self.nested = nested
        for number, unit in sorted(zip(self.numbers, units, strict=True)) if nested else ():
            outer = self.get_submodule(self._path(number - 1)) if number else self
            outer.add_module(f"unit{number}", unit)
        for number, unit in () if nested else zip(self.numbers, units, strict=True):
            self.add_module(f"unit{number}", unit)

    def unit(self, index: int) -> Unit:
        """Return unit `index`."""
        return cast(Unit, self.get_submodule(self._path(self.numbers[index])))

    def forward(self, gradients: list[Mapping[str, torch.Tensor]]) -> torch.Tensor:
        """Return the loss over all units."""
        if self.nested:
            chain = [gradients[self.numbers.index(number)] for number in range(self.units)]
            while not chain[-1]:
                chain.pop()
            return cast(torch.Tensor, self.get_submodule("unit0")(chain))
        parts = [self.unit(index)([named]) for index, named in enumerate(gradients) if named]
        return torch.stack(parts).sum()

    def _path(self, number: int) -> str:
        numbers = range(number + 1) if self.nested else [number]
        return ".".join(f"unit{each}" for each in numbers)


def numbers_of(units: list[Unit]) -> list[int]:
    """Return the numbers in the units' names, which are keys of checkpoints.

    They follow the names of parameters: a model that registers the same in another order has the
    same keys.
    """
    first = [min(name for name, _ in unit.named_parameters(recurse=False)) for unit in units]
    return [sorted(first).index(name) for name in first]


def module_name(name: str) -> str:
    """Return the scenario's name of a parameter as a module may spell it."""
    return name.replace(".", "/")


def build(opening: Opening, initial: Mapping[str, torch.Tensor]) -> Model:
    """Return the unsharded model with the scenario's initial values.

    They are rounded to the type that parameters are computed with, also where the optimizer's own
    weights could hold more.
    """
    computed, dtype = DTYPES[opening.precision.param], weight_dtype(opening.precision)
    units = [Unit() for _ in range(1 + max(param.unit for param in opening.params))]
    for param in opening.params:
        value = initial[param.name].reshape(param.shape).to(computed).to(dtype)
        units[param.unit].register_parameter(module_name(param.name), nn.Parameter(value.clone()))
    return Model(units, nested=opening.options.get("wrapping") == "nested")


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


def shard(model: Model, mesh: DeviceMesh, opening: Opening) -> None:
    """Apply `fully_shard` to what is reduced together, and set how gradients are divided."""
    offload: OffloadPolicy = OffloadPolicy()
    if opening.options.get("offload_policy") == "cpu":
        offload = CPUOffloadPolicy(pin_memory=False)
    policy: dict[str, Any] = {
        "mesh": mesh,
        "mp_policy": mixed_precision(opening.precision),
        "offload_policy": offload,
        **reshard_after_forward(opening),
    }
    inner_first = sorted(range(model.units), key=lambda index: model.numbers[index], reverse=True)
    modules: list[nn.Module] = [model.unit(index) for index in inner_first]
    if opening.options.get("wrapping") == "root":
        modules = []
    for module in [*modules, model]:
        fully_shard(module, **policy)
    for module in modules or [model]:
        divide_once(cast(FSDPModule, module), opening)


def reshard_after_forward(opening: Opening) -> dict[str, bool | int]:
    """Return the argument of `fully_shard`; by default none, and PyTorch spares the root."""
    way = opening.options.get("reshard_after_forward", "auto")
    half = opening.shard // 2 if opening.shard in (4, 6, 8) else True
    values = {"true": True, "false": False, "half": half}
    return {"reshard_after_forward": values[way]} if way in values else {}


def divide_once(module: FSDPModule, opening: Opening) -> None:
    """Make the mean over the global batch one division by the number of microbatches.

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
        return
    module.set_force_sum_reduction_for_comms(True)
    if opening.shard == 1 and opening.options.get("division") != "factor":
        module.set_gradient_divide_factor(1.0)
        module.set_all_reduce_hook(divider(float(opening.microbatches)))
    else:
        module.set_gradient_divide_factor(float(opening.microbatches))


def divider(divisor: float) -> Callable[[torch.Tensor], None]:
    """Return a hook that divides a reduced gradient in place."""

    def divide(reduced: torch.Tensor) -> None:
        reduced.div_(divisor)

    return divide
