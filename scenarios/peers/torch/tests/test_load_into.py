"""What a load finds: a new world, one that has stepped, or gradients without a step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from adamant_torch import Engine
from adamant_torch.driving import Driver
from tests.peer import Launcher, World, different

Maker = Callable[..., World]
START = {"w": torch.linspace(-1, 1, 12).reshape(4, 3), "nothing": torch.empty(0, 3)}


@pytest.fixture(autouse=True)
def _needs_numpy(launcher: Launcher) -> None:
    if not launcher.hello["capabilities"]["save"]:
        pytest.skip("numpy is not installed")


class Looking(Engine):
    """Says what it found instead of loading anything."""

    def load(self, directory: str) -> list[str]:
        """Return what it found for what it did not load."""
        steps = self.steps("w") if self.optimizer.state else "no"
        untouched = torch.equal(self.tensors("w", whole=True)[""], START["w"])
        gradient = "a" if self.has_gradient("w") else "no"
        return [f"{steps} steps, {gradient} gradient, {'first' if untouched else 'other'} weights"]


@pytest.mark.parametrize(
    ("into", "old", "found"),
    [
        ("new", "kept", "no steps, no gradient, first weights"),
        ("stepped", "kept", "1 steps, no gradient, other weights"),
        ("gradients", "kept", "no steps, a gradient, first weights"),
        ("gradients", "dropped", "no steps, no gradient, first weights"),
    ],
)
def test_a_load_finds_what_the_option_says(tmp_path: Path, into: str, old: str, found: str) -> None:
    options = {"load_into": into, "old_gradients": old}
    with Driver(Looking, tmp_path) as driver:
        for loss_scale in ("none", "dynamic"):
            driver.open(START, shard=2, options=options)
            driver.must("set", loss_scale=loss_scale)
            reply = driver.must("load", directory=str(tmp_path))
            assert reply["not_carried"] == [found]


def test_a_load_into_a_world_that_trains_finds_it_as_it_is(tmp_path: Path) -> None:
    gradient = {"w": torch.ones(4, 3)}
    with Driver(Looking, tmp_path) as driver:
        driver.open(START, shard=2, options={"load_into": "stepped"})
        for _ in range(2):
            driver.backward([gradient] * 2, without=("nothing",))
            driver.must("step")
        found = driver.must("load", directory=str(tmp_path))["not_carried"]
    assert found == ["2 steps, a gradient, other weights"]


@pytest.mark.parametrize("state_dict", ["helpers", "plain", "flat"])
@pytest.mark.parametrize("loss_scale", ["none", "dynamic"])
def test_what_was_there_is_replaced(
    world: Maker, tmp_path: Path, state_dict: str, loss_scale: str
) -> None:
    options = {"state_dict": state_dict, "load_into": "stepped"}
    saved = world(options=options, loss_scale=loss_scale).open()
    saved.train(2)
    saved.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    before, ranks = saved.whole(), saved.state()[0]
    other = world(shard=3, options=options, loss_scale=loss_scale).open(initial_seed=9)
    other.launcher.must("load", directory=str(tmp_path / "checkpoint"))
    assert different(before, other.whole()) == []
    loaded = other.state()[0]
    assert loaded[0]["scale"]["growth_tracker"] == ranks[0]["scale"]["growth_tracker"]
    assert [shard["steps"] for shard in loaded[0]["shards"]] == [2, 2, 2, 2]


@pytest.mark.parametrize(("old", "steps"), [("kept", 0), ("dropped", 1)])
def test_gradients_drop_moments_unless_they_are_dropped_first(
    world: Maker, tmp_path: Path, old: str, steps: int
) -> None:
    options = {"template": "step", "load_into": "gradients", "old_gradients": old}
    saved = world(options=options).open()
    saved.train()
    saved.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    other = world(shard=3, options=options).open(initial_seed=9)
    other.launcher.must("load", directory=str(tmp_path / "checkpoint"))
    assert [shard["steps"] for shard in other.state()[0][0]["shards"]] == [steps] * 4
