"""torchao's quantised states as numbers: what reading a state gives, on a rank and as a whole.

A state is quantised where a rank's part of the parameter has 4096 elements or more and whole
blocks; otherwise it is a plain tensor. So ranks of one parameter may differ.
"""

from __future__ import annotations

import torch
from torch.distributed.tensor import DTensor
from torchao.optim.subclass_4bit import OptimState4bit
from torchao.optim.subclass_8bit import OptimState8bit
from torchao.optim.subclass_fp8 import OptimStateFp8

QUANTISED = (OptimState4bit, OptimState8bit, OptimStateFp8)


def stored(state: torch.Tensor) -> torch.Tensor:
    """Return the part of a state that lies on this rank, as torchao keeps it."""
    return state.to_local() if isinstance(state, DTensor) else state


def is_quantised(state: torch.Tensor) -> bool:
    """Return whether this rank keeps codes and scales for it."""
    return isinstance(stored(state), QUANTISED)


def values(state: torch.Tensor) -> torch.Tensor:
    """Return what reading a state gives; plain ones as they are, sharded ones sharded alike."""
    local = stored(state)
    if not isinstance(local, QUANTISED):
        return state
    read: torch.Tensor = local.dequantize()
    if not isinstance(state, DTensor):
        return read
    return DTensor.from_local(
        read,
        state.device_mesh,
        state.placements,
        run_check=False,
        shape=state.shape,
        stride=state.stride(),
    )


@torch.no_grad()
def forget(state: torch.Tensor) -> None:
    """Make a state unlike any that was saved: NaN in each element, or in each scale."""
    local = stored(state)
    plain = local.scale if isinstance(local, QUANTISED) else local
    plain.fill_(float("nan"))
