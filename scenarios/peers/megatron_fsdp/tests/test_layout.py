"""Megatron-FSDP's experimental layout is the contract's `bucketed`: rule L2, said again here.

Chunks are the least common multiple of all rows. Tensors that fill one are laid in order. One that
does not end at a chunk's end shares its last chunk with the next such tensor whose own excess fits
there, and with fragments, which are smaller than a chunk, larger ones first. What is left follows.
"""

from __future__ import annotations

import math
from itertools import product

import pytest
from megatron_fsdp.experimental.layout import GlobalLayout

from adamant_megatron_fsdp.model import cuts_a_row

Shape = tuple[int, ...]
Room = tuple[int, int]
WORLDS = (1, 2, 3, 5, 8)
CASES: list[list[Shape]] = [
    [(2, 6), (4, 4), (4, 4), (1, 2), (1, 6)],
    [(7,)],
    [(2, 4), (2, 3)],
    [(5, 3), (5, 2), (1, 3), (2, 2), (1, 2)],
    [(3, 2, 2), (9,), (4, 5), (1, 1)],
    [(7, 6), (11, 4), (3, 3), (1, 4), (5,), (2, 2)],
    [(1, 6), (2, 3), (1, 2), (3, 2)],
]


def row(shape: Shape) -> int:
    """Return the elements of a row."""
    return math.prod(shape[1:])


def up(value: int, step: int) -> int:
    """Return the next multiple."""
    return -(-value // step) * step


def bucketed(shapes: list[Shape], ranks: int) -> tuple[tuple[int, ...], int]:
    """Return where each tensor begins, and how long the buffer is."""
    sizes = [math.prod(shape) for shape in shapes]
    chunk = math.lcm(*(row(shape) for shape in shapes))
    place: dict[int, int] = {}
    end = 0
    large = [number for number, size in enumerate(sizes) if size >= chunk]
    small = sorted(set(range(len(sizes))) - set(large), key=lambda n: (-sizes[n], n))

    def fill(room: Room) -> None:
        at, until = room
        for number in small:
            begin = up(at, row(shapes[number]))
            if number not in place and begin + sizes[number] <= until:
                place[number], at = begin, begin + sizes[number]

    for number in large:
        if number in place:
            continue
        place[number] = end
        over = sizes[number] % chunk
        begin, end = end + sizes[number], up(end + sizes[number], chunk)
        if over == 0:
            continue
        others = (n for n in large if n > number and n not in place)
        fits = (n for n in others if 0 < sizes[n] % chunk <= chunk - over)
        until = end
        if (partner := next(fits, None)) is not None:
            until = place[partner] = end - sizes[partner] % chunk
            end = until + sizes[partner]
        fill((begin, until))
    for number in small:
        if number not in place:
            place[number] = up(end, row(shapes[number]))
            end = place[number] + sizes[number]
    return tuple(place[number] for number in range(len(sizes))), up(end, chunk * ranks)


def of_megatron(shapes: list[Shape], ranks: int) -> tuple[tuple[int, ...], int]:
    """Return the same as Megatron-FSDP has it."""
    layout = GlobalLayout.build(shapes, ranks)
    return layout.tensor_to_offset, layout.size


@pytest.mark.parametrize("ranks", WORLDS)
@pytest.mark.parametrize("shapes", CASES, ids=str)
def test_the_experimental_layout_is_bucketed(shapes: list[Shape], ranks: int) -> None:
    assert of_megatron(shapes, ranks) == bucketed(shapes, ranks)


def test_so_it_is_for_every_small_set_of_three() -> None:
    some = [(rows, size) for rows in (1, 2, 3, 5) for size in (1, 2, 3, 4, 6)]
    for shapes in product(some, repeat=3):
        assert of_megatron(list(shapes), 3) == bucketed(list(shapes), 3), shapes


def test_its_example_is_the_contracts() -> None:
    assert bucketed(CASES[0], 5) == ((0, 12, 32, 28, 48), 60)


def test_a_rule_without_rows_would_be_noticed() -> None:
    """Fragments at any element, as the layout that is not experimental has them, are another."""
    offsets, _ = of_megatron([(2, 4), (2, 3)], 2)
    assert offsets == (0, 9)
    assert cuts_a_row([(2, 4), (2, 3)], 2)
    assert not cuts_a_row([(2, 4), (2, 4)], 2)
