"""Laws of quantised states that no scenario can ask for: a step rounds each moment to a code.

What is expected is worked out in fp64 from what was there before, by nothing of torchao's but its
list of the numbers that codes stand for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torchao.optim import subclass_4bit, subclass_8bit

import faults
from adamant_torch.asking import Tensors
from adamant_torch.driving import Driver
from adamant_torchao import StochasticEngine, TorchaoEngine

SHAPES = {"w": (68, 256), "small": (5, 3)}  # each of four ranks has 4,096 elements of w or more
BLOCKS = {"8bit": 256, "4bit": 128, "fp8": 256}
KINDS = sorted(BLOCKS)
BETA1, BETA2, EPS, LR, DECAY = 0.9, 0.999, 1e-8, 1e-3, 0.01
NEARLY = 1 + 1e-5  # fp32 decides between two codes, fp64 here


def drawn(seed: int, shapes: dict[str, Any] = SHAPES) -> Tensors:
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def numbers(kind: str, moment: str) -> torch.Tensor:
    """Return what codes stand for where the scale is one, in order."""
    if kind == "fp8":
        every = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).double()
        return torch.tensor(sorted({*every[every.isfinite()].tolist()}), dtype=torch.float64) / 448
    module: Any = subclass_8bit if kind == "8bit" else subclass_4bit
    signed = moment == "exp_avg"
    listed = module.get_qmap_signed() if signed else module.get_qmap_unsigned()
    return torch.tensor(listed, dtype=torch.float64)


def nearest(kind: str, moment: str, wanted: torch.Tensor) -> torch.Tensor:
    """Return the distance from each number to the nearest that its block can hold."""
    blocks = wanted.reshape(-1, BLOCKS[kind])
    codes = numbers(kind, moment) * blocks.abs().amax(1, keepdim=True)
    gaps = (codes.unsqueeze(2) - blocks.unsqueeze(1)).abs()
    return gaps.amin(1).reshape(wanted.shape)


def broken(before: Tensors, gradients: Tensors, after: Tensors, step: int, kind: str) -> list[str]:
    """Return what an AdamW step did that it should not have."""
    found = []
    for name, gradient in gradients.items():
        zeros = torch.zeros_like(gradient)
        g, p = gradient.double(), before[name].double()
        m = BETA1 * before.get(f"{name}/exp_avg", zeros).double() + (1 - BETA1) * g
        v = BETA2 * before.get(f"{name}/exp_avg_sq", zeros).double() + (1 - BETA2) * g * g
        for moment, wanted in (("exp_avg", m), ("exp_avg_sq", v)):
            actual = after[f"{name}/{moment}"].double()
            room = wanted.abs() * 1e-6
            if name == "w":
                parts = wanted.chunk(2)  # each rank has blocks of its own
                room = torch.cat([nearest(kind, moment, part) for part in parts]) * NEARLY
                scale = wanted.reshape(-1, BLOCKS[kind]).abs().amax(1, keepdim=True)
                room = room + (scale * 1e-6).expand(-1, BLOCKS[kind]).reshape(wanted.shape)
            if ((actual - wanted).abs() > room).any():
                found.append(f"{name}/{moment}")
        root = (v / (1 - BETA2**step)).sqrt() + EPS
        update = LR * m / (1 - BETA1**step) / root
        wanted = p * (1 - LR * DECAY) - update
        if ((after[name].double() - wanted).abs() > 1e-6 * (p.abs() + update.abs())).any():
            found.append(name)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_rounds_each_moment_to_the_nearest_code(kind: str, tmp_path: Path) -> None:
    with Driver(TorchaoEngine, tmp_path) as driver:
        driver.open(drawn(0), shard=2, options={"states": kind})
        before = driver.whole()
        for step in (1, 2, 3):
            gradients = drawn(step)
            driver.train(gradients)
            after = driver.whole()
            assert broken(before, gradients, after, step, kind) == []
            assert any("w/exp" in name for name in broken(before, drawn(9), after, step, kind))
            before = after


def test_a_scale_of_another_block_is_found(tmp_path: Path) -> None:
    with Driver(faults.DropsAScale, tmp_path) as driver:
        driver.open(drawn(0), shard=2, options={"states": "8bit"})
        before = driver.whole()
        driver.train(drawn(1))
        assert broken(before, drawn(1), driver.whole(), 1, "8bit") == ["w/exp_avg"]


def different(first: Tensors, second: Tensors) -> list[str]:
    assert first.keys() == second.keys()
    return [name for name in first if not torch.equal(first[name], second[name])]


def resumed(
    engine: type[TorchaoEngine], kind: str, folder: Path, shard: int, replicate: int = 1
) -> list[str]:
    """Return what differs between training on and doing so after a load in another world."""
    options = {"states": kind, "saves": "new_directory", "files": "checked"}
    with Driver(engine, folder) as driver:
        driver.open(drawn(0), shard=2, options=options)
        driver.train(drawn(1))
        driver.train(drawn(2))
        driver.must("save", directory=str(folder / "saved"))
        saved = driver.whole()
        driver.train(drawn(3))
        trained = driver.whole()
        driver.open(drawn(7), shard=shard, replicate=replicate, options=options)
        driver.must("load", directory=str(folder / "saved"))
        found = different(saved, driver.whole())
        driver.train(drawn(3))
        return found + different(trained, driver.whole())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("world", [(2, 1), (2, 2), (1, 1), (4, 1)])
def test_training_goes_on_where_it_was_saved(
    kind: str, world: tuple[int, int], tmp_path: Path
) -> None:
    shard, replicate = world
    assert resumed(TorchaoEngine, kind, tmp_path, shard=shard, replicate=replicate) == []


def test_a_code_beside_the_saved_one_is_found(tmp_path: Path) -> None:
    found = resumed(faults.LoadsOneCodeBeside, "8bit", tmp_path, shard=2)
    assert found[0] == "w/exp_avg_sq"


@pytest.mark.parametrize("kind", KINDS)
def test_replicas_and_ranks_see_the_same(kind: str, tmp_path: Path) -> None:
    with Driver(TorchaoEngine, tmp_path) as driver:
        driver.open(drawn(0), shard=2, replicate=2, options={"states": kind})
        driver.train(drawn(1))
        driver.train(drawn(2))
        first, *others = driver.seen()
        for other in others:
            whole = [name for name in different(first, other) if name.startswith("whole/")]
            assert whole == []
        assert different(first, others[1]) == []  # of the same rows


BF16 = dict.fromkeys(("param", "grad", "exp_avg", "exp_avg_sq"), "bf16") | {"main": "none"}


def test_a_weight_rounded_at_random_is_one_of_its_neighbours(tmp_path: Path) -> None:
    start = {"w": torch.full((40, 50), 1.0)}
    gradient = {"w": torch.full((40, 50), 0.5)}
    with Driver(StochasticEngine, tmp_path) as driver:
        driver.open(start, shard=2, types=BF16)
        driver.train(gradient)
        after = driver.whole()["w"].double()
    wanted = (1 - LR * DECAY) - LR * 0.5 / (0.5 + EPS)
    below, above = 1 - 2**-8, 1.0
    assert {*after.flatten().tolist()} == {below, above}
    ups = int((after == above).sum())
    share = (wanted - below) / (above - below)
    deviation = (2000 * share * (1 - share)) ** 0.5
    assert abs(ups - 2000 * share) < 6 * deviation  # false in two of a billion runs
