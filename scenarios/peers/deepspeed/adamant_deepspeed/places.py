"""Where the elements of a parameter lie in what the ranks hold.

ZeRO keeps the parameters of a group one behind the other in flat tensors, of the same size on every
rank. With ZeRO 1 and 2 the whole group is one flat tensor that is cut into equal parts, wherever
that falls in a parameter. With ZeRO 3 each parameter is cut by itself, and a rank's flat tensor has
its part of each. Both pad with zeros, at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Place:
    """A parameter's place in the flat tensors of its group.

    `start` is where it begins: in the flat tensor of all ranks, or, where `share` says how many
    elements each rank holds of it, in that of each rank.
    """

    group: int
    start: int
    count: int
    share: int | None

    def whole(self, parts: torch.Tensor) -> torch.Tensor:
        """Return all elements from the ranks' flat tensors, a row a rank."""
        if self.share is None:
            return parts.reshape(-1)[self.start : self.start + self.count]
        return parts[:, self.start : self.start + self.share].reshape(-1)[: self.count]

    def owner(self, index: int, size: int) -> tuple[int, int]:
        """Return which rank holds an element, and where in a flat tensor of `size`."""
        if self.share is None:
            return divmod(self.start + index, size)
        rank, position = divmod(index, self.share)
        return rank, self.start + position

    def local(self, rank: int, size: int) -> slice:
        """Return the part of a rank's flat tensor of `size` that belongs to this parameter."""
        if self.share is not None:
            return slice(self.start, self.start + self.share)
        begin, end = self.start - rank * size, self.start + self.count - rank * size
        return slice(min(max(begin, 0), size), min(max(end, 0), size))


def gather(flat: torch.Tensor) -> torch.Tensor:
    """Return the flat tensors of all ranks, a row a rank. A collective."""
    rows = [torch.empty_like(flat) for _ in range(dist.get_world_size())]
    dist.all_gather(rows, flat.detach().contiguous())
    return torch.stack(rows)
