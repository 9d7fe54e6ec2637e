"""Engines that cut no rows: what ranks hold is put together bit by bit, and shown by rows.

Where an engine cuts a buffer, what a rank has of a parameter begins and ends anywhere in a row. The
protocol's shards are rows. So the runs of all ranks are put together by the engine's own map, and
each rank shows of the whole the rows that FSDP2 would give it. An element that no rank holds, or
more than one, is an error of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from adamant_torch.engine import Engine
from adamant_torch.model import weight_dtype
from adamant_torch.protocol import EngineError
from adamant_torch.requests import Opening
from adamant_torch.shards import Shard

INTEGERS = {2: torch.int16, 4: torch.int32}
Tensors = dict[str, torch.Tensor]


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


class ShowsRows(Engine):
    """An engine whose ranks show rows of what they gather. Its gradients lie in buffers."""

    def __init__(self, opening: Opening, mesh: Any, rank: int) -> None:
        super().__init__(opening, mesh, rank)
        self.with_gradient: set[str] = set()  # of which the buffers' values are gradients

    def has_gradient(self, name: str) -> bool:
        """Return whether a parameter has a gradient, be it of zeros."""
        return name in self.with_gradient

    def whole_tensors(self, name: str) -> Tensors:
        """Return all that belongs to a parameter by suffix, whole. It may be a collective."""
        raise NotImplementedError

    def shards(self) -> dict[str, Shard]:
        """Return the rows that this rank shows of each parameter."""
        index, shard = self.rank % self.opening.shard, self.opening.shard
        return {p.name: rows_of(p.shape, index, shard) for p in self.opening.params}

    def tensors(self, name: str, *, whole: bool) -> Tensors:
        """Return what belongs to a parameter: rows of it, or the whole."""
        found = self.whole_tensors(name)
        if whole:
            return found
        box = self.shards()[name]
        begin, end = box.offsets[0], box.offsets[0] + box.shape[0]
        return {suffix: tensor[begin:end] for suffix, tensor in found.items()}


class PutTogether(ShowsRows):
    """An engine whose ranks hold runs of elements."""

    def __init__(self, opening: Opening, mesh: Any, rank: int) -> None:
        super().__init__(opening, mesh, rank)
        self._wholes: dict[str, torch.Tensor | None] | None = None  # since a request began
        self.counters: dict[str, int] = {}  # of each parameter, with the wholes

    def holders(self) -> dist.ProcessGroup:
        """Return the ranks that hold each element once."""
        raise NotImplementedError

    def suffixes(self, name: str) -> list[str]:
        """Return what is cut of a parameter, alike on all ranks."""
        main = ["/main"] if self.opening.precision.main != "none" else []
        gradient = ["/gradient"] if self.has_gradient(name) else []
        return [*main, *gradient, "/exp_avg", "/exp_avg_sq"]

    def run(self, name: str) -> tuple[int, Tensors]:
        """Return where this rank's run of elements begins, and what it has there by suffix.

        Nothing where it holds no element of the parameter.
        """
        raise NotImplementedError

    def held(self) -> list[Piece]:
        """Return what this rank holds; all ranks have the same list but for values.

        All of it has the type of the optimizer's own weights.
        """
        dtype, pieces = weight_dtype(self.opening.precision), []
        for param in self.opening.params:
            start, own = self.run(param.name)
            for suffix in self.suffixes(param.name):
                label = param.name + suffix
                pieces.append(Piece(label, param.shape, dtype, start, own.get(suffix)))
        return pieces

    def whole_tensors(self, name: str) -> Tensors:
        """Return the parameter as this rank computes with it, and what is cut of it, whole."""
        cut = {suffix: self.whole(name + suffix) for suffix in self.suffixes(name)}
        return {"": self.computed(name), **cut}

    def computed(self, name: str) -> torch.Tensor:
        """Return a parameter whole, as this rank computes with it."""
        return self.parameters[name].detach()

    def own_steps(self, name: str) -> int | None:
        """Return this rank's counter of a parameter, of which it may hold nothing."""
        raise NotImplementedError

    def forget_shown(self) -> None:
        """Let go of what was put together."""
        self._wholes = None

    def wholes(self) -> dict[str, torch.Tensor | None]:
        """Return what all ranks hold by label, put together once a request. A collective then."""
        if self._wholes is None:
            pieces, group = self.held(), self.holders()
            found = put_together(pieces, group)
            self._wholes = {piece.label: t for piece, t in zip(pieces, found, strict=True)}
            self._count(group)
        return self._wholes

    def whole(self, label: str) -> torch.Tensor:
        """Return one of them that has to be there."""
        found = self.wholes()[label]
        if found is None:
            raise EngineError(f"{label}: 0 ranks hold element 0")
        return found

    def steps(self, name: str) -> int:
        """Return this rank's counter, or that of the others where it holds no element."""
        self.wholes()
        return self.counters[name]

    def _count(self, group: dist.ProcessGroup) -> None:
        counted = [self.own_steps(name) for name in self.parameters]
        own = torch.tensor([-1 if steps is None else steps for steps in counted])
        most = own.clone()
        dist.all_reduce(most, op=dist.ReduceOp.MAX, group=group)
        shown = torch.where(own >= 0, own, most.clamp(min=0)).tolist()
        self.counters = dict(zip(self.parameters, shown, strict=True))


def rows_of(shape: tuple[int, ...], index: int, shard: int) -> Shard:
    """Return the rows that rank `index` of a shard group shows, as FSDP2 would cut them."""
    full = -(-shape[0] // shard)
    begin, end = min(shape[0], index * full), min(shape[0], (index + 1) * full)
    return Shard(offsets=(begin,) + (0,) * (len(shape) - 1), shape=(end - begin, *shape[1:]))


def put_together(pieces: list[Piece], group: dist.ProcessGroup) -> list[torch.Tensor | None]:
    """Return the whole tensors, and None for those of which no rank has any element.

    A collective: all ranks of `group` have the same list of labels, shapes and types.
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
    flat = values.detach().as_subclass(torch.Tensor).reshape(-1).contiguous()
    return flat.view(INTEGERS[piece.dtype.itemsize]).to(torch.int32)
