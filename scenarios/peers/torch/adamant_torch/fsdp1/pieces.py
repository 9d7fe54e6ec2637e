"""What all ranks hold of tensors, put together bit by bit.

FSDP1 cuts a unit's parameters end to end into equal runs of elements, so what a rank has of a
parameter begins and ends anywhere in a row. The protocol's shards are rows. So the runs of all
ranks are put together by FSDP1's own map, and each rank shows of the whole the rows that FSDP2
would give it. An element that no rank holds, or more than one, is an error of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist

from adamant_torch.protocol import EngineError
from adamant_torch.shards import Shard

INTEGERS = {2: torch.int16, 4: torch.int32}


@dataclass(frozen=True)
class Piece:
    """What this rank holds of one tensor: elements from `start` on, in `values`.

    None where this rank has no such tensor, which tells of no element whether it is there.
    """

    label: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    start: int
    values: torch.Tensor | None


def rows_of(shape: tuple[int, ...], index: int, shard: int) -> Shard:
    """Return the rows that rank `index` of a shard group shows, as FSDP2 would cut them."""
    full = -(-shape[0] // shard)
    begin, end = min(shape[0], index * full), min(shape[0], (index + 1) * full)
    return Shard(offsets=(begin,) + (0,) * (len(shape) - 1), shape=(end - begin, *shape[1:]))


def put_together(pieces: list[Piece], group: dist.ProcessGroup) -> list[torch.Tensor | None]:
    """Return the whole tensors, and None for those of which no rank has any element.

    A collective: all ranks of `group` have the same list of labels, shapes and types. What has no
    element counts as not there.
    """
    numels = [torch.Size(piece.shape).numel() for piece in pieces]
    bits = torch.zeros(2, sum(numels), dtype=torch.int32)  # and by how many each is held
    for piece, row in zip(pieces, torch.split(bits, numels, dim=1), strict=True):
        if piece.values is not None:
            own = slice(piece.start, piece.start + piece.values.numel())
            row[0, own] = as_integers(piece)
            row[1, own] = 1
    dist.all_reduce(bits, group=group)  # every other rank brings zeros, so this is no arithmetic
    rows = torch.split(bits, numels, dim=1)
    return [_whole(piece, row) for piece, row in zip(pieces, rows, strict=True)]


def _whole(piece: Piece, row: torch.Tensor) -> torch.Tensor | None:
    if not bool(row[1].any()):
        return None
    wrong = (row[1] != 1).nonzero()
    if wrong.numel() > 0:
        at = int(wrong[0])
        raise EngineError(f"{piece.label}: {int(row[1, at])} ranks hold element {at}")
    integers = row[0].to(INTEGERS[piece.dtype.itemsize])
    return integers.contiguous().view(piece.dtype).reshape(piece.shape)


def as_integers(piece: Piece) -> torch.Tensor:
    """Return the bits of a piece's values."""
    values = piece.values
    assert values is not None
    if values.dtype != piece.dtype:
        raise EngineError(f"{piece.label}: its type is {values.dtype} and not {piece.dtype}")
    flat = values.detach().reshape(-1).contiguous()
    return flat.view(INTEGERS[piece.dtype.itemsize]).to(torch.int32)
