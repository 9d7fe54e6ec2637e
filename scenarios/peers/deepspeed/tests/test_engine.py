"""Scenarios find nothing in DeepSpeed, with the ways around; planted faults are caught."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import adamant_pytest as adamant
from adamant_deepspeed import surroundings

pytest.importorskip("deepspeed", reason="the package deepspeed is not installed")

HERE = Path(__file__).parent
SCENARIOS = sorted((HERE / "scenarios").glob("*.yaml"))
FAULTY = HERE / "scenarios" / "steps_and_worlds.yaml"
REPOSITORY = HERE.parents[3]
PROGRAM = os.environ.get("ADAMANT") or shutil.which("adamant") or f"{REPOSITORY}/build/dev/adamant"
ENGINE = f"exec:{sys.executable} -m adamant_deepspeed"
KNOWN = HERE.parent / "adamant_deepspeed" / "known"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
CPU_ADAM = "optimizer: cpu_adam"

needs_program = pytest.mark.skipif(
    shutil.which(PROGRAM) is None, reason="there is no program: build it, or name it by ADAMANT"
)
needs_step = pytest.mark.skipif(
    not surroundings.library().exists(),
    reason="CPU Adam is not compiled: python -m adamant_deepspeed.build",
)
STAGES = ["zero=1", "zero=2", "zero=3", "zero=3,persist=false"]


def run(
    engine: str | None, scenarios: list[Path], options: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run scenarios in one start of an engine, or of the one that they name."""
    return subprocess.run(
        [PROGRAM, "run", "--peer-timeout", "120", *(["--engine", engine] if engine else [])]
        + [str(scenario) for scenario in scenarios],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "ADAMANT_OPTIONS": options, "PATH": PATH},
    )


def faulty(kind: str) -> str:
    """Return the name of an engine of `faults`."""
    return f"{ENGINE} --engine {HERE / 'faults.py'}:{kind}"


@adamant.fuzz(engine=ENGINE, cases=8, seed=5, peer_timeout=120)
def test_a_search_finds_nothing_new() -> None: ...


@needs_program
@pytest.mark.parametrize("options", [*STAGES, pytest.param("optimizer=cpu_adam", marks=needs_step)])
def test_scenarios_pass_with_each_stage(options: str) -> None:
    ended = run(faulty("NamesNothing"), SCENARIOS, options)
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
    ended = run(faulty(fault), [FAULTY])
    assert ended.returncode == 1, ended.stdout
    assert FAULTS[fault] in ended.stdout


@needs_program
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_step)])
def test_known_scenarios_show_their_defect(compiled: bool) -> None:
    chosen = [
        path
        for path in sorted(KNOWN.glob("*.yaml"))
        if path.name != "known.yaml" and (CPU_ADAM in path.read_text("utf-8")) == compiled
    ]
    ended = run(None, chosen)
    assert ended.returncode == 0, ended.stdout
    assert f"{len(chosen)} scenarios, all as expected" in ended.stdout
