"""Rows that ranks hold of a parameter, put together, and the rows that a rank shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist

from adamant_torch.protocol import EngineError
from adamant_torch.shards import Shard


@dataclass(frozen=True)
class Part:
    """Elements of a tensor from `begin` on, flat."""

    begin: int
    values: torch.Tensor


def shown(shape: Sequence[int], rank: int, ranks: int) -> Shard:
    """Return the rows of a parameter that a rank shows, as FSDP2 would cut it."""
    full = -(-shape[0] // ranks)
    begin, end = min(shape[0], rank * full), min(shape[0], (rank + 1) * full)
    return Shard(offsets=(begin, *(0 for _ in shape[1:])), shape=(end - begin, *shape[1:]))


def put_together(
    parts: dict[str, Part], shapes: dict[str, tuple[int, ...]], group: dist.ProcessGroup
) -> dict[str, torch.Tensor]:
    """Return whole tensors from what the ranks of a group hold of each. A collective.

    Each element is held by exactly one rank, else this is an error.
    """
    gathered: list[dict[str, Part]] = [{} for _ in range(group.size())]
    dist.all_gather_object(gathered, parts, group=group)
    result = {}
    for name, shape in shapes.items():
        own = [held[name] for held in gathered if name in held and held[name].values.numel()]
        own.sort(key=lambda part: part.begin)
        ends = [0, *(part.begin + part.values.numel() for part in own)]
        begins = [*(part.begin for part in own), torch.Size(shape).numel()]
        if ends != begins:
            raise EngineError(f"{name}: parts begin at {begins} where others end at {ends}")
        result[name] = torch.cat([part.values.reshape(-1) for part in own]).reshape(shape)
    return result
