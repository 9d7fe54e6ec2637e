"""Number types of few bits, scaled states and the five recipes, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from adamant_numpy.formats import (
    Array,
    e2m1,
    e4m3,
    e8m0_not_below,
    of_e2m1,
    of_e4m3,
    of_e8m0,
    upper_half,
)
from adamant_numpy.recipes import RECIPES, quantise, takes
from adamant_numpy.scaled import kept, scale_of
from adamant_numpy.tensors import decoded, encoded, parts_of_quantised, quantised_of
from adamant_numpy.zero1 import Group, Parameter, Settings, Types, World

NAN, INF = float("nan"), float("inf")


def array(*values: float) -> Array:
    """Of one dimension."""
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0.0, 0x00),
        (-0.0, 0x80),
        (2.0**-9, 0x01),
        (2.0**-10, 0x00),  # a tie goes to the even one
        (3 * 2.0**-10, 0x02),
        (1.0, 0x38),
        (1.0625, 0x38),
        (-1.1875, 0xBA),
        (448.0, 0x7E),
        (464.0, 0x7E),
        (465.0, 0x7E),  # beyond: the largest
        (-INF, 0xFE),
        (NAN, 0x7F),
    ],
)
def test_e4m3_rounds_to_nearest_even_and_saturates(value: float, code: int) -> None:
    """Subnormals among them."""
    assert e4m3(array(value)).tolist() == [code]


def test_e4m3_of_states_has_no_largest_number_for_what_is_beyond() -> None:
    """It is NaN, but up to the tie above 448."""
    assert e4m3(array(464.0, 465.0, INF), saturates=False).tolist() == [0x7E, 0x7F, 0x7F]


def test_codes_are_worth_what_they_say() -> None:
    """Every code of E4M3 and E2M1 is rounded to itself."""
    codes = np.delete(np.arange(256, dtype=np.uint8), [0x7F, 0xFF])
    assert (e4m3(of_e4m3(codes)) == codes).all()
    fours = np.arange(16, dtype=np.uint8)
    assert (e2m1(of_e2m1(fours)) == fours).all()
    assert e2m1(array(0.25, 0.75, 2.5, 5.0, 7.0, NAN)).tolist() == [0, 2, 4, 6, 7, 7]


def test_e8m0_rounds_up_to_a_power_of_two() -> None:
    """From 2^-127 to 2^127."""
    values = array(0.0, 2.0**-149, 1.0, 1.0000001, 3.0e38, INF)
    assert e8m0_not_below(values).tolist() == [0, 0, 127, 128, 254, 254]
    assert of_e8m0(np.array([0, 254], np.uint8)).tolist() == [2.0**-127, 2.0**127]


def test_remainders_leave_ties_away_from_zero() -> None:
    """To nearest even they would go down."""
    tie = np.array([0x3F808000, 0x3F807FFF], np.uint32).view(np.float32)
    assert upper_half(tie).view(np.uint32).tolist() == [0x3F810000, 0x3F800000]


def test_a_scale_is_of_the_largest_finite_number() -> None:
    """At least 2^-126, and 1 where there is none."""
    assert scale_of([array(1.0), array(-896.0, INF, NAN)], "fp8") == 2
    assert scale_of([array(65504.0)], "fp16") == 2
    assert scale_of([array(1e-40)], "fp8") == np.float32(2.0**-126)
    assert scale_of([array(0.0, INF)], "fp8") == scale_of([array()], "fp16") == 1


def test_states_are_kept_once_rounded() -> None:
    """Read is raw times scale."""
    scaled = kept(array(2.0, -896.0, INF), np.float32(2), "fp8")
    assert scaled.raw.tolist() == [0x38, 0xFE, 0x7F]
    assert scaled.values()[:2].tolist() == [2.0, -896.0]
    assert kept(array(3.0, INF), np.float32(2), "fp16").values().tolist() == [3.0, INF]


@pytest.mark.parametrize(
    ("recipe", "shape", "fits"),
    [
        ("fp8_current", (3, 5), True),
        ("fp8_delayed", (7,), False),
        ("fp8_current", (0, 5), False),
        ("mxfp8", (2, 16, 32), True),
        ("mxfp8", (16, 32), False),
        ("nvfp4", (16, 48), True),
        ("fp8_block", (128, 64), False),
        ("bf16", (3, 5), False),
    ],
)
def test_a_recipe_takes_matrices_of_whole_blocks(
    recipe: str, shape: tuple[int, ...], fits: bool
) -> None:
    """Rows are all dimensions but the last."""
    assert takes(recipe, shape) is fits


def test_each_recipe_has_its_scales() -> None:
    """Of a tensor whose largest number is 7, but for one block of zeros and a 3 in others."""
    values = np.full((128, 128), 3, np.float32)
    values[0, :32] = 0
    values[1, 0] = 7
    by = {recipe: quantise(values, recipe) for recipe in RECIPES}
    assert by["fp8_current"].scale.tolist() == [np.float32(1) / np.float32(64)]
    assert by["fp8_block"].scale.tolist() == [[1 / 64]]
    assert by["mxfp8"].scale[0, 0] == 0
    assert by["mxfp8"].scale[1, 0] == 127 - 6
    assert by["mxfp8"].scale[1, 1] == 127 - 7
    assert by["fp8_delayed"].scale.tolist() == [1]
    assert by["fp8_delayed"].delayed.history[-2:].tolist() == [0, 7]
    assert by["fp8_delayed"].delayed.next_scale == 64
    assert by["nvfp4"].amax == 7
    assert by["nvfp4"].scale[0, 0] == 0x7E
    again = quantise(values / np.float32(7), "fp8_delayed", by["fp8_delayed"])
    assert again.scale.tolist() == [1 / 64]
    assert again.delayed.next_scale == 64
    for quantised in by.values():
        assert np.allclose(quantised.values(), values, rtol=0.25, atol=2.0**-20)


@pytest.mark.parametrize("recipe", RECIPES)
def test_files_have_all_of_it(recipe: str) -> None:
    """What is put together from two ranks' rows is what it was."""
    values = np.linspace(-5, 9, 128 * 256).reshape(256, 128).astype(np.float32)
    whole = quantise(values, recipe)
    files = [
        decoded(encoded({"w" + part: at for part, at in parts_of_quantised(whole, rows).items()}))
        for rows in (slice(0, 96), slice(96, 256))
    ]
    parts = {key[1:]: at for key, at in files[0].items()}
    for key in ("/raw", "/scale") if recipe == "mxfp8" else ("/raw",):
        parts[key] = np.concatenate([file["w" + key] for file in files])
    again = quantised_of(recipe, parts)
    assert (again.codes == whole.codes).all()
    assert again.values().tobytes() == whole.values().tobytes()
    assert again.delayed.history.tobytes() == whole.delayed.history.tobytes()


@pytest.mark.parametrize("shard", [1, 2, 3])
@pytest.mark.parametrize("recipe", RECIPES)
def test_codes_do_not_depend_on_the_world(recipe: str, shard: int) -> None:
    """Nor do states whose scale is of the whole tensor."""
    ends = []
    for ranks in (1, shard):
        types = Types(recipe, "fp32", "fp8", "fp16")
        s = Settings(ranks, 1, ranks, "adamw", types, "fp32", None, None)
        ramp = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
        group = Group("", 0.5, (0.5, 0.75), 2.0**-20, 0.25, True)
        world = World(s, [Parameter("w", (128, 128), 0)], [group], {"w": ramp})
        for _ in range(2):
            world.backward([{"w": ramp}] * ranks, [])
            world.step()
        first = world.ranks[0]
        kinds = [world.whole(first, kind, "w").tobytes() for kind in ("exp_avg", "exp_avg_sq")]
        ends.append((first.weights["w"].tobytes(), first.quantised["w"].codes.tobytes(), kinds))
    assert ends[0] == ends[1]
