"""Pieces of ranks become whole tensors, bit by bit, or an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist

from adamant_megatron.view import Piece, put_together, rows_of
from adamant_torch.protocol import EngineError


@pytest.fixture
def alone() -> Iterator[dist.ProcessGroup]:
    """Return a group of this process alone."""
    store = torch._C._distributed_c10d.HashStore()
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    assert dist.group.WORLD is not None
    yield dist.group.WORLD
    dist.destroy_process_group()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_bits_are_kept(alone: dist.ProcessGroup, dtype: torch.dtype) -> None:
    values = torch.tensor([-0.0, float("nan"), float("-inf"), 1.5], dtype=dtype)
    (whole,) = put_together([Piece("w", (2, 2), dtype, 0, values)], alone)
    integers = {2: torch.int16, 4: torch.int32}[dtype.itemsize]
    assert torch.equal(whole.reshape(-1).view(integers), values.view(integers))


def test_an_element_that_nobody_owns_is_an_error(alone: dist.ProcessGroup) -> None:
    piece = Piece("w", (3,), torch.float32, 1, torch.ones(2))
    with pytest.raises(EngineError, match="w: 0 ranks own element 0"):
        put_together([piece], alone)


def test_rows_are_those_of_the_layout() -> None:
    boxes = [rows_of((5, 3), index, 4) for index in range(4)]
    assert [box.shape[0] for box in boxes] == [2, 2, 1, 0]
    assert [box.offsets[0] for box in boxes] == [0, 2, 4, 5]
