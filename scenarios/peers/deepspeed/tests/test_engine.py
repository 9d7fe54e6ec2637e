"""Scenarios find nothing in DeepSpeed, with the ways around; planted faults are caught."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import adamant_pytest as adamant
from adamant_deepspeed import surroundings
from adamant_pytest.plans import environment
from adapters import PATIENCE, broken, laws, run

HERE = Path(__file__).parent
SCENARIOS = sorted((HERE / "scenarios").glob("*.yaml"))
FAULTY = HERE / "scenarios" / "steps_and_worlds.yaml"
ENGINE = f"exec:{environment()}exec {sys.executable} -m adamant_deepspeed"
KNOWN = HERE.parent / "adamant_deepspeed" / "known"
CPU_ADAM = "optimizer: cpu_adam"

needs_step = pytest.mark.skipif(
    not surroundings.library().exists(),
    reason="CPU Adam is not compiled: python -m adamant_deepspeed.build",
)
STAGES = ["zero: '1'", "zero: '2'", "zero: '3'", "zero: '3', persist: 'false'"]


@adamant.fuzz(engine=ENGINE, cases=8, seed=5, peer_timeout=PATIENCE)
def test_a_search_finds_nothing_new() -> None: ...


@pytest.mark.parametrize("options", [*STAGES, pytest.param(CPU_ADAM, marks=needs_step)])
def test_scenarios_pass_with_each_stage(request: pytest.FixtureRequest, options: str) -> None:
    assert broken(run(request, ENGINE, dict.fromkeys(SCENARIOS, options))) == set()


FAULTS: Mapping[str, str] = {
    "NoBiasCorrectionOnRankOne": "values.interval",
    "StaleStepAfterLoad": "checkpoint.roundtrip",
    "ModelNotRefreshed": "values.bitwise",
    "PartAsWhole": "checkpoint.roundtrip",
    "NotReduced": "values.bitwise",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_caught(request: pytest.FixtureRequest, fault: str) -> None:
    faulty = f"{ENGINE} --engine {HERE / 'faults.py'}:{fault}"
    assert FAULTS[fault] in laws(request, faulty, FAULTY)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_step)])
def test_known_scenarios_show_their_defect(request: pytest.FixtureRequest, compiled: bool) -> None:
    chosen = [
        path
        for path in sorted(KNOWN.glob("*.yaml"))
        if path.name != "known.yaml" and (CPU_ADAM in path.read_text("utf-8")) == compiled
    ]
    shown = run(request, ENGINE, dict.fromkeys(chosen, ""))
    assert shown.status == 0, shown.out
