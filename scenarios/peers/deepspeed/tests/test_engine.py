"""Scenarios find nothing in DeepSpeed, with the ways around; planted faults are caught."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import adamant_pytest as adamant
import pytest

HERE = Path(__file__).parent
SCENARIOS = HERE / "scenarios"
REPOSITORY = HERE.parents[3]
PROGRAM = os.environ.get("ADAMANT") or shutil.which("adamant") or f"{REPOSITORY}/build/dev/adamant"
COMMAND = f"exec:{sys.executable} -m adamant_deepspeed --engine {HERE / 'faults.py'}:"
KNOWN = sorted((HERE.parent / "adamant_deepspeed" / "known").glob("*.yaml"))
KNOWN = [path for path in KNOWN if path.name != "known.yaml"]
ALL = ["zero=1", "zero=2", "zero=3", "zero=3,persist=false", "optimizer=cpu_adam"]

needs_program = pytest.mark.skipif(
    shutil.which(PROGRAM) is None, reason="there is no program: build it, or name it by ADAMANT"
)


def run(kind: str, scenario: Path, options: str = "") -> subprocess.CompletedProcess[str]:
    """Run a scenario with an engine of `faults`."""
    return subprocess.run(
        [PROGRAM, "run", "--peer-timeout", "100", "--engine", COMMAND + kind, str(scenario)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "ADAMANT_OPTIONS": options},
    )


@adamant.fuzz(
    engine=f"exec:{sys.executable} -m adamant_deepspeed", cases=8, seed=5, peer_timeout=100
)
def test_a_search_finds_nothing_new() -> None: ...


@needs_program
@pytest.mark.parametrize("options", ALL)
@pytest.mark.parametrize("name", ["steps_and_worlds", "bf16", "fp16"])
def test_scenarios_pass_with_each_stage(name: str, options: str) -> None:
    ended = run("NamesNothing", SCENARIOS / f"{name}.yaml", options)
    assert ended.returncode == 0, ended.stdout
    assert "skipped" not in ended.stdout


FAULTS: Mapping[str, str] = {
    "NoBiasCorrection": "values.interval",
    "StaleStep": "checkpoint.roundtrip",
    "ModelNotRefreshed": "values.bitwise",
    "PartAsWhole": "checkpoint.roundtrip",
    "NotReduced": "values.bitwise",
}


@needs_program
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_caught(fault: str) -> None:
    ended = run(fault, SCENARIOS / "steps_and_worlds.yaml")
    assert ended.returncode == 1, ended.stdout
    assert FAULTS[fault] in ended.stdout


@needs_program
@pytest.mark.parametrize("path", KNOWN, ids=lambda path: path.stem)
def test_known_scenarios_show_their_defect(path: Path, tmp_path: Path) -> None:
    engine = f"exec:{sys.executable} -m adamant_deepspeed"
    copy = tmp_path / path.name
    text = path.read_text(encoding="utf-8")
    copy.write_text(text.replace("exec:python3 -m adamant_deepspeed", engine), encoding="utf-8")
    ended = subprocess.run(
        [PROGRAM, "run", "--peer-timeout", "100", str(copy)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout
