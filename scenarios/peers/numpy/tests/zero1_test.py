"""The optimizer by itself: its bits, on any world."""

from __future__ import annotations

import numpy as np
import pytest

from adamant_numpy.formats import Array, rounded
from adamant_numpy.zero1 import Group, Parameter, Settings, Types, World, rows_of

GROUP = Group("", 1e-3, (0.9, 0.999), 1e-8, 0.01, True)

# Parameter, first and second moment after each step from 1.0 with the gradients 0.5, -0.25, 0.001:
# the same bits that oracle/adam/adam_step_test.cpp has from a C program.
GRADIENTS = (0.5, -0.25, 0.001)
GOLDEN = {
    "adamw": [
        (0x3F7FBDCF, 0x3D4CCCD0, 0x39831200),
        (0x3F7FABB3, 0x3CA3D70C, 0x39A3B4F2),
        (0x3F7F9D7A, 0x3C944675, 0x39A38B2B),
    ],
    "adam": [
        (0x3F7FBE77, 0x3D50E563, 0x39885D94),
        (0x3F7FAB83, 0x3CB3658B, 0x39A66E27),
        (0x3F7F9C0C, 0x3CAA7527, 0x39A653C0),
    ],
}


def settings(shard: int = 1, replicate: int = 1, mode: str = "adamw") -> Settings:
    """One microbatch per rank, everything in fp32."""
    return Settings(shard, replicate, shard * replicate, mode, Types(), "fp32", None, None)


def world_of(s: Settings, rows: int, value: float) -> World:
    """One parameter `w` of one column."""
    initial = {"w": np.full((rows, 1), value, np.float32)}
    return World(s, [Parameter("w", (rows, 1), 0)], [GROUP], initial)


def bits(values: Array) -> list[int]:
    """Every number's bits."""
    return [int(b) for b in values.view(np.uint32).ravel()]


@pytest.mark.parametrize("mode", GOLDEN)
def test_a_step_has_the_golden_bits(mode: str) -> None:
    """37 rows, so that vectors and what is left of them both see the numbers."""
    world = world_of(settings(mode=mode), 37, 1.0)
    rank = world.ranks[0]
    for gradient, golden in zip(GRADIENTS, GOLDEN[mode], strict=True):
        world.zero_grad(set_to_none=True)
        world.backward([{"w": np.full((37, 1), gradient, np.float32)}], [])
        assert world.step()
        for values, expected in zip(
            (rank.weights, rank.exp_avg, rank.exp_avg_sq), golden, strict=True
        ):
            assert set(bits(values["w"])) == {expected}


@pytest.mark.parametrize("shard", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("replicate", [1, 2])
def test_any_world_has_the_same_bits(shard: int, replicate: int) -> None:
    """Sums that are exact, so that their order does not matter."""
    ends = []
    for s in (settings(), settings(shard, replicate)):
        world = world_of(s, 6, 1.0)
        ramp = np.arange(6, dtype=np.float32).reshape(6, 1)
        world.backward([{"w": ramp}] * len(world.ranks), [])
        world.step()
        ends.append(bits(world.ranks[-1].weights["w"]))
    assert ends[0] == ends[1]


def test_rows_are_cut_by_ceiling_division() -> None:
    """Trailing ranks own fewer rows, or none."""
    assert [rows_of(5, 4, r) for r in range(4)] == [
        slice(0, 2),
        slice(2, 4),
        slice(4, 5),
        slice(5, 5),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0 + 2.0**-8, 1.0),  # a tie goes to the even one
        (1.0 + 3 * 2.0**-8, 1.0 + 2.0**-6),
        (3.4e38, float("inf")),
        (-0.0, -0.0),
        (2.0**-149, 0.0),
    ],
)
def test_bf16_rounds_to_nearest_even(value: float, expected: float) -> None:
    """Also past the largest number, and to a zero that keeps its sign."""
    found = rounded(np.array([value], np.float32), "bf16")
    assert bits(found) == bits(np.array([expected], np.float32))


def test_bf16_keeps_a_nan() -> None:
    """Adding to its bits would make an infinity, or a zero."""
    nans = np.array([0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001], np.uint32).view(np.float32)
    assert np.isnan(rounded(nans, "bf16")).all()


def test_the_norm_has_no_order() -> None:
    """A sum of squares that loses the small ones in fp32, and in double where they come last."""
    world = world_of(settings(2), 4, 1.0)
    world.settings.clip = 0.5
    column = np.array([[2.0**60], [1], [1], [0]], np.float32)
    world.backward([{"w": 2 * column}, {"w": 0 * column}], [])
    assert world.clip() == 2.0**60
    assert world.coefficient == np.float32(0.5) / np.float32(2.0**60)


def test_an_overflow_is_skipped_under_a_loss_scale_alone() -> None:
    """Without one, it flows."""
    for loss_scale, applied in ((None, True), (8.0, False)):
        world = world_of(settings(), 1, 1.0)
        world.settings.loss_scale = loss_scale
        world.backward([{"w": np.full((1, 1), np.inf, np.float32)}], [])
        with np.errstate(invalid="ignore"):
            assert world.step() is applied
        assert world.ranks[0].steps == int(applied)


def test_a_loss_scale_that_is_a_power_of_two_changes_no_bit() -> None:
    """The gradient is multiplied by it, and the step divides by it."""
    ends = []
    for loss_scale in (None, 1024.0):
        world = world_of(settings(), 3, 1.0)
        world.settings.loss_scale = loss_scale
        world.backward([{"w": np.full((3, 1), 0.375, np.float32)}], [])
        assert (
            bits(world.ranks[0].gradient["w"])[0]
            == bits(np.array([0.375 * (loss_scale or 1)], np.float32))[0]
        )
        world.step()
        ends.append(bits(world.ranks[0].weights["w"]))
    assert ends[0] == ends[1]


def test_a_loss_scale_comes_before_the_mean() -> None:
    """Half of the smallest number would be nothing."""
    world = world_of(settings(2), 2, 1.0)
    world.settings.loss_scale = 2.0
    least = np.full((2, 1), 2.0**-149, np.float32)
    world.backward([{"w": least}, {"w": 0 * least}], [])
    assert bits(world.ranks[0].gradient["w"]) == [1]


def test_a_zero_gradient_decays_and_none_does_not() -> None:
    """zero_grad both ways."""
    for set_to_none in (False, True):
        world = world_of(settings(), 1, 1.0)
        world.zero_grad(set_to_none)
        world.step()
        assert (bits(world.ranks[0].weights["w"]) == [0x3F800000]) is set_to_none
        assert world.ranks[0].steps == 1
