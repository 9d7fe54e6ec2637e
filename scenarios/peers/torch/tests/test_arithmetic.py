"""Which formulas the oracle is asked to follow, and that PyTorch follows them too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from adamant_torch import arithmetic
from adamant_torch.shards import Shard
from tests.peer import FP32, World

Maker = Callable[..., World]
LANES = arithmetic.LANES.get(arithmetic.instruction_set())

needs_lanes = pytest.mark.skipif(
    LANES is None, reason=f"{arithmetic.instruction_set()} has no fused multiply-add"
)


def said(one: World) -> Any:
    return one.launcher.must("open", **one.request())["arithmetic"]


def rows(count: int) -> list[dict[str, Any]]:
    assert LANES is not None
    return [{"name": "p", "shape": [count, LANES // 2], "group": 0, "unit": 0}]


@needs_lanes
@pytest.mark.parametrize(
    ("shard", "count", "answer"),
    [
        (1, 2, "torch"),
        (1, 3, "interval"),
        (2, 4, "torch"),
        (2, 2, "interval"),
        (3, 4, "torch"),  # and nothing on the last rank
        (2, 7, "interval"),  # the last rank's shard is not whole
        (2, 6, "interval"),
    ],
)
def test_a_fused_step_is_judged_by_bits_where_each_shard_is_whole_vectors(
    world: Maker, shard: int, count: int, answer: str
) -> None:
    assert said(world(shard=shard, params=rows(count), options={"implementation": "fused"})) == (
        answer
    )


@needs_lanes
@pytest.mark.parametrize("implementation", ["single", "foreach"])
def test_the_others_are_judged_by_bits_in_any_shape_and_in_fp32_alone(
    world: Maker, implementation: str
) -> None:
    options = {"implementation": implementation}
    narrow = {**FP32, "param": "bf16", "grad": "bf16", "exp_avg": "bf16", "exp_avg_sq": "bf16"}
    assert said(world(options=options)) == "torch"
    assert said(world(options=options, precision=narrow)) == "interval"


def test_an_engine_without_implementations_is_held_to_an_interval(world: Maker) -> None:
    assert said(world()) == "interval"


def test_whole_vectors_are_those_of_every_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "instruction_set", lambda: "AVX2")
    whole, none, rest = Shard((0, 0), (2, 4)), Shard((2, 0), (0, 4)), Shard((0,), (12,))
    assert arithmetic.whole_vectors([whole, none])
    assert not arithmetic.whole_vectors([whole, rest])
    monkeypatch.setattr(arithmetic, "instruction_set", lambda: "DEFAULT")
    assert not arithmetic.whole_vectors([whole])


@needs_lanes
@pytest.mark.parametrize("mode", [torch.optim.Adam, torch.optim.AdamW])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.25, 0.5), (0.0, 0.0)])
@pytest.mark.parametrize("vectors", [1, 3, 1000])
def test_fused_moments_of_whole_vectors_have_the_bits_of_a_single_step(
    mode: type[torch.optim.Adam], betas: tuple[float, float], vectors: int
) -> None:
    assert LANES is not None
    states = []
    for fused in (False, True):
        generator = torch.Generator().manual_seed(vectors)
        start = torch.randn(vectors * LANES, generator=generator)
        weight = torch.nn.Parameter(start.clone())
        chosen: dict[str, bool] = {"fused": fused, "foreach": False}
        optimizer = mode([weight], lr=0.01, betas=betas, weight_decay=0.1, **chosen)
        for _ in range(3):
            gradient = torch.randn(vectors * LANES, generator=generator)
            with torch.no_grad():
                weight.copy_(start)  # whose root may differ between the two
            exponents = torch.randint(-40, 40, gradient.shape, generator=generator)
            weight.grad = gradient * 2.0**exponents
            optimizer.step()
        states.append(optimizer.state[weight])
    for key in ("exp_avg", "exp_avg_sq"):
        assert torch.equal(states[0][key], states[1][key])
