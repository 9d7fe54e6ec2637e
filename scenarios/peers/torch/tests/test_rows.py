"""What ranks hold is put together bit by bit, or an error, and shown by rows.

Must catch: a bit that is lost, an element that nobody holds or two do, rows of another cut.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist

from adamant_torch.protocol import EngineError
from adamant_torch.rows import Piece, PutTogether, put_together, rows_of
from tests.peer import different


@pytest.fixture
def alone_in_a_group() -> Iterator[dist.ProcessGroup]:
    """Return a group of one rank."""
    store = torch._C._distributed_c10d.HashStore()
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    group = dist.group.WORLD
    assert group is not None
    yield group
    dist.destroy_process_group()


def piece(start: int, values: torch.Tensor | None, dtype: torch.dtype = torch.float32) -> Piece:
    return Piece("w", (2, 3), dtype, start, values)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_bits_are_put_together_whatever_they_mean(
    alone_in_a_group: dist.ProcessGroup, dtype: torch.dtype
) -> None:
    values = torch.tensor([float("nan"), float("-inf"), -0.0, 0.0, 1.5, -2.5], dtype=dtype)
    found, none = put_together([piece(0, values, dtype), piece(0, None, dtype)], alone_in_a_group)
    assert none is None
    assert found is not None
    assert different({"w": found}, {"w": values.reshape(2, 3)}) == []


def test_an_element_that_nobody_holds_or_of_another_type_is_an_error(
    alone_in_a_group: dist.ProcessGroup,
) -> None:
    with pytest.raises(EngineError, match="w: 0 ranks hold element 0"):
        put_together([piece(1, torch.ones(5))], alone_in_a_group)
    with pytest.raises(EngineError, match=r"w: its type is torch.bfloat16"):
        put_together([piece(0, torch.ones(6, dtype=torch.bfloat16))], alone_in_a_group)


def test_an_element_that_two_hold_is_an_error(
    alone_in_a_group: dist.ProcessGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dist, "all_reduce", lambda bits, group: bits.add_(bits.clone()))
    with pytest.raises(EngineError, match="w: 2 ranks hold element 0"):
        put_together([piece(0, torch.ones(6))], alone_in_a_group)


def test_rows_are_those_of_fsdp2() -> None:
    rows = [rows_of((5, 3), index, 4) for index in range(4)]
    assert [(box.offsets, box.shape) for box in rows] == [
        ((0, 0), (2, 3)),
        ((2, 0), (2, 3)),
        ((4, 0), (1, 3)),
        ((5, 0), (0, 3)),
    ]


@pytest.mark.parametrize(
    ("shape", "ranks", "begins"),
    [((8, 2), 2, [0, 4]), ((2, 5), 4, [0, 1, 2, 2]), ((1,), 3, [0, 1, 1])],
)
def test_each_row_is_shown_once(shape: tuple[int, ...], ranks: int, begins: list[int]) -> None:
    rows = [rows_of(shape, index, ranks) for index in range(ranks)]
    assert [box.offsets[0] for box in rows] == begins
    assert sum(box.shape[0] for box in rows) == shape[0]
    assert all(box.shape[1:] == shape[1:] for box in rows)


class Nobodys(PutTogether):
    """An engine of which no rank holds anything."""

    def wholes(self) -> dict[str, torch.Tensor | None]:
        """Return that there is nothing."""
        return {"w": None}


def test_what_has_to_be_there_is() -> None:
    with pytest.raises(EngineError, match="w: 0 ranks hold element 0"):
        object.__new__(Nobodys).whole("w")
