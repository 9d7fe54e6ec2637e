"""Which part of a whole tensor a rank holds, and access to elements of it by whole-tensor index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Placement
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

from adamant_torch.protocol import EngineError, Message


@dataclass(frozen=True)
class Shard:
    """A box of a tensor. Offsets of a box without elements lie at the tensor's end."""

    offsets: tuple[int, ...]
    shape: tuple[int, ...]

    def named(self, name: str) -> Message:
        """Return where the part of this parameter lies, as a reply has it."""
        return {"name": name, "offsets": list(self.offsets), "shape": list(self.shape)}


def local(tensor: torch.Tensor) -> torch.Tensor:
    """Return the part that lies on this rank, as plain memory."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return the whole tensor as this rank gathers it. A collective where it is sharded."""
    if tensor.numel() == 0:  # FSDP2 keeps fewer rows of it than its DTensor says
        return torch.empty(tensor.shape, dtype=tensor.dtype)
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def shard_of(tensor: torch.Tensor) -> Shard:
    """Return where this rank's part of `tensor` lies; a plain tensor is whole.

    Of a tensor without elements FSDP2 keeps no rows on any rank, whatever the DTensor says.
    """
    if not isinstance(tensor, DTensor):
        return Shard(offsets=(0,) * tensor.dim(), shape=tuple(tensor.shape))
    if tensor.numel() == 0:
        offsets = (tensor.shape[0], *(0 for _ in tensor.shape[1:]))
        return Shard(offsets=offsets, shape=tuple(local(tensor).shape))
    return _shard(tuple(tensor.shape), tensor.device_mesh, tensor.placements)


@cache  # it takes 0.2 ms, and every state asks for every parameter
def _shard(shape: tuple[int, ...], mesh: DeviceMesh, placements: tuple[Placement, ...]) -> Shard:
    local_shape, offsets = compute_local_shape_and_global_offset(shape, mesh, placements)
    return Shard(offsets=tuple(offsets), shape=tuple(local_shape))


@torch.no_grad()
def alike(tensor: torch.Tensor, make: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Return what `make` returns of this rank's part of a tensor, sharded as the tensor is."""
    if not isinstance(tensor, DTensor):
        return make(tensor)
    # Of a DTensor PyTorch would work out the sharding anew for each mesh, type and shape.
    return DTensor.from_local(
        make(tensor.to_local()),
        tensor.device_mesh,
        tensor.placements,
        run_check=False,
        shape=tensor.shape,
        stride=tensor.stride(),
    )


def put(parameter: torch.Tensor, index: int, value: float) -> None:
    """Set element `index` (row-major in the whole tensor) of this rank's part of the gradient."""
    if parameter.grad is None:
        raise EngineError("overflow: the parameter has no gradient")
    box = shard_of(parameter)
    place = [
        at - offset
        for at, offset in zip(coordinates(index, tuple(parameter.shape)), box.offsets, strict=True)
    ]
    if not all(0 <= at < size for at, size in zip(place, box.shape, strict=True)):
        raise EngineError(f"overflow: element {index} does not lie on this rank")
    with torch.no_grad():
        local(parameter.grad)[tuple(place)] = value


def coordinates(index: int, shape: tuple[int, ...]) -> list[int]:
    """Return the coordinates of a row-major index."""
    result: list[int] = []
    for size in reversed(shape):
        result.insert(0, index % size)
        index //= size
    return result
