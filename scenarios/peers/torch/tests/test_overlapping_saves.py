"""Saves that go on while the training does: what they hold, when they are whole, how they fail.

Must catch: a copy that is made too late, a load or a save that does not wait, an error of the
thread that nobody hears of, a save on the training's process group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peer import Launcher, Tensors, World, different

OVERLAPPING = {"async_save": "overlapping"}
Opened = Callable[..., World]


@pytest.fixture(scope="module")
def launchers() -> Iterator[dict[str, Launcher]]:
    """Return launchers by their engine, which live as long as these tests."""
    running: dict[str, Launcher] = {}
    yield running
    for launcher in running.values():
        launcher.close()


@pytest.fixture
def opened(launchers: dict[str, Launcher], tmp_path: Path) -> Opened:
    """Return a maker of open worlds whose engine is a class of tests.late_saves."""

    def make(engine: str = "Late", **fields: Any) -> World:
        if engine not in launchers:
            launchers[engine] = Launcher("--engine", f"tests.late_saves:{engine}")
        if not launchers[engine].hello["capabilities"]["save"]:
            pytest.skip("numpy is not installed")
        fields = {"options": OVERLAPPING, **fields}
        return World(launchers[engine], tmp_path, shard=3, **fields).open()

    return make


def save_and_train(world: World, directory: Path) -> Tensors:
    """Save, and train on while that goes on; return what was saved."""
    world.train(2)
    before = world.whole()
    reply = world.launcher.must("save", directory=str(directory))
    assert reply["unfinished"] is True
    assert reply["files"] == []
    world.train(3)
    return before


@pytest.mark.parametrize(
    ("state_dict", "implementation"),
    [("helpers", "fused"), ("plain", "single"), ("flat", "foreach")],
)
def test_a_save_holds_the_values_of_its_call(
    opened: Opened, tmp_path: Path, state_dict: str, implementation: str
) -> None:
    chosen = {**OVERLAPPING, "state_dict": state_dict, "implementation": implementation}
    one = opened(options=chosen, loss_scale="dynamic")
    ranks, _ = one.state()
    before = save_and_train(one, tmp_path / "a")
    one.launcher.must("set", groups=[{"name": "no_decay", "lr": 0.5}], loss_scale=8.0)
    assert not (tmp_path / "a" / ".metadata").exists()
    files = one.launcher.must("finish")["files"]
    assert files == [".metadata", *(f"__{rank}_0.distcp" for rank in range(3))]
    one.launcher.must("load", directory=str(tmp_path / "a"))
    assert different(before, one.whole()) == []
    loaded, _ = one.state()
    assert loaded[0]["groups"] == ranks[0]["groups"]
    assert [shard["steps"] for shard in loaded[0]["shards"]] == [2] * 4
    assert loaded[0]["scale"]["growth_tracker"] == 2


def test_a_save_that_keeps_references_holds_later_values(opened: Opened, tmp_path: Path) -> None:
    one = opened("Refers")
    before = save_and_train(one, tmp_path / "a")
    one.launcher.must("load", directory=str(tmp_path / "a"))
    assert "a.weight" in different(before, one.whole())


@pytest.mark.parametrize("ways_around", [{}, {"saves": "new_directory", "files": "checked"}])
def test_a_load_a_save_and_an_open_wait(
    opened: Opened, tmp_path: Path, ways_around: dict[str, str]
) -> None:
    one = opened(options={**OVERLAPPING, **ways_around})
    before = save_and_train(one, tmp_path / "a")
    one.launcher.must("load", directory=str(tmp_path / "a"))
    assert different(before, one.whole()) == []
    one.launcher.must("save", directory=str(tmp_path / "a"))
    one.train()
    later = one.whole()
    one.launcher.must("save", directory=str(tmp_path / "a"))
    one.train()
    one.open(initial_seed=9)
    one.launcher.must("load", directory=str(tmp_path / "a"))
    assert different(later, one.whole()) == []


def test_a_save_that_fails_is_told_to_who_waits(opened: Opened, tmp_path: Path) -> None:
    one = opened("Fails")
    directory = str(tmp_path / "a")
    for waiting in ("finish", "close"):
        one.launcher.must("save", directory=directory)
        one.train()
        reply = one.launcher.ask(waiting)
        assert reply["outcome"] == "error"
        assert "no room" in str(reply["ranks"])
        one.open()
    one.launcher.must("save", directory=directory)
    assert one.launcher.ask("open", **one.request())["outcome"] == "error"
    one.open()


def test_a_save_that_is_to_crash_is_over_when_it_is_answered(
    opened: Opened, tmp_path: Path
) -> None:
    one = opened()
    crash = {"rank": 1, "operation": 0}
    reply = one.launcher.ask("save", directory=str(tmp_path / "a"), crash=crash)
    assert reply["ranks"][1]["outcome"] == "died"
    one.open()
    crash["operation"] = 1000
    reply = one.launcher.must("save", directory=str(tmp_path / "a"), crash=crash)
    assert "unfinished" not in reply
    assert (tmp_path / "a" / ".metadata").exists()


def test_there_may_be_nothing_to_wait_for(opened: Opened, tmp_path: Path) -> None:
    one = opened("Plain", options={})
    assert "unfinished" not in one.launcher.must("save", directory=str(tmp_path / "a"))
    assert ".metadata" in one.launcher.must("finish")["files"]
