"""Faults that are put into the engine are seen, and the engine without them is silent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("ADAMANT") or shutil.which("adamant")
SCENARIO = """
adamant: 1
name: Two ranks, a checkpoint
seed: 1
world: {{shard: 2}}
params:
  - {{name: a, shape: [10, 9]}}
  - {{name: b, shape: [70]}}
precision: {{param: bf16, main: fp32}}
program: [{{train: 2}}{more}]
"""
LOAD = ", {save: s}, {load: s}, {train: 1}"


def run(engine: str, more: str, folder: Path) -> str:
    """Run the scenario on an engine of the tests, and return what the program says."""
    assert PROGRAM is not None
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.format(more=more))
    command = f"exec:{sys.executable} -m adamant_torch --engine {engine}"
    ended = subprocess.run(
        [PROGRAM, "run", "--peer-timeout", "120", "--engine", command, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        check=False,
    )
    return f"status {ended.returncode}\n{ended.stdout}{ended.stderr}"


needs_program = pytest.mark.skipif(PROGRAM is None, reason="ADAMANT names no program")


@needs_program
@pytest.mark.parametrize(
    ("fault", "more", "law"),
    [
        ("NoCorrectionOnRankOne", "", "values.bitwise"),
        ("ForgetsSteps", LOAD, "checkpoint.roundtrip"),
        ("NoGather", "", "values.bitwise"),
        ("NotWaitedFor", "", "values.bitwise"),
    ],
)
def test_a_fault_is_seen(fault: str, more: str, law: str, tmp_path: Path) -> None:
    said = run(f"tests.faulty:{fault}", more, tmp_path)
    assert "status 1" in said, said
    assert law in said


@needs_program
@pytest.mark.parametrize("engine", ["adamant_megatron:Engine", "adamant_megatron:Hybrid"])
def test_the_engine_without_a_fault_is_silent(engine: str, tmp_path: Path) -> None:
    said = run(engine, LOAD, tmp_path)
    assert "status 0" in said, said
