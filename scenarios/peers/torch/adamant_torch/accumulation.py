"""How the gradients of two passes add up before the step: reduced, or before they are reduced.

A request has one sum of microbatches for each rank, and does not say whether another follows. So
what is to add up before a reduction is one request in two passes, each with a part of the gradient
that is exact whatever the gradient is: each second parameter, or each second element. Half of it is
missing if a pass is lost.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn
from torch.distributed.fsdp import FSDPModule

from adamant_torch.protocol import EngineError

Gradients = Mapping[str, torch.Tensor]


def passes(gradients: Gradients, way: str) -> list[Gradients]:
    """Return the gradients of each pass by parameter; `way` is a value of the option `passes`."""
    if way == "elements":
        return [{name: half(x, which) for name, x in gradients.items()} for which in (0, 1)]
    odd = set(list(gradients)[1::2])
    parts = [
        {name: x for name, x in gradients.items() if (name in odd) == which}
        for which in (False, True)
    ]
    return [part for part in parts if part]


def half(x: torch.Tensor, which: int) -> torch.Tensor:
    """Return each second element, and zeros of their sign for the others: such add no bit."""
    kept = (torch.arange(x.numel()) % 2 == which).reshape(x.shape)
    return torch.where(kept, x, torch.copysign(torch.zeros_like(x), x))


def reduce(model: nn.Module, way: str, reduces: bool) -> None:
    """Have the next backward reduce gradients, or leave them unsharded, or without replicas' sum.

    `way` is a value of the option `accumulation`.
    """
    if not isinstance(model, FSDPModule):
        raise EngineError(f"accumulation: {way}: the model is no FSDPModule")
    if way == "unsharded":
        model.set_requires_gradient_sync(reduces)
    elif way == "sharded":
        model.set_requires_all_reduce(reduces)
