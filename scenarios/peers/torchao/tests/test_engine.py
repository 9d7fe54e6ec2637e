"""torchao under adamant's scenarios: right where it is right, and each planted fault is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import adamant_pytest as adamant
from adamant_pytest.plans import engine_argument
from adamant_pytest.program import Program
from adamant_torchao import AsShippedEngine, CompiledEngine, TorchaoEngine
from tests import wrong

HERE = Path(__file__).parent
KNOWN = HERE.parent / "adamant_torchao" / "known"
STEPS = HERE / "scenarios" / "worlds_and_checkpoints.yaml"
PATIENCE = 120  # seconds: a first shape imports and compiles much


@adamant.scenarios("scenarios", engine=TorchaoEngine, peer_timeout=PATIENCE)
def test_scenarios() -> None: ...


@adamant.scenarios("compiled", engine=CompiledEngine, peer_timeout=2 * PATIENCE)
def test_the_compiled_step_is_as_right() -> None: ...


@adamant.fuzz(engine=TorchaoEngine, cases=60, seed=3, peer_timeout=PATIENCE)
def test_search() -> None: ...


def laws(request: pytest.FixtureRequest, engine: type[Any], scenario: Path) -> set[str]:
    """Return the laws that an engine breaks in a scenario."""
    program = Program.find(request.config)
    arguments = ["--engine", engine_argument(engine), "--peer-timeout", str(PATIENCE)]
    answer = program.call("run", str(scenario), *arguments)
    assert answer.results, answer.complaints
    return {each["law"] for each in answer.results[0]["violations"]}


@pytest.mark.parametrize(
    ("engine", "law"),
    [
        (wrong.NoBiasCorrectionOnRankOne, "values.interval"),
        (wrong.StaleStepAfterLoad, "checkpoint.roundtrip"),
        (wrong.RatesDoNotFollow, "values.bitwise"),
    ],
)
def test_a_planted_fault_is_found(
    request: pytest.FixtureRequest, engine: type[Any], law: str
) -> None:
    assert law in laws(request, engine, STEPS)


@pytest.mark.parametrize(
    ("engine", "scenario", "law"),
    [
        (TorchaoEngine, "states_do_not_reshard.yaml", "checkpoint.roundtrip"),
        (TorchaoEngine, "bf16_weights_do_not_step.yaml", "error.clean"),
        (AsShippedEngine, "as_shipped/bias_correction_in_fp32.yaml", "values.interval"),
    ],
)
def test_each_known_defect_shows(
    request: pytest.FixtureRequest, engine: type[Any], scenario: str, law: str
) -> None:
    assert laws(request, engine, KNOWN / scenario) == {law}


def test_there_are_no_other_known_scenarios() -> None:
    assert len([path for path in KNOWN.rglob("*.yaml") if path.name != "known.yaml"]) == 3
