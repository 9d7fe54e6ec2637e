"""Several optimizers of one model: their steps, their verdicts, and one checkpoint for all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from adamant_torch.driving import Driver
from adamant_torch.several import Several, parts
from tests.peer import PARAMS, Launcher, World, different
from tests.watched import Watched, lines

Maker = Callable[..., World]
APART = {"optimizers": "per_group"}
BY_NAMES = {"state_dict": "plain", "optimizer_keys": "names"}


def pair() -> Several:
    """Return two optimizers, of one group with two parameters and of two groups."""
    weights = [torch.nn.Parameter(torch.full((2,), float(n))) for n in range(4)]
    first = torch.optim.AdamW(weights[:2], foreach=False)
    last: list[Any] = [{"params": [weights[2]]}, {"params": [weights[3]], "lr": 0.5}]
    return Several([first, torch.optim.AdamW(last, foreach=False)])


def stepped() -> Several:
    optimizer = pair()
    for number, group in enumerate(optimizer.param_groups):
        for parameter in group["params"]:
            parameter.grad = torch.full_like(parameter, 1.0 + number)
    optimizer.step()
    return optimizer


def test_each_group_has_an_optimizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watched, "log", tmp_path / "log", raising=False)
    with Driver(Watched, tmp_path) as driver:
        for options in ({}, APART):
            World(cast(Launcher, driver), tmp_path, options=options).open()
    each = [line["each"] for line in lines(tmp_path / "log", "optimizers")]
    assert each == [[["", "no_decay"]], [[""], ["no_decay"]]]


def test_the_state_dict_of_several_is_that_of_one_with_all_groups() -> None:
    several = stepped()
    one = torch.optim.AdamW(
        [{"params": group["params"], "lr": group["lr"]} for group in several.param_groups],
        foreach=False,
    )
    for state in several.state.values():
        state["step"].fill_(1)
    for key, value in several.state.items():
        one.state[key] = value
    expected, found = one.state_dict(), several.state_dict()
    assert found["state"].keys() == expected["state"].keys() == {0, 1, 2, 3}
    assert found["param_groups"] == expected["param_groups"]


def test_each_of_several_loads_its_part() -> None:
    saved, other = stepped(), pair()
    other.load_state_dict(saved.state_dict())
    assert [len(each.state) for each in parts(other)] == [2, 2]
    for mine, theirs in zip(other.state.values(), saved.state.values(), strict=True):
        assert torch.equal(mine["exp_avg"], theirs["exp_avg"])
    assert [group["lr"] for group in other.param_groups] == [1e-3, 1e-3, 0.5]
    other.zero_grad(set_to_none=True)
    assert all(p.grad is None for group in other.param_groups for p in group["params"])


@pytest.mark.parametrize("chosen", [{}, {"state_dict": "flat"}, BY_NAMES], ids=str)
@pytest.mark.parametrize(("before", "after"), [(APART, APART), ({}, APART), (APART, {})], ids=str)
def test_a_checkpoint_of_several_comes_back_on_another_world(
    world: Maker,
    tmp_path: Path,
    before: dict[str, str],
    after: dict[str, str],
    chosen: dict[str, str],
) -> None:
    one = world(shard=2, options={**before, **chosen}).open()
    one.launcher.must("set", groups=[{"name": "no_decay", "lr": 0.5}])
    one.train(2)
    saved = one.whole()
    one.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    other = world(shard=3, options={**after, **chosen}).open(initial_seed=9)
    other.launcher.must("load", directory=str(tmp_path / "checkpoint"))
    assert different(saved, other.whole()) == []
    ranks, _ = other.state()
    assert [group["lr"] for group in ranks[0]["groups"]] == [1e-3, 0.5]
    assert [shard["steps"] for shard in ranks[0]["shards"]] == [2] * len(PARAMS)


@pytest.mark.parametrize("implementation", ["single", "foreach", "fused"])
@pytest.mark.parametrize("scaler", ["dtensor", "sharded", "local"])
@pytest.mark.parametrize("way", ["apart", "together"])
def test_an_overflow_in_one_group_skips_its_optimizer_or_all(
    world: Maker, way: str, scaler: str, implementation: str
) -> None:
    if (way, scaler, implementation) == ("together", "sharded", "fused"):
        pytest.skip("ShardedGradScaler and fused steps do not go together after an unscale_")
    chosen = {**APART, "verdicts": way, "scaler": scaler, "implementation": implementation}
    one = world(loss_scale="dynamic", options=chosen).open()
    one.train()
    overflow: dict[str, Any] = {"rank": 0, "name": "c", "index": 0, "value": "inf"}
    one.backward(2, overflow=overflow)
    assert [rank["applied"] for rank in one.launcher.must("step")["ranks"]] == [False, False]
    ranks, _ = one.state()
    moved = [shard["name"] for shard in ranks[0]["shards"] if shard["steps"] == 2]
    assert moved == (["a.bias"] if way == "apart" else [])
    for rank in ranks:
        assert rank["scale"]["loss_scale"] == 2.0**15
        assert rank["scale"]["skipped"]


@pytest.mark.parametrize("way", ["apart", "together"])
@pytest.mark.parametrize("clip", [None, 0.5])
def test_several_step_under_a_loss_scale_as_one_does(
    world: Maker, way: str, clip: float | None
) -> None:
    states = []
    for options in ({}, {**APART, "verdicts": way}):
        one = world(loss_scale=8.0, clip=clip, options=options).open()
        one.train(2)
        one.train(1, without=["a.bias"])
        one.train(1, without=["a.weight", "b", "c"])
        states.append(one.whole())
    assert different(states[0], states[1]) == []
