"""What all ranks hold of a tensor, put together bit by bit.

Megatron cuts buffers and not tensors: what a rank owns of a tensor begins and ends anywhere in a
row. The protocol speaks of rows. So the ranges of all ranks are put together, and each rank shows
of the whole the rows that the layout `fsdp2` gives it. An element that no rank owns, or more than
one, is an error of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist

from adamant_torch.protocol import EngineError
from adamant_torch.shards import Shard

INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32}


@dataclass(frozen=True)
class Piece:
    """What this rank holds of one tensor: elements from `start` on, or none."""

    label: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    start: int
    values: torch.Tensor | None


def rows_of(shape: tuple[int, ...], index: int, shard: int) -> Shard:
    """Return the rows of rank `index` by the rule of the layout `fsdp2`."""
    full = -(-shape[0] // shard)
    begin, end = min(shape[0], index * full), min(shape[0], (index + 1) * full)
    return Shard(offsets=(begin,) + (0,) * (len(shape) - 1), shape=(end - begin, *shape[1:]))


def put_together(pieces: list[Piece], group: dist.ProcessGroup) -> list[torch.Tensor]:
    """Return the whole tensors. A collective: all ranks of `group` have the same list of them."""
    numels = [torch.Size(piece.shape).numel() for piece in pieces]
    bits = torch.zeros(2, sum(numels), dtype=torch.int32)  # and by how many each is owned
    for piece, row in zip(pieces, torch.split(bits, numels, dim=1), strict=True):
        if piece.values is not None:
            own = slice(piece.start, piece.start + piece.values.numel())
            row[0, own] = as_integers(piece.values)
            row[1, own] = 1
    dist.all_reduce(bits, group=group)  # every other rank brings zeros, so this is no arithmetic
    result = []
    for piece, row in zip(pieces, torch.split(bits, numels, dim=1), strict=True):
        wrong = (row[1] != 1).nonzero()
        if wrong.numel() > 0:
            at = int(wrong[0])
            raise EngineError(f"{piece.label}: {int(row[1, at])} ranks own element {at}")
        result.append(as_floats(row[0], piece.dtype).reshape(piece.shape))
    return result


def as_integers(values: torch.Tensor) -> torch.Tensor:
    """Return the bits of floating-point numbers."""
    plain = values.detach().as_subclass(torch.Tensor).reshape(-1).contiguous()
    return plain.view(INTEGERS[plain.element_size()]).to(torch.int32)


def as_floats(bits: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the floating-point numbers of these bits."""
    return bits.to(INTEGERS[dtype.itemsize]).contiguous().view(dtype)
