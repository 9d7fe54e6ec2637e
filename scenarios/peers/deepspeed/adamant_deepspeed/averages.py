"""How gradients become a mean.

DeepSpeed divides by the number of ranks, before it sums. Where a scenario's global batch has as
many microbatches as there are ranks this is its mean, but for rounding. Else, and with `average:
sum`, DeepSpeed sums alone, and the adapter divides once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist

from adamant_torch.requests import Opening


def divisor(opening: Opening) -> float | None:
    """Return what the adapter has to divide sums by, or None where DeepSpeed averages."""
    averages = opening.options["average"] == "deepspeed"
    if averages and opening.microbatches == opening.ranks:
        return None
    return float(opening.microbatches)


@contextmanager
def summing(zero: Any) -> Iterator[None]:
    """Let ZeRO 3 sum, by whichever of its two ways it reduces."""
    with scattered_sums(), sums_for_all(zero):
        yield


@contextmanager
def sums_for_all(zero: Any) -> Iterator[None]:
    """Let ZeRO 3 divide by one where it reduces for all ranks, without `reduce_scatter`."""
    name = "_DeepSpeedZeroOptimizer_Stage3__avg_scatter_contiguous_grads"
    original = getattr(zero, name, None)
    if original is None:  # not ZeRO 3
        yield
        return

    def one(*_: Any) -> int:
        return 1

    def reduce(*arguments: Any) -> Any:
        with mock.patch.object(zero, "_gradient_averaging_world_size", one):
            return original(*arguments)

    with mock.patch.object(zero, name, reduce):
        yield


@contextmanager
def scattered_sums() -> Iterator[None]:
    """Let ZeRO 3's reduce-scatter divide by the number of ranks what was multiplied by it.

    Both in double, where neither rounds; the sum itself has the type that DeepSpeed gave it.
    """
    from deepspeed.runtime.comm import coalesced_collectives
    from deepspeed.runtime.zero import stage3

    original = stage3.reduce_scatter_coalesced
    reduce = coalesced_collectives._torch_reduce_scatter_fn

    def sums(tensors: list[torch.Tensor], group: Any = None) -> list[torch.Tensor]:
        ranks, kind = dist.get_world_size(group), tensors[0].dtype

        def narrow(addends: torch.Tensor, part: torch.Tensor, **rest: Any) -> None:
            found = torch.empty_like(part, dtype=kind)
            reduce(addends.to(kind), found, **rest)
            part.copy_(found)

        with mock.patch.object(coalesced_collectives, "_torch_reduce_scatter_fn", narrow):
            found = original([tensor.double() * ranks for tensor in tensors], group)
        return [part.to(kind) for part in found]

    with mock.patch.object(stage3, "reduce_scatter_coalesced", sums):
        yield
