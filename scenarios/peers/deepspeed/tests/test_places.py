"""Where elements lie in flat tensors: places agree with each other, and with a whole tensor."""

from __future__ import annotations

import pytest
import torch

from adamant_deepspeed.net import WIDEST, CorrectedOutside, WholeVectors
from adamant_deepspeed.places import Place


@pytest.mark.parametrize(
    ("place", "ranks", "size"),
    [
        (Place(0, 3, 7, None), 3, 4),  # ZeRO 1 and 2: begins and ends within parts
        (Place(0, 0, 12, None), 3, 4),
        (Place(0, 9, 2, None), 3, 4),  # one rank has all of it
        (Place(0, 2, 5, 2), 3, 6),  # ZeRO 3: the last rank's share is half padding
        (Place(0, 0, 4, 2), 3, 2),  # and here all of it
    ],
)
def test_owner_local_and_whole_agree(place: Place, ranks: int, size: int) -> None:
    parts = torch.full((ranks, size), -1)
    for index in range(place.count):
        rank, position = place.owner(index, size)
        parts[rank, position] = index
        own = place.local(rank, size)
        assert own.start <= position < own.stop
    assert place.whole(parts).tolist() == list(range(place.count))


def test_a_rank_without_elements_has_an_empty_part() -> None:
    assert Place(0, 9, 2, None).local(0, 4) == slice(4, 4)


class Recorder:
    """A compiled step that writes down what it is told."""

    def adam_update(self, *arguments: object) -> tuple[object, ...]:
        """Return the arguments."""
        return arguments


@pytest.mark.parametrize("decoupled", [True, False])
def test_corrections_are_made_outside_in_double(decoupled: bool) -> None:
    step = CorrectedOutside(Recorder(), decoupled)
    lr, eps, decay = 1e-3, 1e-8, 0.01
    said = step.adam_update(7, 2, lr, 0.9, 0.999, eps, decay, True)
    first, second = 1 - 0.9**2, (1 - 0.999**2) ** 0.5
    assert said[2] == pytest.approx(lr * second / first, rel=1e-15)
    assert said[5] == pytest.approx(eps * second, rel=1e-15)
    assert said[2] * said[6] == pytest.approx(
        lr * decay if decoupled else lr * second / first * decay, rel=1e-15
    )
    assert said[7] is False


class Adder:
    """A compiled step that adds the gradient to the weights, and notes how long they are."""

    def __init__(self) -> None:
        self.length = 0

    def adam_update(self, *arguments: torch.Tensor) -> None:
        """Add."""
        weights, gradients = arguments[8], arguments[9]
        self.length = weights.numel()
        weights += gradients


@pytest.mark.parametrize("size", [1, 15, 16, 17])
def test_vectors_are_filled_and_copied_back(size: int) -> None:
    step, weights = Adder(), torch.zeros(size)
    rest = [torch.ones(size), torch.zeros(size), torch.zeros(size)]
    WholeVectors(step).adam_update(*[0] * 8, weights, *rest)
    assert weights.tolist() == [1.0] * size
    assert step.length % WIDEST == 0
    assert step.length >= size
