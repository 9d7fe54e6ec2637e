"""torchao's quantised states as numbers: what reading a state gives, on a rank and as a whole.

A state is quantised where a rank's part of the parameter has 4096 elements or more and whole
blocks; otherwise it is a plain tensor. So ranks of one parameter may differ.
"""

from __future__ import annotations

import torch
from torchao.optim.subclass_4bit import OptimState4bit
from torchao.optim.subclass_8bit import OptimState8bit
from torchao.optim.subclass_fp8 import OptimStateFp8

from adamant_torch.shards import alike, local

QUANTISED = (OptimState4bit, OptimState8bit, OptimStateFp8)


def values(state: torch.Tensor) -> torch.Tensor:
    """Return what reading a state gives; plain ones as they are, sharded ones sharded alike."""

    def read(own: torch.Tensor) -> torch.Tensor:
        return own.dequantize() if isinstance(own, QUANTISED) else own

    return alike(state, read)


@torch.no_grad()
def forget(state: torch.Tensor) -> None:
    """Make a state unlike any that was saved: NaN in each element, or in each scale."""
    own = local(state)
    plain = own.scale if isinstance(own, QUANTISED) else own
    plain.fill_(float("nan"))
