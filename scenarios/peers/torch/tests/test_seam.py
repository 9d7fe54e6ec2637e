"""The seam: an engine of one's own, by a subclass of a few lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.peer import ROOT, Launcher, World, different

EXAMPLE = ROOT / "examples" / "sharded_adam.py"


def test_the_example_steps_as_adamw_does_and_keeps_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLE.parent))
    with Launcher("--engine", "sharded_adam:MyEngine") as launcher, Launcher() as plain:
        assert launcher.hello["engine"] == "sharded_adam"
        assert launcher.hello["capabilities"]["optimizers"] == ["adamw"]
        mine = World(launcher, tmp_path, shard=3)
        assert launcher.must("open", **mine.request())["arithmetic"] == "interval"
        mine.train(3)
        theirs = World(plain, tmp_path, shard=3).open()
        theirs.train(3)
        mine_whole, theirs_whole = mine.whole(), theirs.whole()
        for name, value in theirs_whole.items():
            torch.testing.assert_close(mine_whole[name], value, rtol=1e-5, atol=1e-8)
        if launcher.hello["capabilities"]["save"]:
            launcher.must("save", directory=str(tmp_path / "checkpoint"))
            mine.open(initial_seed=9)
            launcher.must("load", directory=str(tmp_path / "checkpoint"))
            assert different(mine_whole, mine.whole()) == []


def test_known_defects_are_those_that_an_engine_names() -> None:
    with Launcher("--engine", "tests.engines:KnowsNothing") as launcher:
        assert "known" not in launcher.hello


def test_the_seam_of_the_example_is_short() -> None:
    lines = EXAMPLE.read_text().split("class MyEngine")[1].splitlines()
    assert len(lines) <= 30


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nothing", "expected MODULE:CLASS"),
        ("tests.engines:Missing", "not a subclass"),
        ("os:path", "not a subclass"),
        ("no_such_module:X", "No module named"),
    ],
)
def test_an_engine_that_is_none_is_refused(name: str, text: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "adamant_torch", "--engine", name],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0
    assert text in ended.stderr
